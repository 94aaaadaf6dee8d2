"""The base class of all environments that MuJoCo simulates: their model and data, pictures, save and load."""
from cypool.env cimport Env
from cypool.envs.common.frame_stack cimport FrameStack
from cypool.envs.mujoco_common.camera cimport Camera
from cypool.envs.mujoco_common.libmujoco cimport mjData, mjModel
from cypool.envs.mujoco_common.model cimport Model
from cypool.envs.mujoco_common.variation cimport Variation


cdef class Simulation(Env):
    # a subclass sets these in its __init__
    cdef readonly Model loaded
    cdef Variation variation             # of the model in this environment; None: there is none
    cdef const mjModel* model            # borrowed from one of the two
    cdef mjData* data                    # owned
    cdef FrameStack frames               # the last observations; a picture that is not stacked is not kept
    cdef Camera camera
    cdef bint from_pixels

    # have to be implemented: what there is to save other than MuJoCo's data and the frames
    cdef object save_own(self)                       # returns it as plain values
    cdef object check_own(self, object state)        # returns what `load_own` takes; TypeError, ValueError
    cdef int load_own(self, object checked) except -1    # MuJoCo's data is loaded already; cannot fail

    # runs without the GIL: takes all this over from another environment of the same class and spec, after MuJoCo's data
    cdef int copy_own(self, Simulation other) except -1 nogil

    # its own
    cdef int _vary(self, object values) except -1
