"""Asynchronous: ids wait in a ring, rows come in the order of finishing, several batches are filled at once."""
from libc.stdint cimport int32_t, uint32_t, uint64_t

from cypool.engine.dispatch cimport Dispatch


cdef class AsyncDispatch(Dispatch):
    """Puts ids on the ring of those that are ready, from which each thread takes one, or some if they take little."""
    cdef bint inline                 # the caller steps environments, in recv
    cdef int num_slow                # batches that took it longer than threads may
    cdef uint64_t taken              # rows received or skipped

    cdef void use_threads(self, uint32_t count) noexcept
    cdef void leave_to_threads(self) noexcept
    cdef int push(self, const int32_t* ids, uint32_t count) except -1
    cdef Py_ssize_t place(self) noexcept
