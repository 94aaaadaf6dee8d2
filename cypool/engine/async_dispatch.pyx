"""Asynchronous: ids wait in a ring, rows come in the order of finishing, several batches are filled at once."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t

from cypool.engine.batch cimport Block, OpenBatch


@cython.final
cdef class AsyncDispatch(Dispatch):
    """Puts ids on the ring of those that are ready, from which each thread takes one at a time."""

    def __init__(self, *_):
        cdef OpenBatch* batch
        cdef Block block
        cdef size_t k
        for k in range(self.scheduler.open.size()):
            batch = self.scheduler.open[k]
            block = self.scheduler.filling[k] = self.blocks.take()
            block.open_on(batch)

    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1:
        self.push(ids, count)
        self.ids.send(ids, count)
        # however little work: one slow environment must not keep the others waiting
        self.threads.notify(min(<uint32_t>self.threads.count, count))
        return 0

    cdef int push(self, const int32_t* ids, uint32_t count) except -1:
        """Puts environments on the ring."""
        cdef uint32_t k
        for k in range(count):
            self.scheduler.ready_queue.get().push(ids[k])
        self.scheduler.ready_queue.get().publish()
        return 0

    cdef bint collect(self, uint32_t wanted, int64_t timeout_ns) except -1:
        cdef OpenBatch* batch = self.batch()
        # the caller steps environments only if nobody else does
        if self.threads.count == 0:
            self.claim.quota = wanted - batch.finished.load()
        return self.scheduler.collect(&self.claim, batch, wanted, timeout_ns)

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
