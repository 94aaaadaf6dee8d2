# Asynchronous, for brief steps: they are deferred to recv, which makes batches in the order of send.
cimport cython
from libc.stdint cimport int64_t

from cypool.util.park cimport now_ns

cdef enum:
    HAND_OVER_NS = 400           # an environment that another core stepped last comes from that core's cache
    CALL_NS = 1_000
    MAX_SLOW = 100               # batches one after another: no loss of a core takes so long


@cython.final
cdef class DeferredDispatch(Dispatch):
    """Makes a batch of the oldest ids of the ready queue within recv, as a synchronous pool does.

    Threads that take environments from the queue move them, with action and row, from core to core. Where every step
    takes less time than that, nothing is gained by the order of finishing.

    Args:
        distributor: Deals the rows of a batch out.
        threaded: Takes over if this proves slower, say because of a slow reward hook; None: there are no threads.
    """

    def __init__(self, scheduler, threads, blocks, results, ids, Distributor distributor, QueueDispatch threaded):
        self.distributor, self.threaded = distributor, threaded
        self.batch_ids.resize(self.scheduler.batch_rows)
        self.scheduler.list = self.batch_ids.data()
        self.scheduler.ordered.store(True)

    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1:
        self.scheduler.ready_queue.get().push(ids, count)
        self.ids.send(ids, count)
        return 0

    cdef int begin(self, uint32_t wanted) except -1:
        """Adds the oldest ids to the batch until it has the rows wanted. The rows before are done."""
        cdef Scheduler scheduler = self.scheduler
        cdef uint32_t count = wanted - self.num_begun
        if scheduler.ready_queue.get().claim(self.batch_ids.data() + self.num_begun, count, 1) != count:
            raise SystemError(f"deferred_dispatch: expected {count} ids in the ready queue")
        self.num_begun = scheduler.list_size = wanted
        self.distributor.distribute(&self.claim, count, <int64_t>scheduler.counters.get().cost_ns.load() * count)
        return 0

    cdef bint collect(self, uint32_t wanted, int64_t timeout_ns) except -1:
        cdef OpenBatch* batch = self.batch()
        cdef int64_t begun_at = now_ns()
        cdef uint32_t missing = wanted - min(wanted, batch.finished.load())
        if self.num_begun < wanted:
            # an earlier recv may have given up, and more may have been sent since
            if self.num_begun > 0 and not self.scheduler.collect(&self.claim, batch, self.num_begun, timeout_ns):
                return False
            self.begin(wanted)
        if not self.scheduler.collect(&self.claim, batch, wanted, timeout_ns):
            return False
        if self.threaded is not None and now_ns() - begun_at > <int64_t>missing * HAND_OVER_NS + CALL_NS:
            self.num_slow += 1
        else:
            self.num_slow = 0
        return True

    cdef tuple receive(self, uint32_t count):
        result = self.take_batch(0, count)
        self.num_begun = 0
        self.distributor.received()
        self.distributor.heuristic.update()
        if self.num_slow >= MAX_SLOW:
            self.use_threads()
        return result

    cdef int use_threads(self) except -1:
        """Has threads step everything from now on."""
        if self.num_begun > 0:
            raise RuntimeError("a batch is in the making: receive it first")
        self.successor = self.threaded
        self.threaded.start()
        return 0
