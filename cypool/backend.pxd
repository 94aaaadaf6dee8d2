"""The contract of a backend: it steps environments outside the pool, and the pool's threads do not."""
from libc.stdint cimport int32_t, int64_t, uint32_t


cdef class StepBackend:
    """Steps the environments of a pool. The pool calls all methods on the caller's thread, with the GIL."""
    cdef public object options           # of the resets that are submitted: a dict by env id, or None

    # for each id: start a step, a reset if `needs_reset`, nothing if `observe_only`; it must not raise half way
    cdef int submit(self, const int32_t* ids, uint32_t count, const char* actions, bint same_step) except -1
    # waits until `wanted` submitted environments are done, writes their ids and returns their number, which is smaller
    # after the timeout or a signal. The engine then steps (or resets) and observes them, which must not wait
    cdef int wait(self, int32_t* ids, int wanted, int64_t timeout_ns) except -1
    cdef object extra_infos(self, object env_ids)    # infos that are no arrays: a list of (row, info, final info)
    cdef bint forked(self) noexcept                  # whether this process is a fork of the one that made it
