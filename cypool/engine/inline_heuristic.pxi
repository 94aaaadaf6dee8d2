# Whether the caller of a synchronous pool steps all environments itself, and how many threads it wakes if not.
cimport cython

from cypool.engine import cpus

from cypool.util.park cimport now_ns

cdef enum:
    INLINE_NS = 8_000            # less work than this is done sooner than a thread takes it up
    WORTH_WAKING_NS = 100_000    # so much work is worth a futex call
    WAKE_NS = 20_000             # of work for each thread that is woken: a wake costs the caller a microsecond or two
    HOT_NS = 20_000              # workers still spin so long after the last call
    INLINE_STEPS = 1000          # steps without threads after they were found not to pay


cpdef uint32_t worth_waking(int64_t work_ns, uint32_t wanted) noexcept:
    """Returns how many of `wanted` sleeping threads a synchronous call wakes.

    One call wakes them one after another, before the caller begins its own share. Threads stay awake from call to call
    if these follow each other closely; then each call wakes some more, until all that are wanted are awake.

    Args:
        work_ns: What one thread would need for all of the work; 0: nobody knows.
        wanted: How many threads could take part and are asleep.
    """
    if work_ns <= 0:
        return wanted
    return <uint32_t>min(<int64_t>wanted, max(work_ns // WAKE_NS, <int64_t>1))


@cython.final
cdef class InlineHeuristic:
    """Decides for each batch between threads and the caller's own work.

    Args:
        num_threads: How many may step the pool's environments, the caller included.

    Threads: the pool's caller only.
    """

    def __cinit__(self, uint32_t num_threads):
        self.num_threads = max(num_threads, <uint32_t>1)
        self.num_cpus = max(<int>cpus.available(), 1)
        self.mean_share = 0.5

    cdef bint is_inline(self, int64_t work_ns, uint32_t helpers) noexcept:
        """Whether the caller steps a batch alone.

        Args:
            work_ns: What one thread needs for the batch; 0: nobody knows.
            helpers: Threads in addition to the caller.
        """
        self.published_at = 0
        if not 0 < work_ns < WORTH_WAKING_NS:
            return helpers == 0
        if self.inline_steps_left > 0:
            self.inline_steps_left -= 1
            return True
        return helpers == 0 or work_ns < INLINE_NS

    cdef uint32_t useful_helpers(self, int64_t work_ns, uint32_t helpers, uint32_t count) noexcept:
        """How many threads in addition to the caller should be awake for a batch of `count` rows that is not inline."""
        helpers = min(min(helpers, count - 1), self.num_threads - 1)
        if 0 < work_ns < WORTH_WAKING_NS:
            # little work, but call after call: threads pay if they find a core to spin on
            self.published_at, self.published_work_ns = now_ns(), work_ns
            if self.published_at - self.idle_since >= HOT_NS:
                return 0
            helpers = min(helpers, self.num_cpus - 1)
        return helpers

    cdef void update(self) noexcept:
        """Sees whether threads made a step with little work faster, and does without them for a while if not."""
        cdef double share
        if self.published_at == 0:
            return
        share = <double>(self.idle_since - self.published_at) / self.published_work_ns
        self.mean_share += (share - self.mean_share) / 16
        if self.mean_share > 1:
            # say, because other programs need the cores
            self.inline_steps_left = INLINE_STEPS
            self.mean_share = 0.5
