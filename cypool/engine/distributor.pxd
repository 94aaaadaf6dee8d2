"""Who steps the rows of a batch: threads in shares, or the caller."""
from libc.stdint cimport int64_t, uint32_t, uint64_t

from cypool.engine.inline_heuristic cimport InlineHeuristic
from cypool.engine.scheduler cimport Claim, Scheduler
from cypool.engine.threads cimport Threads


cdef class Distributor:
    cdef Scheduler scheduler
    cdef Threads threads
    cdef InlineHeuristic heuristic
    cdef bint shares_threads         # with other pools
    cdef uint64_t published_rows     # of the last batch that was distributed to threads

    # puts rows of the scheduler's list up for claims, the last `count` of it; they come to `work_ns` of work. All rows
    # before these are finished
    cdef void distribute(self, Claim* caller, uint32_t count, int64_t work_ns)
    cdef void received(self) noexcept    # the caller has got the batch
