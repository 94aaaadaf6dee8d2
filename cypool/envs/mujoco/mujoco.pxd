"""The base class of Gymnasium's robots."""
from libcpp.vector cimport vector

from cypool.envs.shared.lanes.mujoco_lanes cimport SimulationInLanes


# The base class of MuJoCo's robots: members of a subclass, and methods that it implements.

cdef class MujocoEnv(SimulationInLanes):
    cdef int frame_skip                  # MuJoCo's steps in one of ours
    cdef double dt                       # seconds of a step
    cdef vector[double] init_qpos, init_qvel
    cdef bint contact_forces             # whether cfrc_ext and similar fields are needed; set it in __init__
    cdef const void* action              # of the step under way

    # have to be implemented; as in `Env`, they run on a pool thread, without the GIL
    cdef int reset_model(self) except -1 nogil               # writes data.qpos and data.qvel, all of them
    cdef int step_model(self) except -1 nogil                # calls `simulate`; sets reward, terminated, info
    # and `get_obs`, see Simulation; not called if pictures are observed
    # can be implemented
    cdef int reset_info(self) except -1 nogil                # sets the info after a reset

    # to be called
    cdef int simulate(self) except -1 nogil                  # applies the action for the time of a step
    cdef double control_cost(self, double weight) noexcept nogil     # weight * np.sum(np.square(action))
    cdef double uniform(self, double low, double high) noexcept nogil
    cdef double normal(self) noexcept nogil
    cdef void add_uniform(self, double scale, const double* initial, double* out, Py_ssize_t n) noexcept nogil
    cdef void add_normal(self, double scale, const double* initial, double* out, Py_ssize_t n) noexcept nogil
