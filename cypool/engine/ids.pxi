# Which environments a call names, and which of them are in flight.
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libcpp.vector cimport vector

cimport numpy as cnp


from cypool.env cimport Env

cnp.import_array()


cdef enum Purpose:                   # the purpose of a call that names environments
    STEP
    ANY                              # reset, load, ask: environments need not have been reset before
    INSPECT                          # save, render, sample_legal: they must have been
    REPLACE                          # by copies

cdef int check_array(str name, cnp.ndarray ids) except -1:
    if cnp.PyArray_TYPE(ids) != cnp.NPY_INT32 or not cnp.PyArray_ISCARRAY_RO(ids):
        raise TypeError(f"{name}: expected a C-contiguous array of int32, got {ids.dtype}, shape {(<object>ids).shape}")
    return 0


@cython.final
cdef class IdTracker:
    """Checks ids and tracks the state of each environment.

    Args:
        num_envs: Number of environments of the pool.
        is_async: Whether a call may name some environments while others are in flight.

    Thread safety: the pool's caller only.
    """
    cdef int num_envs
    cdef bint is_async
    cdef uint32_t pending            # rows sent and not received
    cdef vector[int32_t] all_ids     # 0, 1, 2, ...
    cdef vector[int32_t] named_ids   # of the call under way
    cdef vector[int32_t] source_ids  # of the call under way
    cdef vector[int32_t] last_ids    # of the last batch received, in an asynchronous pool
    cdef vector[uint8_t] in_flight   # in an asynchronous pool
    cdef vector[uint8_t] is_started  # 1: reset, loaded or made a copy at least once
    cdef int num_unstarted
    cdef vector[uint64_t] stamps     # the last call that named this env
    cdef uint64_t stamp

    def __cinit__(self, int num_envs, bint is_async):
        cdef int k
        self.num_envs = self.num_unstarted = num_envs
        self.is_async = is_async
        self.in_flight.resize(num_envs)
        self.is_started.resize(num_envs)
        self.stamps.resize(num_envs)
        for k in range(num_envs):
            self.all_ids.push_back(k)
        self.named_ids.reserve(num_envs)
        self.source_ids.reserve(num_envs)
        self.last_ids.reserve(num_envs)

    cdef const int32_t* check(self, Scheduler scheduler, cnp.ndarray env_ids, Purpose purpose,
                              uint32_t* count, bint discards=False) except NULL:
        """Returns the ids of the environments that a call names, checked; they are valid until the next call.

        `discards`: whether the call throws away environments in flight.
        """
        cdef const int32_t* ids
        cdef int32_t env_id
        cdef uint32_t k
        name = "target" if purpose == REPLACE else "env_id"
        if env_ids is None:
            if self.is_async and purpose == STEP:
                ids, count[0] = self.last_ids.data(), <uint32_t>self.last_ids.size()
                if count[0] == 0:
                    raise RuntimeError("no batch has been received since the last send: pass env_id")
            else:
                ids, count[0] = self.all_ids.data(), <uint32_t>self.num_envs
        else:
            check_array(name, env_ids)
            ids = <const int32_t*>cnp.PyArray_DATA(env_ids)
            if cnp.PyArray_SIZE(env_ids) == 0:
                raise ValueError(f"{name}: expected at least one id, got none")
            self.stamp += 1
            self.named_ids.clear()
            for k in range(<uint32_t>cnp.PyArray_SIZE(env_ids)):
                env_id = ids[k]
                if not 0 <= env_id < self.num_envs:
                    raise ValueError(f"{name}: expected ids in [0, {self.num_envs}), got {env_id}")
                if self.stamps[env_id] == self.stamp:
                    raise ValueError(f"{name}: expected each id once, got {env_id} twice")
                self.stamps[env_id] = self.stamp
                self.named_ids.push_back(env_id)
            # the caller's array may change at any time; these ids were checked
            ids, count[0] = self.named_ids.data(), <uint32_t>self.named_ids.size()
        if self.pending > 0 and not discards:
            if not self.is_async:
                raise RuntimeError(f"{self.pending} envs are in flight: call recv() first")
            for k in range(count[0]):
                if self.in_flight[ids[k]]:
                    raise RuntimeError(f"env {ids[k]} is in flight: call recv() until it comes back")
        if scheduler.autoreset == DISABLED and purpose == STEP:
            for k in range(count[0]):
                if (<Env>scheduler.envs[ids[k]]).needs_reset and self.is_started[ids[k]]:
                    raise RuntimeError(f"the episode of env {ids[k]} is over: reset it first")
        if self.num_unstarted > 0 and purpose in (STEP, INSPECT):
            for k in range(count[0]):
                if not self.is_started[ids[k]]:
                    raise RuntimeError(f"env {ids[k]} was never reset: call reset() first")
        return ids

    cdef const int32_t* check_sources(self, cnp.ndarray sources, uint32_t count) except NULL:
        """Checks the sources of the `count` environments that a call names; after `check`."""
        cdef const int32_t* ids = <const int32_t*>cnp.PyArray_DATA(sources)
        cdef uint32_t k, given = <uint32_t>cnp.PyArray_SIZE(sources)
        cdef int32_t env_id
        check_array("source", sources)
        if given != 1 and given != count:
            raise ValueError(f"source: expected a single id, or one for each of {count} targets, got {given}")
        self.source_ids.clear()
        for k in range(count):
            env_id = ids[k if given > 1 else 0]
            if not 0 <= env_id < self.num_envs:
                raise ValueError(f"source: expected ids in [0, {self.num_envs}), got {env_id}")
            if self.stamps[env_id] == self.stamp:
                raise ValueError(f"source: expected ids that are not in target, got {env_id} in both")
            if self.is_async and self.in_flight[env_id]:
                raise RuntimeError(f"env {env_id} is in flight: call recv() until it comes back")
            if not self.is_started[env_id]:
                raise RuntimeError(f"env {env_id} was never reset: call reset() first")
            self.source_ids.push_back(env_id)
        return self.source_ids.data()

    cdef void mark_started(self, int32_t env_id) noexcept:
        """Records that an environment may be stepped."""
        if not self.is_started[env_id]:
            self.is_started[env_id] = True
            self.num_unstarted -= 1

    cdef void send(self, const int32_t* ids, uint32_t count) noexcept:
        """Records that environments are in flight, in an asynchronous pool."""
        cdef uint32_t k
        self.pending += count
        for k in range(count):
            self.in_flight[ids[k]] = True
        # the ids may be these very ones: last
        self.last_ids.clear()

    cdef void receive(self, const int32_t* ids, uint32_t count) noexcept:
        """Records that a batch of environments was received, in an asynchronous pool."""
        cdef uint32_t k
        self.pending -= count
        self.last_ids.assign(ids, ids + count)
        for k in range(count):
            self.in_flight[ids[k]] = False
