"""Steps MuJoCo environments several at a time, bit-identical to mj_step."""
from cpython.object cimport PyObject
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cypool.envs.shared.mujoco.mujoco_common cimport Simulation

ctypedef vector[PyObject*] EnvList      # borrowed

cdef enum: READS_UNKNOWN = -1


# The base class of environments that lanes may step: what a subclass has, and what it calls.

cdef class SimulationInLanes(Simulation):
    # bits of `Output`: what is read of mjData after a step. READS_UNKNOWN: only mj_step steps it. Set in __init__
    cdef int reads
    cdef int num_mj_steps                # MuJoCo's steps in one of ours
    cdef bint ends_with_step1            # whether mj_step1 follows them
    cdef bint keeps_model                # steps begin with the common numbers that lanes read. Set in __init__
    cdef bint writes_model               # in its own, each episode has other numbers. Set in __init__
    cdef size_t action_bytes
    cdef object lanes                    # a `Lanes`, that of the pool; None: mj_step steps
    cdef object made                     # the `Lanes` of its model, kept until the pool has them
    cdef object why_not                  # why mj_step steps the pool; None: nobody knows, or lanes do
    cdef shared_ptr[EnvList] pool        # all environments that lanes may step
    cdef void* record                    # owned, a lanes::Record; NULL without lanes
    cdef int until_check                 # steps in lanes until mj_step repeats one

    # can be implemented
    cdef object why_mj_step(self)        # why lanes do not step environments of this spec; None: they do
    # sets what a step begins with, from an action: controls, mocap bodies; `step` itself does so, too
    cdef void set_inputs(self, const void* action) noexcept nogil

    cdef object why_pool_cannot(self, list envs)
    # to be called
    cdef bint take_result(self) except -1 nogil          # all of them, if lanes have stepped; mjData is that of after
    cdef bint knows_model(self) except -1 nogil          # its own
    cdef int materialize(self) except -1 nogil           # all of mjData is as if MuJoCo had stepped
    cdef void leave_lanes(self) noexcept nogil           # mjData is, or will be, what it says itself
    cdef int copy_lanes(self, SimulationInLanes other) except -1 nogil   # as copy_own
