"""The base class of the suite's tasks, and their rewards."""
from libcpp.vector cimport vector

from cypool.envs.dm_control.random_state cimport RandomState
from cypool.envs.shared.mujoco.libmujoco cimport mjModel
from cypool.envs.shared.lanes.mujoco_lanes cimport SimulationInLanes


# dm_control's `rewards.tolerance`: 1 in [low, high], and less and less outside, each with NumPy's bits.

# of a single number; the value at the distance `margin` follows the name, or is 0.1
cdef double within(double x, double low, double high) noexcept nogil                   # no margin
cdef double gaussian(double x, double low, double high, double margin) noexcept nogil
cdef double linear(double x, double low, double high, double margin, double value_at_margin) noexcept nogil
cdef double long_tail(double x, double low, double high, double margin) noexcept nogil
cdef double reciprocal(double x, double low, double high, double margin) noexcept nogil
# of an element of an array, whose square differs from a number's
cdef double gaussian_of_element(double x, double margin) noexcept nogil                # around 0
cdef double small_control(const double* ctrl, Py_ssize_t n) noexcept nogil             # mean of quadratic ones, 0 at 1


# The base class of all tasks of the suite: members of a subclass, and methods that it implements.

cdef class ControlTask(SimulationInLanes):
    cdef mjModel* own                    # the same with a separate struct; only fields that __init__ names are written
    cdef RandomState random              # the task's stream
    cdef vector[double] episode          # a subclass's numbers of an episode; it sets the size
    cdef object _mt19937                 # from which it draws
    cdef int n_sub_steps                 # MuJoCo's steps in one of ours
    cdef bint legacy_step
    cdef int action_repeat               # dm_control's steps in one of ours
    cdef int last_repeat                 # in the one that reaches the time limit
    cdef int limit                       # the number of that one; 0: there is no time limit
    cdef vector[size_t] part_sizes       # of the observation, without a picture

    # have to be implemented, and so has `get_obs`; as in `Env`, they run on a pool thread, without the GIL
    cdef int begin_episode(self) except -1 nogil             # draws where an episode begins
    cdef double get_reward(self) except? -1 nogil
    # can be implemented
    cdef int prepare_model(self) except -1 nogil             # writes the episode's fields, before its reset
    cdef bint is_terminated(self) noexcept nogil

    # to be called
    cdef int forward(self) except -1 nogil                   # without actuation, as resets do
    cdef int advance(self, int steps) except -1 nogil
    cdef int randomize_joints(self) except -1 nogil          # dm_control's randomize_limited_and_rotational_joints
    cdef void draw_unit(self, double* out, int n) noexcept nogil     # a random direction in n dimensions
    # whether a position without contacts is found; False before the first attempt; raises after too many
    cdef int is_free(self, int* attempts) except -1 nogil
    # of the model, by their names: numbers, or places in data
    cdef int body(self, str name) except -1
    cdef int geom(self, str name) except -1
    cdef int site(self, str name) except -1
    cdef int joint(self, str name) except -1
    cdef int qpos_of(self, str joint) except -1
    cdef int qvel_of(self, str joint) except -1
    cdef int sensor(self, str name) except -1                # of its first number in data.sensordata

    cdef int draw_from(self, object random) except -1        # continues with the stream of a numpy.random.RandomState

    # its own
    cdef int _write_picture(self, unsigned char* out) except -1 nogil


cdef inline void difference(const double* a, const double* b, double* out) noexcept nogil:
    # of two vectors of three numbers
    cdef int k
    for k in range(3):
        out[k] = a[k] - b[k]
