"""Where pictures of a model are drawn: OpenGL contexts with MuJoCo's data in them, lent to one thread at a time."""
from libcpp cimport bool as cbool

from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel, mjvCamera, mjvOption

cdef extern from "cypool/envs/shared/mujoco/gl_contexts.h":
    cdef cppclass GlContextPool "cypool::GlContextPool":
        GlContextPool(const mjModel* m, int width, int height, int max_geom) except +
        void draw(const mjModel* m, mjData* d, mjvCamera* camera, const mjvOption* option, cbool shadows,
                  unsigned char* out) except + nogil
        size_t count() except +
