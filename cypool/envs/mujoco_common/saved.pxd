"""Whether a saved mjData is safe to continue with: MuJoCo takes the indices in it as they are."""
from cypool.envs.mujoco_common.libmujoco cimport mjData, mjModel

cdef extern from "cypool/envs/mujoco_common/saved.h":
    void check_saved "cypool::check_saved"(const mjModel* m, const mjData* d, const char* buffer) except +
