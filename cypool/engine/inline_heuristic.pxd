"""Whether the caller of a synchronous pool steps all environments itself, and how many threads it wakes if not."""
from libc.stdint cimport int64_t, uint32_t


cdef class InlineHeuristic:
    """Decides for each batch between threads and the caller's own work. Used by the pool's caller only."""
    cdef uint32_t num_threads        # that may step the pool's environments, the caller included
    cdef uint32_t num_cpus
    cdef int64_t idle_since          # when the last batch was received
    # of batches with so little work that threads may not pay
    cdef int64_t published_at        # when this one was distributed to threads; 0: it was not
    cdef int64_t published_work_ns   # what it should take one thread
    cdef double mean_share           # running mean: time it took, in units of that
    cdef int inline_steps_left       # batches that the caller is to step without threads

    cdef bint is_inline(self, int64_t work_ns, uint32_t helpers) noexcept
    cdef uint32_t useful_helpers(self, int64_t work_ns, uint32_t helpers, uint32_t count) noexcept
    cdef void update(self) noexcept

cpdef uint32_t worth_waking(int64_t work_ns, uint32_t wanted) noexcept
