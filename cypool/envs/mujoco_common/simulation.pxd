"""The base class of all environments that MuJoCo simulates: their model and data, pictures, save and load."""
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot
from cypool.envs.common.frame_stack cimport FrameStack
from cypool.envs.mujoco_common.camera cimport Camera
from cypool.envs.mujoco_common.libmujoco cimport mjData, mjModel
from cypool.envs.mujoco_common.model cimport Model
from cypool.envs.mujoco_common.obs_writer cimport ObsWriter
from cypool.envs.mujoco_common.variation cimport Variation


cdef class Simulation(Env):
    # a subclass sets these in its __init__
    cdef readonly Model loaded
    cdef Variation variation             # of the model in this environment; None: there is none
    cdef const mjModel* model            # borrowed from one of the two
    cdef mjData* data                    # owned
    cdef Camera camera
    # set by `set_up_frames`
    cdef FrameStack frames               # the last observations; a picture that is not stacked is not kept
    cdef bint from_pixels
    cdef bint action_is_single           # float32, else float64
    cdef bint obs_is_single
    cdef size_t obs_size                 # numbers of an observation
    cdef size_t picture_bytes            # of a picture in `frames`, behind the numbers
    # set by `set_up_info`, where there are infos
    cdef vector[double] info             # the info, element after element; zeros when reset or step begins
    cdef vector[int] info_types          # NumPy's number of each array's type
    cdef vector[int] info_sizes

    # has to be implemented, unless `obs_size` is 0; as in `Env`, it runs on a pool thread, without the GIL
    cdef int get_obs(self, ObsWriter* obs) except -1 nogil   # puts `obs_size` numbers
    # can be implemented
    cdef int draw(self, unsigned char* out) except -1 nogil  # a picture of now
    # have to be implemented: what there is to save other than MuJoCo's data and the frames
    cdef object save_own(self)                       # returns it as plain values
    cdef object check_own(self, object state)        # returns what `load_own` takes; TypeError, ValueError
    cdef int load_own(self, object checked) except -1    # MuJoCo's data is loaded already; cannot fail

    # runs without the GIL: takes all this over from another environment of the same class and spec, after MuJoCo's data
    cdef int copy_own(self, Simulation other) except -1 nogil

    # to be called
    cdef int set_up_frames(self, object spec, size_t obs_size) except -1     # at the end of __init__
    cdef int set_up_info(self, object spec) except -1        # in __init__
    cdef void clear_info(self) noexcept nogil
    cdef void write_infos(self, const Slot* out) noexcept nogil      # each array in its type
    cdef object check_info(self, object state)               # what tuple(self.info) was, or raises
    cdef void set_controls(self, const void* action) noexcept nogil
    cdef int push_frame(self) except -1 nogil                # puts the observation behind the others
    # writes some numbers of each observation, the oldest first, in the dtype of the spec; returns where it ends
    cdef void* write_numbers(self, size_t first, size_t count, void* out) noexcept nogil

    # its own
    cdef int _vary(self, object values) except -1
