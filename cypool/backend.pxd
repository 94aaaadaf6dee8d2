"""The contract of a backend: it steps the environments of a pool in place of threads, for example in processes."""
from libc.stdint cimport int32_t, int64_t, uint32_t


cdef class StepBackend:
    """Steps the environments of a pool. The pool calls all methods on the caller's thread, with the GIL."""
    cdef public object options           # of the resets in the next `submit`: a dict by env id, or None

    # starts the work of these environments: a step, a reset if `needs_reset`, nothing if `observe_only`. If it raises,
    # it has started none
    cdef int submit(self, const int32_t* ids, uint32_t count, const char* actions, bint same_step) except -1
    # waits for `wanted` submitted environments, writes their ids and returns how many are done: fewer after the timeout
    # or a signal. The engine then calls their `step` or `reset`, and `observe`, which take the results without a wait
    cdef int wait(self, int32_t* ids, int wanted, int64_t timeout_ns) except -1
    cdef object extra_infos(self, object env_ids)    # infos that are not arrays: a list of (row, info, final info)
    cdef bint forked(self) noexcept                  # whether this process is a fork of the one that made it
