"""Asynchronous: ids wait in a ring, rows come in the order of finishing, several batches are filled at once."""
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from cypool.engine.dispatch cimport Dispatch
from cypool.engine.distributor cimport Distributor


cdef class AsyncDispatch(Dispatch):
    """Puts ids on the ring of those that are ready, from which each thread takes one, or some if they take little."""
    cdef Distributor distributor
    cdef bint inline                 # batches are made in recv, one at a time, in the order of send
    cdef vector[int32_t] list        # whose rows the batch in the making has then
    cdef uint32_t begun              # how many they are
    cdef int num_slow                # batches that took longer than threads may
    cdef bint leaving                # threads take over once this batch is received
    cdef uint64_t taken              # rows received or skipped

    cdef void use_threads(self, uint32_t count) noexcept
    cdef void leave_to_threads(self) noexcept
    cdef int begin(self, uint32_t wanted) except -1
    cdef int push(self, const int32_t* ids, uint32_t count) except -1
    cdef Py_ssize_t place(self) noexcept
