"""A policy in C during a rollout: calls it, and checks what it writes."""
from libc.stdint cimport int64_t, uint32_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from cypool.engine.action_check cimport ActionPart
from cypool.engine.batch cimport Block, OpenBatch
from cypool.policies cimport Decision, Policy

cdef extern from "cypool/cfunctions/decisions.h" namespace "cypool" nogil:
    cdef struct Decisions:
        const void* obs
        void* actions
        const void* parameters
        int64_t step
        uint32_t env_id
        uint32_t count

    ctypedef int (*ManyPolicy)(const Decisions*) noexcept


cdef class RolloutPolicy:
    cdef object owner                # keeps the policy's code and memory alive
    cdef Policy call
    cdef ManyPolicy many             # for neighbouring environments; NULL: for one at a time
    cdef const void* parameters
    cdef char* state                 # of environment 0; NULL: none
    cdef size_t state_bytes          # of one environment
    cdef size_t action_bytes
    cdef vector[ActionPart] parts
    cdef list described              # (name, spec) of each
    cdef vector[char] memory         # where the policy writes, for each thread: a zone, the action, a zone
    cdef char* actions               # that of thread 0
    cdef size_t stride               # to that of the next thread
    # what environments show before the first step
    cdef Block block
    cdef unique_ptr[OpenBatch] first

    # without the GIL, on the threads
    cdef int choose(self, Decision* decision, char* action, int thread) except -1 nogil
    cdef int choose_many(self, Decisions* decisions) except -1 nogil
    cdef bint accepts(self, const char* action) noexcept nogil
    cdef int check(self, const char* action) except -1 nogil
    cdef int fail(self, int code) except -1
    cdef int complain(self, size_t k, size_t number, const char* action) except -1
