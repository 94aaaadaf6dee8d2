"""Which environments a call names, and which of them are in flight."""
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libcpp.vector cimport vector

cimport numpy as cnp

from cypool.engine.scheduler cimport Scheduler

cdef enum Purpose:                   # what a call wants with the environments it names
    STEP
    RESET
    INSPECT                             # between steps: save, load, render
    REPLACE                             # by copies


cdef class IdTracker:
    """Checks ids and knows the state of each environment. Used by the pool's caller only."""
    cdef int num_envs
    cdef bint is_async
    cdef uint32_t pending            # rows sent and not received
    cdef vector[int32_t] all_ids     # 0, 1, 2, ...
    cdef vector[int32_t] named_ids   # of the call under way
    cdef vector[int32_t] source_ids  # of the call under way
    cdef vector[int32_t] last_ids    # of the last batch received, in an asynchronous pool
    cdef vector[uint8_t] in_flight   # in an asynchronous pool
    cdef vector[uint8_t] started     # 1: has been reset at least once
    cdef int num_unstarted
    cdef vector[uint64_t] stamps     # the last call that named this env
    cdef uint64_t stamp

    # the ids of a call, valid until the next one; raises, and changes nothing, if the call is not allowed
    cdef const int32_t* check(self, Scheduler scheduler, cnp.ndarray env_ids, Purpose purpose,
                              uint32_t* count, bint discards=*) except NULL
    # the source of each environment that was named last; valid until the next call
    cdef const int32_t* check_sources(self, cnp.ndarray sources, uint32_t count) except NULL
    cdef void start(self, int32_t env_id) noexcept                              # is about to be reset, or was loaded
    cdef void send(self, const int32_t* ids, uint32_t count) noexcept
    cdef void receive(self, const int32_t* ids, uint32_t count) noexcept
