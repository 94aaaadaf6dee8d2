# Asynchronous: threads take ids from the ring of ids, rows come in the order of finishing, in several open batches.
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


@cython.final
cdef class QueueDispatch(Dispatch):
    """Puts ids on the ring, from which each thread takes one, or several if their steps are short."""
    cdef uint64_t num_taken          # rows received or skipped

    cdef void start(self) noexcept:
        """Takes over from another dispatch, between two of its batches."""
        self.scheduler.rows_in_send_order.store(False)
        self.threads.notify(min(<uint32_t>self.threads.count, <uint32_t>self.ids.num_envs))

    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1:
        self.scheduler.id_ring.get().push(ids, count)
        self.ids.send(ids, count)
        # however little work: one slow environment must not keep the others waiting
        self.threads.notify(min(<uint32_t>self.threads.count, count))
        return 0

    cdef bint work_until(self, uint32_t wanted, int64_t timeout_ns) except -1:
        cdef OpenBatch* batch = self.batch()
        cdef bint finished
        with nogil:
            finished = self.scheduler.await_rows(batch, wanted, timeout_ns)
        return finished

    cdef bint finish(self, int64_t timeout_ns) except -1:
        cdef Scheduler scheduler = self.scheduler
        cdef uint32_t wanted, left = self.ids.pending
        cdef size_t index = self.batch_index()
        cdef bint finished = True
        with nogil:
            while finished and left > 0:
                wanted = min(left, <uint32_t>scheduler.batch_rows)
                finished = scheduler.await_rows(scheduler.open[index], wanted, timeout_ns)
                left -= wanted
                index = (index + 1) % scheduler.open.size()
        return finished

    cdef tuple receive(self, uint32_t count):
        result = self.take_batch(self.batch_index(), count)
        self.num_taken += self.scheduler.batch_rows
        # a short batch was the last: no thread is at work, so the next row can begin a new batch
        if count < self.scheduler.batch_rows:
            self.scheduler.counters.get().rows.store(self.num_taken)
        return result

    cdef Py_ssize_t batch_index(self) noexcept:
        """Which of the open batches is received next."""
        return <Py_ssize_t>(self.num_taken // self.scheduler.batch_rows % self.scheduler.open.size())

    cdef OpenBatch* batch(self) noexcept:
        return self.scheduler.open[self.batch_index()]
