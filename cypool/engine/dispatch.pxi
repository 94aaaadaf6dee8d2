# Routes a batch from send() to those who step its environments; the `.pxd` is the interface.
from libc.string cimport memset


cdef class Dispatch:
    """A way from send to recv.

    Args:
        scheduler: The environments.
        threads: Threads that step them.
        blocks: Memory of batches.
        results: Puts batches together for the user.
        ids: The pool's.

    Threads: the pool's caller only.
    """

    def __cinit__(self, Scheduler scheduler, Threads threads, Blocks blocks, Results results, IdTracker ids, *_):
        self.scheduler, self.threads = scheduler, threads
        self.blocks, self.results = blocks, results
        self.ids = ids
        memset(&self.claim, 0, sizeof(Claim))
        self.claim.is_caller = True

    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1:
        raise NotImplementedError("send")

    cdef bint collect(self, uint32_t wanted, int64_t timeout_ns) except -1:
        return self.scheduler.collect(&self.claim, self.batch(), wanted, timeout_ns)

    cdef bint finish(self, int64_t timeout_ns) except -1:
        return self.collect(self.ids.pending, timeout_ns)

    cdef uint32_t num_finished(self) noexcept:
        return self.batch().finished.load()

    cdef tuple receive(self, uint32_t count):
        raise NotImplementedError("receive")

    cdef tuple take_batch(self, Py_ssize_t place, uint32_t count):
        """Returns an open batch of an asynchronous pool as the user gets it; another block takes its place."""
        cdef OpenBatch* batch = self.scheduler.open[place]
        cdef Block block = self.scheduler.filling[place]
        # first all that may fail for want of memory, then all that changes the pool
        cdef Block following = self.blocks.take()
        result = self.results.of(block, count, None)
        self.blocks.lend(block)
        self.scheduler.filling[place] = following
        self.ids.receive(batch.env_id, count)
        following.open_on(batch)
        return result

    cdef void step_done(self) noexcept:
        pass

    cdef OpenBatch* batch(self) noexcept:
        return self.scheduler.open[0]

    cdef bint forked(self) noexcept:
        return self.threads.forked()
