# Asynchronous pools with brief steps, without threads, or with a backend: recv steps the oldest ids of the ring.
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from cypool.util.park cimport now_ns

cdef enum:
    TRANSFER_NS = 400            # to fetch an environment from the cache of another core, which stepped it last
    CALL_NS = 1_000              # of a call, whatever the number of environments
    MAX_SLOW = 100               # batches one after another: longer than any preemption


@cython.final
cdef class DeferredDispatch(Dispatch):
    """Steps the oldest ids of the ring as one batch within recv, as a synchronous pool does.

    Threads that take environments from the queue move them, with action and row, from core to core. If every step takes
    less time than that, receiving environments in the order they finish gains nothing.

    Args:
        distributor: Deals the rows of a batch out.
        threaded: Takes over if this proves slower, for example because of a slow reward hook; None: there are no
            threads.
    """
    cdef Distributor distributor
    cdef QueueDispatch threaded      # takes over if batches take long; None: there are no threads
    cdef vector[int32_t] batch_ids   # of the rows of the batch in the making
    cdef uint32_t num_begun          # how many they are
    cdef list ahead                  # blocks of batches that `finish` has made: those that are received next
    cdef int num_slow                # batches, one after another, that took longer than threads may

    def __init__(self, scheduler, threads, blocks, results, ids, Distributor distributor, QueueDispatch threaded):
        self.distributor, self.threaded = distributor, threaded
        self.ahead = []
        self.batch_ids.resize(self.scheduler.batch_rows)
        self.scheduler.batch_ids = self.batch_ids.data()
        self.scheduler.rows_in_send_order.store(True)

    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1:
        self.scheduler.id_ring.get().push(ids, count)
        self.ids.send(ids, count)
        return 0

    cdef int begin(self, uint32_t wanted) except -1:
        """Adds the oldest ids to the batch until it has the wanted rows. Earlier rows are done."""
        cdef Scheduler scheduler = self.scheduler
        cdef uint32_t count = wanted - self.num_begun
        if scheduler.id_ring.get().claim(self.batch_ids.data() + self.num_begun, count, count, 1) != count:
            raise SystemError(f"deferred_dispatch: expected {count} ids in the id ring")
        self.num_begun = scheduler.num_batch_ids = wanted
        self.distributor.distribute(&self.claim, count)
        return 0

    cdef bint finish(self, int64_t timeout_ns) except -1:
        cdef uint32_t rows = <uint32_t>self.scheduler.batch_rows
        cdef uint32_t left = self.ids.pending - <uint32_t>len(self.ahead) * rows
        cdef Block following
        while left > 0:
            if not self.make(min(left, rows), timeout_ns):
                return False
            if left < rows:
                # more may be sent before it is received
                return True
            following = self.blocks.take()
            self.ahead.append(self.scheduler.filling[0])
            self.scheduler.filling[0] = following
            following.open_on(self.batch())
            self.num_begun = 0
            self.distributor.received()
            left -= rows
        return True

    cdef bint work_until(self, uint32_t wanted, int64_t timeout_ns) except -1:
        return len(self.ahead) > 0 or self.make(wanted, timeout_ns)

    cdef bint make(self, uint32_t wanted, int64_t timeout_ns) except -1:
        """Implements `work_until` where no batch is ahead."""
        cdef OpenBatch* batch = self.batch()
        cdef int64_t begun_at = now_ns()
        cdef uint32_t missing = wanted - min(wanted, batch.finished.load())
        if self.num_begun < wanted:
            # an earlier recv may have given up, and more may have been sent since
            if self.num_begun > 0 and not self.scheduler.work_until(&self.claim, batch, self.num_begun, timeout_ns):
                return False
            self.begin(wanted)
        if not self.scheduler.work_until(&self.claim, batch, wanted, timeout_ns):
            return False
        if self.threaded is not None and now_ns() - begun_at > <int64_t>missing * TRANSFER_NS + CALL_NS:
            self.num_slow += 1
        else:
            self.num_slow = 0
        return True

    cdef tuple receive(self, uint32_t count):
        cdef Block block
        if self.ahead:
            block = self.ahead[0]
            result = self.results.assemble(block, count, None)
            self.blocks.lend(block)
            del self.ahead[0]
            self.ids.receive(<const int32_t*>block.column(self.results.layout.num_columns + ENV_ID), count)
            return result
        result = self.take_batch(0, count)
        self.num_begun = 0
        self.distributor.received()
        self.distributor.step_done()
        if self.num_slow >= MAX_SLOW:
            self.use_threads()
        return result

    cdef int use_threads(self) except -1:
        """Lets threads step everything from now on."""
        if self.num_begun > 0 or self.ahead:
            raise RuntimeError("a batch is being filled: receive it first")
        self.successor = self.threaded
        self.threaded.start()
        return 0
