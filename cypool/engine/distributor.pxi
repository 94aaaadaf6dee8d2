# Who steps the rows of a batch where they come in order: threads in shares, or the caller.
cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from cypool.util.park cimport now_ns

cdef enum:
    INLINE_NS = 8_000            # less work than this is done sooner than a thread takes it up
    WORTH_WAKING_NS = 100_000    # so much work is worth a futex call
    WAKE_NS = 20_000             # of work for each thread that is woken: a wake costs the caller a microsecond or two
    HOT_NS = 20_000              # threads still spin so long after the last call
    INLINE_STEPS = 1000          # steps without threads after they were found not to pay


cpdef uint32_t worth_waking(int64_t work_ns, uint32_t wanted) noexcept:
    """Returns the number of threads, out of `wanted` sleeping ones, that a synchronous call wakes.

    One call wakes them one after another, before the caller begins its own share. Threads stay awake from call to call
    if calls come in quick succession; then each call wakes some more, until all wanted threads are awake.

    Args:
        work_ns: Time that one thread would need for all the work; 0: unknown.
        wanted: Number of threads that could take part and are asleep.
    """
    if work_ns <= 0:
        return wanted
    return <uint32_t>min(<int64_t>wanted, max(work_ns // WAKE_NS, <int64_t>1))


@cython.final
cdef class Distributor:
    """Deals the rows of a batch out to threads in shares, or leaves them to the caller.

    Args:
        scheduler: The environments.
        threads: Threads that step them, in addition to the caller.
        num_threads: Number of threads that may step the pool's environments, including the caller.
        num_cpus: Number of CPUs that this process may use.
        shares_threads: Whether other pools use the same threads.

    Thread safety: the pool's caller only.
    """
    cdef Scheduler scheduler
    cdef Threads threads
    cdef bint shares_threads         # with other pools
    cdef uint32_t max_threads        # that may take part, in addition to the caller
    cdef uint32_t num_cpus
    cdef uint64_t published_rows     # of the last batch that was distributed to threads
    cdef int64_t idle_since          # when the last batch was received
    # of batches with so little work that threads may not pay
    cdef int64_t published_at        # when this one was distributed to threads; 0: it was not
    cdef int64_t published_work_ns   # the time that it should take one thread
    cdef double mean_time_ratio      # running mean: the time it took, divided by that
    cdef int inline_steps_left       # batches that the caller is to step without threads

    def __cinit__(self, Scheduler scheduler, Threads threads, uint32_t num_threads, uint32_t num_cpus,
                  bint shares_threads):
        self.scheduler, self.threads = scheduler, threads
        self.shares_threads = shares_threads
        self.max_threads = min(<uint32_t>threads.count, max(num_threads, <uint32_t>1) - 1)
        self.num_cpus = num_cpus
        self.mean_time_ratio = 0.5

    cdef void distribute(self, Claim* claim, uint32_t count, int64_t num_steps=1) noexcept:
        """Opens the last `count` rows of the batch for claims. Earlier rows (`DeferredDispatch` has them) are finished.

        Args:
            claim: The caller's, which gets the rows that do not justify threads.
            num_steps: Number of steps of each environment.
        """
        cdef Scheduler scheduler = self.scheduler
        # 0: unknown
        cdef int64_t work_ns = <int64_t>scheduler.counters.get().cost_ns.load() * count * num_steps
        cdef uint32_t first = scheduler.num_batch_ids - count
        if first == 0:
            scheduler.base += self.published_rows
            self.published_rows = 0
        if self.is_inline(work_ns):
            # recv steps them
            claim.caller.inline_count = count
            return
        # from here on, threads that are awake take rows; recv takes some, too
        self.published_rows = scheduler.num_batch_ids
        scheduler.work_shares.get().publish(scheduler.base + first, count)
        self.wake_threads(work_ns, count)

    cdef bint is_inline(self, int64_t work_ns) noexcept:
        """Whether the caller steps a batch alone."""
        self.published_at = 0
        if not 0 < work_ns < WORTH_WAKING_NS:
            return self.max_threads == 0
        if self.inline_steps_left > 0:
            self.inline_steps_left -= 1
            return True
        return self.max_threads == 0 or work_ns < INLINE_NS

    cdef void wake_threads(self, int64_t work_ns, uint32_t count) noexcept:
        """Wakes as many threads, in addition to the caller, as pay off for a batch of `count` rows."""
        cdef uint32_t awake, wanted = min(self.max_threads, count - 1)
        if 0 < work_ns < WORTH_WAKING_NS:
            # little work, but call after call: threads pay if they find a core to spin on
            self.published_at, self.published_work_ns = now_ns(), work_ns
            if self.published_at - self.idle_since >= HOT_NS:
                return
            wanted = min(wanted, self.num_cpus - 1)
        # between batches a thread that does not sleep is at hand, unless it is with another pool
        awake = 0 if self.shares_threads else <uint32_t>self.threads.count - self.threads.num_sleeping()
        if wanted > awake:
            self.threads.notify(worth_waking(work_ns, wanted - awake))

    cdef void received(self) noexcept:
        """Records that the caller has received the batch."""
        self.idle_since = now_ns()

    cdef void step_done(self) noexcept:
        """Records that one call has sent and received.

        Checks whether threads made a step with little work faster, and does without them for a while if not.
        """
        cdef double ratio
        if self.published_at == 0:
            return
        ratio = <double>(self.idle_since - self.published_at) / self.published_work_ns
        self.mean_time_ratio += (ratio - self.mean_time_ratio) / 16
        if self.mean_time_ratio > 1:
            # say, because other programs need the cores
            self.inline_steps_left = INLINE_STEPS
            self.mean_time_ratio = 0.5
