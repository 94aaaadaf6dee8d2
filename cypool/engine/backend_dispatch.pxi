# Another backend steps the environments; the caller of recv then makes rows of them.
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from cypool.env_methods cimport check_status, raise_for
from cypool.backend cimport StepBackend
from cypool.env cimport Env

ctypedef int (*Submit)(StepBackend backend, const int32_t* ids, uint32_t count, const char* actions,
                       bint same_step) noexcept
ctypedef int (*Wait)(StepBackend backend, int32_t* ids, int wanted, int64_t timeout_ns) noexcept


@cython.final
cdef class BackendDispatch(Dispatch):
    """Lets a backend step environments; another dispatch turns their results into rows, without threads.

    Args:
        backend: Steps the environments.
        inner: The other dispatch.
    """
    cdef StepBackend backend
    cdef Dispatch inner              # SyncDispatch or DeferredDispatch
    cdef bint is_async
    cdef vector[int32_t] completed_ids   # ids that came back with one call
    cdef uint32_t num_completed      # environments that came back and were not received

    def __init__(self, scheduler, threads, blocks, results, ids, StepBackend backend, Dispatch inner):
        self.backend, self.inner = backend, inner
        self.is_async = self.ids.is_async
        self.completed_ids.resize(self.ids.num_envs)

    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1:
        cdef uint32_t k
        try:
            check_status("submit", (<Submit>self.backend.submit)(
                self.backend, ids, count, self.scheduler.first_actions, self.scheduler.autoreset == SAME_STEP))
        except BaseException:
            for k in range(count):
                (<Env>self.scheduler.envs[ids[k]]).observe_only = False
            raise
        if self.is_async:
            # they enter the ring as they come back
            self.ids.send(ids, count)
        else:
            # no threads: the caller does all rows, once all are back
            self.inner.send(ids, count, out)
        return 0

    cdef bint work_until(self, uint32_t wanted, int64_t timeout_ns) except -1:
        cdef int count
        if self.num_completed < wanted:
            count = (<Wait>self.backend.wait)(self.backend, self.completed_ids.data(), wanted - self.num_completed,
                                              timeout_ns)
            if not 0 <= count <= <int>(wanted - self.num_completed):
                raise_for("wait", "the number of ids that it wrote", count)
            self.num_completed += count
            if self.is_async:
                self.scheduler.id_ring.get().push(self.completed_ids.data(), count)
        return self.num_completed >= wanted and self.inner.work_until(wanted, timeout_ns)

    cdef uint32_t num_finished(self) noexcept:
        return max(self.inner.num_finished(), self.num_completed)

    cdef tuple receive(self, uint32_t count):
        result = self.inner.receive(count)
        self.num_completed -= min(count, self.num_completed)
        return result

    cdef OpenBatch* batch(self) noexcept:
        return self.inner.batch()
