# Who steps the rows of a batch, where they come in order: threads in shares, or the caller.
cimport cython

from cypool.util.park cimport now_ns


@cython.final
cdef class Distributor:
    """Deals the rows of a batch out to threads in shares, or leaves them to the caller.

    Args:
        scheduler: The environments.
        threads: Threads that step them, in addition to the caller.
        heuristic: Chooses between the two.
        shares_threads: Whether other pools have the same threads.

    Threads: the pool's caller only.
    """

    def __cinit__(self, Scheduler scheduler, Threads threads, InlineHeuristic heuristic, bint shares_threads):
        self.scheduler, self.threads, self.heuristic = scheduler, threads, heuristic
        self.shares_threads = shares_threads

    cdef void distribute(self, Claim* caller, uint32_t count, int64_t work_ns):
        cdef Scheduler scheduler = self.scheduler
        cdef uint32_t awake, helpers = min(<uint32_t>self.threads.count, self.heuristic.num_threads - 1)
        cdef uint32_t first = scheduler.list_size - count
        if first == 0:
            scheduler.base += self.published_rows
            self.published_rows = 0
        # little work: recv does it
        if self.heuristic.is_inline(work_ns, helpers):
            caller.inline_count = count
            return
        # from here on, threads that are awake take rows; recv takes some, too
        self.published_rows = scheduler.list_size
        scheduler.work_shares.get().publish(scheduler.base + first, count)
        helpers = self.heuristic.useful_helpers(work_ns, helpers, count)
        # between batches a thread that does not sleep is at hand, unless it is with another pool
        awake = 0 if self.shares_threads else <uint32_t>self.threads.count - self.threads.num_sleeping()
        if helpers > awake:
            self.threads.notify(worth_waking(work_ns, helpers - awake))

    cdef void received(self) noexcept:
        self.heuristic.idle_since = now_ns()
