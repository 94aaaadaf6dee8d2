"""Asynchronous: threads take ids from the ready queue, rows come in the order of finishing, in several open batches."""
from libc.stdint cimport uint64_t

from cypool.engine.dispatch cimport Dispatch


cdef class QueueDispatch(Dispatch):
    cdef uint64_t num_taken          # rows received or skipped

    cdef void start(self) noexcept
    cdef Py_ssize_t place(self) noexcept
