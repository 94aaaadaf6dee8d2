"""Pictures of an environment, as Gymnasium's `MujocoRenderer` makes them."""
from cypool.envs.mujoco_common.libmujoco cimport mjData, mjModel, mjvCamera, mjvOption
from cypool.envs.mujoco_common.model cimport Model


cdef class Camera:
    cdef readonly int width, height
    cdef Model loaded
    cdef int max_geom
    cdef bint has_lookat, has_distance   # of its own, so that the first picture does not decide them
    cdef mjvOption option
    cdef readonly bint sees_contacts     # what it shows lies in the arena
    cdef bint shadows
    cdef object renderer                 # None before the first picture
    cdef mjvCamera view
    cdef bint viewpoint_set              # there was a first picture

    cdef int set_up(self) except -1                                         # finds OpenGL, if that was not done
    cdef int set_viewpoint(self, const mjModel* model, const mjData* data) except -1 nogil    # before the first picture
    cdef void set_default(self, const mjModel* model) noexcept nogil        # the free camera is where MuJoCo puts it
    # writes uint8 (height, width, 3)
    cdef int render_into(self, const mjModel* model, mjData* data, unsigned char* out) except -1 nogil
    cdef object save(self)
    cdef object checked(self, object state)          # what save gave, or raises
    cdef int load(self, object state) except -1
    cdef void copy_from(self, Camera other) noexcept nogil                  # what save and load do


cdef dict check_camera(Model model, dict options, dict robots)     # returns the options of `describe`, or raises
