"""Routes a batch from send() to those who step its environments, and its rows back to recv().

There are four ways, a module each: `SyncDispatch`; `QueueDispatch` and `DeferredDispatch`, which are asynchronous; and
`BackendDispatch` around another one.
"""
from libc.stdint cimport int32_t, int64_t, uint32_t

from cypool.engine.batch cimport Blocks, OpenBatch
from cypool.engine.scheduler cimport Claim, Scheduler
from cypool.engine.ids cimport IdTracker
from cypool.engine.results cimport Results
from cypool.engine.threads cimport Threads


cdef class Dispatch:
    """A way from send to recv. The pool calls all methods on the caller's thread, with the GIL."""
    cdef Scheduler scheduler
    cdef Threads threads
    cdef Blocks blocks
    cdef Results results
    cdef IdTracker ids
    cdef Claim claim                 # the caller's own
    cdef Dispatch successor          # takes the place of this one from the next batch on; None: nobody does

    # gives checked ids to those who step them; `out`: the user's arrays for this batch, or None
    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1
    # works or waits until `wanted` rows of the next batch are finished; whether they are. Call again if not
    cdef bint collect(self, uint32_t wanted, int64_t timeout_ns) except -1
    cdef uint32_t num_finished(self) noexcept          # rows of the next batch
    cdef tuple receive(self, uint32_t count)           # the batch that was collected; the next one takes its place
    cdef tuple take_batch(self, Py_ssize_t place, uint32_t count)
    cdef void step_done(self) noexcept                 # one call has sent and received
    cdef OpenBatch* batch(self) noexcept               # the one that is received next
    cdef bint forked(self) noexcept                    # whether those who step environments are another process's
