"""Asynchronous: ids wait in a ring, rows come in the order of finishing, several batches are filled at once."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t

from cypool.engine.batch cimport Block, OpenBatch
from cypool.engine.distributor cimport Distributor
from cypool.engine.scheduler cimport Scheduler
from cypool.util.park cimport now_ns

cdef enum:
    HAND_OVER_NS = 400           # an environment that another core stepped last comes from that core's cache
    CALL_NS = 1_000
    MOST_SLOW = 100              # batches one after another: no loss of a core takes so long


@cython.final
cdef class AsyncDispatch(Dispatch):
    """Puts ids on the ring of those that are ready, from which each thread takes one, or some if they take little.

    Threads take environments as they come: an environment, its action and its row go from core to core. Where every
    step takes less time than that, nothing is gained by the order of finishing. Then recv takes the oldest ids from the
    ring and makes a batch of them as a synchronous pool does.

    Args:
        distributor: For batches in recv.
        brief_steps: Whether all environments promise this. It is measured: with a slow reward hook it is not so.
    """

    def __init__(self, scheduler, threads, blocks, results, ids, Distributor distributor, bint brief_steps):
        cdef OpenBatch* batch
        cdef Block block
        cdef size_t k
        for k in range(self.scheduler.open.size()):
            batch = self.scheduler.open[k]
            block = self.scheduler.filling[k] = self.blocks.take()
            block.open_on(batch)
        self.distributor = distributor
        self.list.resize(self.scheduler.batch_rows)
        self.scheduler.list = self.list.data()
        self.inline = brief_steps or self.threads.count == 0
        self.scheduler.ordered.store(self.inline)

    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1:
        self.push(ids, count)
        self.ids.send(ids, count)
        if not self.inline:
            self.use_threads(count)
        return 0

    cdef void use_threads(self, uint32_t count) noexcept:
        """Wakes threads for this number of environments."""
        # however little work: one slow environment must not keep the others waiting
        self.threads.notify(min(<uint32_t>self.threads.count, count))

    cdef void leave_to_threads(self) noexcept:
        """Has threads step everything from now on, or from the next batch on, as far as there are threads."""
        self.leaving = self.inline and self.begun > 0 and self.threads.count > 0
        if self.leaving or self.threads.count == 0:
            return
        self.inline = False
        self.scheduler.ordered.store(False)
        self.use_threads(<uint32_t>self.ids.num_envs)

    cdef int push(self, const int32_t* ids, uint32_t count) except -1:
        """Puts environments on the ring."""
        cdef uint32_t k
        for k in range(count):
            self.scheduler.ready_queue.get().push(ids[k])
        self.scheduler.ready_queue.get().publish()
        return 0

    cdef int begin(self, uint32_t wanted) except -1:
        """Adds the oldest ids to the batch that recv makes, until it has the rows wanted. The rows before are done."""
        cdef Scheduler scheduler = self.scheduler
        cdef uint32_t count = wanted - self.begun
        if scheduler.ready_queue.get().claim(self.list.data() + self.begun, count, 1) != count:
            raise SystemError(f"async_dispatch: expected {count} ids on the ring")
        self.begun = scheduler.list_size = wanted
        self.distributor.distribute(&self.claim, count, <int64_t>scheduler.counters.get().cost_ns.load() * count)
        return 0

    cdef bint collect(self, uint32_t wanted, int64_t timeout_ns) except -1:
        cdef OpenBatch* batch = self.batch()
        cdef int64_t begun_at
        cdef uint32_t missing
        if not self.inline:
            self.claim.quota = 0
            return self.scheduler.collect(&self.claim, batch, wanted, timeout_ns)
        begun_at = now_ns()
        missing = wanted - min(wanted, batch.finished.load())
        if self.begun < wanted:
            # an earlier recv may have given up, and more may have been sent since
            if self.begun > 0 and not self.scheduler.collect(&self.claim, batch, self.begun, timeout_ns):
                return False
            self.begin(wanted)
        if not self.scheduler.collect(&self.claim, batch, wanted, timeout_ns):
            return False
        if self.threads.count > 0 and now_ns() - begun_at > <int64_t>missing * HAND_OVER_NS + CALL_NS:
            self.num_slow += 1
            if self.num_slow == MOST_SLOW:
                self.leave_to_threads()
        else:
            self.num_slow = 0
        return True

    cdef tuple receive(self, uint32_t count):
        cdef OpenBatch* batch = self.batch()
        cdef Py_ssize_t place = self.place()
        cdef Block block = self.scheduler.filling[place]
        # first all that may fail for want of memory, then all that changes the pool
        cdef Block following = self.blocks.take()
        result = self.results.of(block, count, None)
        self.blocks.lend(block)
        self.scheduler.filling[place] = following
        self.ids.receive(batch.env_id, count)
        if self.inline:
            self.begun = 0
            following.open_on(batch)
            self.distributor.received()
            self.distributor.policy.update()
            if self.leaving:
                self.leave_to_threads()
            return result
        self.taken += self.scheduler.batch_rows
        # a short batch was the last: nobody is at work, so the next row can begin a new batch
        if count < self.scheduler.batch_rows:
            self.scheduler.counters.get().rows.store(self.taken)
        following.open_on(batch)
        return result

    cdef Py_ssize_t place(self) noexcept:
        """Which of the open batches is received next."""
        return <Py_ssize_t>(self.taken // self.scheduler.batch_rows % self.scheduler.open.size())

    cdef OpenBatch* batch(self) noexcept:
        return self.scheduler.open[self.place()]
