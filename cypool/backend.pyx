"""The base class of backends; its `.pxd` is the contract."""


cdef class StepBackend:
    """Steps the environments of a pool outside the pool's threads; see its `.pxd`."""

    @property
    def count(self):
        """How many environments are stepped at a time, at most."""
        raise NotImplementedError("count")

    def pack_options(self, options):
        """Returns the options of a reset in the form that `submit` takes: by default as they are."""
        return options

    def close(self):
        """Frees all that it uses. A second call does nothing."""
        raise NotImplementedError("close")

    cdef int submit(self, const int32_t* ids, uint32_t count, const char* actions, bint same_step) except -1:
        raise NotImplementedError("submit")

    cdef int wait(self, int32_t* ids, int wanted, int64_t timeout_ns) except -1:
        raise NotImplementedError("wait")

    cdef object extra_infos(self, object env_ids):
        raise NotImplementedError("extra_infos")

    cdef bint forked(self) noexcept:
        return False
