"""The base class of backends. Its `.pxd` and the Python methods below are the contract."""


cdef class StepBackend:
    """Steps the environments of a pool outside of the pool's threads; see its `.pxd`."""

    @property
    def count(self):
        """The maximum number of environments stepped at the same time."""
        raise NotImplementedError("count")

    def pack_options(self, options):
        """Returns the options of a reset in the form that `submit` takes: by default unchanged."""
        return options

    def close(self):
        """Frees all resources. A second call does nothing."""
        raise NotImplementedError("close")

    cdef int submit(self, const int32_t* ids, uint32_t count, const char* actions, bint same_step) except -1:
        raise NotImplementedError("submit")

    cdef int wait(self, int32_t* ids, int wanted, int64_t timeout_ns) except -1:
        raise NotImplementedError("wait")

    cdef object extra_infos(self, object env_ids):
        raise NotImplementedError("extra_infos")

    cdef bint forked(self) noexcept:
        return False
