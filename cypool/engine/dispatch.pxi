# Routes a batch from send to those who step its environments, and its rows back to recv: the interface.
#
# `SyncDispatch`; `QueueDispatch` and `DeferredDispatch`, which are asynchronous; and `BackendDispatch` around another.
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from cypool.util.constants cimport SLICE_NS
from cypool.util.park cimport now_ns


cdef class Dispatch:
    """Takes a batch from `send` to `recv`. The pool calls all methods with the GIL.

    Args:
        scheduler: The environments.
        threads: Threads that step them.
        blocks: Memory of batches.
        results: Assembles batches for the user.
        ids: The pool's.

    Thread safety: the pool's caller only.
    """
    cdef Scheduler scheduler
    cdef Threads threads
    cdef Blocks blocks
    cdef Results results
    cdef IdTracker ids
    cdef Claim claim                 # the caller's own
    cdef Dispatch successor          # takes the place of this one from the next batch on; None: it stays

    def __cinit__(self, Scheduler scheduler, Threads threads, Blocks blocks, Results results, IdTracker ids, *_):
        self.scheduler, self.threads = scheduler, threads
        self.blocks, self.results = blocks, results
        self.ids = ids
        # quota 0: the caller takes no ids from the ring
        memset(&self.claim, 0, sizeof(Claim))
        self.claim.is_caller = True

    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1:
        """Hands over checked ids to be stepped.

        Args:
            out: The user's arrays for this batch, or None.
        """
        raise NotImplementedError("send")

    cdef bint work_until(self, uint32_t wanted, int64_t timeout_ns) except -1:
        """Works or waits until `wanted` rows of the next batch are finished; returns whether they are."""
        return self.scheduler.work_until(&self.claim, self.batch(), wanted, timeout_ns)

    cdef bint wait(self, uint32_t wanted, timeout) except -1:
        """Lets `work_until` work or wait for slices of time, between which Python checks for signals.

        Args:
            timeout: Seconds, or None.

        Returns:
            Whether the rows are finished; False after the timeout.
        """
        cdef int64_t slice_ns = SLICE_NS, deadline = 0
        cdef bint finished = False
        if timeout is not None:
            deadline = now_ns() + <int64_t>(timeout * 1e9)
        while not finished:
            if timeout is not None:
                slice_ns = max(min(<int64_t>SLICE_NS, deadline - now_ns()), <int64_t>0)
            finished = self.work_until(wanted, slice_ns)
            # also at the end: a KeyboardInterrupt that Python raises once `recv` has returned would lose the batch
            PyErr_CheckSignals()
            if not finished and timeout is not None and now_ns() >= deadline:
                return False
        return True

    cdef object wait_all(self, uint32_t wanted):
        """Waits for rows that cannot be cancelled; returns a KeyboardInterrupt raised meanwhile, or None."""
        interrupt = None
        while True:
            try:
                if self.work_until(wanted, SLICE_NS):
                    return interrupt
            except KeyboardInterrupt as error:
                # an environment of Python's saw it, and has failed; the threads are at the others
                interrupt = error

    cdef bint finish(self, int64_t timeout_ns) except -1:
        """Works or waits until everything in flight is finished, to be received later; returns whether it is."""
        return self.work_until(self.ids.pending, timeout_ns)

    cdef uint32_t num_finished(self) noexcept:
        """Returns the number of finished rows of the next batch."""
        return self.batch().finished.load()

    cdef tuple receive(self, uint32_t count):
        """Returns the batch that was collected; the next one takes its place."""
        raise NotImplementedError("receive")

    cdef tuple take_batch(self, Py_ssize_t batch_index, uint32_t count):
        """Returns an open batch of an asynchronous pool in the user's format; another block takes its place."""
        cdef OpenBatch* batch = self.scheduler.open[batch_index]
        cdef Block block = self.scheduler.filling[batch_index]
        # first all that may fail for want of memory, then all that changes the pool
        cdef Block following = self.blocks.take()
        result = self.results.assemble(block, count, None)
        self.blocks.lend(block)
        self.scheduler.filling[batch_index] = following
        self.ids.receive(batch.env_id, count)
        following.open_on(batch)
        return result

    cdef void step_done(self) noexcept:
        """Records that one call has sent and received."""

    cdef OpenBatch* batch(self) noexcept:
        """Returns the batch that is received next."""
        return self.scheduler.open[0]
