"""The base class of these robots."""
from libcpp.vector cimport vector

from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel
from cypool.envs.shared.mujoco.mujoco_common cimport Model
from cypool.envs.shared.lanes.mujoco_lanes cimport SimulationInLanes


# The base class of all robots of Gymnasium-Robotics: members of a subclass, and methods that it implements.

cdef class RoboticsEnv(SimulationInLanes):
    cdef mjModel* own                    # the model with a separate struct; fields that __init__ names are written
    cdef int frame_skip                  # MuJoCo's steps in one of ours
    cdef double dt                       # seconds of a step
    cdef vector[double] init_qpos, init_qvel
    cdef double init_time
    cdef bint dense                      # the reward
    cdef bint sees_sensors               # whether sensors are observed
    cdef vector[double] goal             # the one that counts now
    cdef vector[double] achieved_goal, desired_goal  # as observed; empty: there are none
    cdef vector[double] episode          # a subclass's numbers of an episode; it sets the size
    cdef mjData* scene                   # owned; shown by pictures that need more than data; NULL: data is drawn
    cdef bint has_scene

    # have to be implemented, and so has `get_obs`; as in `Env`, they run on a pool thread, without the GIL
    cdef int begin_episode(self) except -1 nogil             # sets goals and info
    cdef int step_robot(self, const void* action) except -1 nogil    # sets goals, info, reward and terminated
    # can be implemented
    cdef int arrange_scene(self) except -1 nogil             # changes `scene`, and `own`, which it leaves as it was
    cdef object check_episode(self, object values)           # an earlier tuple(self.episode), or raises

    # to be called
    cdef int reset_data(self) except -1 nogil
    cdef void set_initial(self) noexcept nogil               # time, positions and velocities
    cdef int forward(self) except -1 nogil
    cdef int simulate(self) except -1 nogil                  # for the time of a step
    cdef double element(self, const void* action, int k) noexcept nogil  # of the action, in [-1, 1]
    cdef double uniform(self, double low, double high) noexcept nogil
    cdef double normal(self, double deviation) noexcept nogil
    # of the model, by their names: numbers, or places in data
    cdef int body(self, str name) except -1
    cdef int site(self, str name) except -1
    cdef int qpos_of(self, str joint) except -1
    cdef int qvel_of(self, str joint) except -1

    # its own
    cdef int _set_up_scene(self) except -1
    cdef int _write_goal(self, const vector[double]* goal, void* out) noexcept nogil


# Returns the model of a file of the package's assets, changed as the package does it.
cpdef Model load_robot(str path)

cdef double distance(const double* a, const double* b, int n) noexcept nogil        # np.linalg.norm(a - b, axis=-1)
cdef double distance_blas(const double* a, const double* b, int n) noexcept nogil   # np.linalg.norm(a - b)
