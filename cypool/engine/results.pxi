# The result of a finished batch: its arrays, in the structure of the spec.
cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy, memset
from libcpp.memory cimport make_unique, unique_ptr

cimport numpy as cnp

from cypool.backend cimport StepBackend
from cypool.env cimport Env

cnp.import_array()


cdef bint _any(cnp.ndarray terminated, cnp.ndarray truncated, uint32_t count):
    """Whether an episode ended."""
    return (memchr(cnp.PyArray_DATA(terminated), True, count) != NULL
            or memchr(cnp.PyArray_DATA(truncated), True, count) != NULL)


@cython.final
cdef class Results:
    """Assembles the arrays of batches.

    Args:
        spec: The environments' spec.
        layout: The layout of the batches.
        backend: Steps the environments, or None.
    """
    cdef BatchLayout layout
    cdef list obs_keys                   # None for an observation that has no parts
    cdef bint obs_is_tuple
    cdef list info_keys
    cdef bint has_agents                 # several act in each environment
    cdef object spec                     # where it has to pack the observation, else None
    cdef StepBackend backend             # steps the environments, or None
    cdef Block last                      # of the batch put together last, or None
    cdef uint32_t last_count             # rows of it that count

    def __init__(self, spec, BatchLayout layout, StepBackend backend):
        self.layout = layout
        self.backend = backend
        self.obs_keys = [key for key, _ in spec.observations]
        self.obs_is_tuple = isinstance(spec.observation, tuple)
        self.info_keys = list(spec.info)
        self.has_agents = len(layout.groups) > 0
        self.spec = spec if spec.has_nested_observation else None

    cdef tuple assemble(self, Block block, uint32_t count, tuple out):
        """Observation, reward, terminated, truncated and info of a batch.

        Args:
            block: Holds the batch.
            count: Number of its valid rows.
            out: The user's arrays that were filled instead of the block's, or None.
        """
        cdef list arrays = block.arrays
        cdef int k, n = self.layout.num_columns
        self.last, self.last_count = block, count
        if count < <uint32_t>block.layout.num_rows:
            arrays = [array[:count] for array in arrays]
        if out is not None:
            # the user's arrays are of the right length already
            arrays = [*out[:self.layout.num_obs], *arrays[self.layout.num_obs:n],
                      *out[self.layout.num_obs:], *arrays[n + NUM_FLAGS:]]
        obs = self.observation(arrays, 0)
        info = {"env_id": arrays[n + ENV_ID], "elapsed_step": arrays[n + ELAPSED_STEP]}
        if self.backend is not None:
            extra_infos = self.backend.extra_infos(info["env_id"])
            if extra_infos:
                info["extra_infos"] = extra_infos
        for k in range(self.layout.num_obs, n):
            info[self.info_keys[k - self.layout.num_obs]] = arrays[k]
        if self.layout.has_finals:
            info["final"] = self.finals(arrays)
        if self.layout.has_statistics and count > 0 and _any(arrays[n + TERMINATED], arrays[n + TRUNCATED], count):
            k = self.layout.first_statistic
            info["episode"] = {"r": arrays[k], "l": arrays[k + 1], "t": arrays[k + 2]}
            info["_episode"] = arrays[n + TERMINATED] | arrays[n + TRUNCATED]
        if self.has_agents:
            info["agents"] = {group.name: self.of_group(group, arrays) for group in self.layout.groups}
            if "episode" in info:
                info["episode"]["agents"] = {
                    group.name: {"r": arrays[group.episode_return], "l": arrays[group.episode_length]}
                    for group in self.layout.groups}
        return obs, arrays[n], arrays[n + TERMINATED], arrays[n + TRUNCATED], info

    cdef tuple observe(self, Scheduler scheduler, const int32_t* ids, uint32_t count):
        """Observes environments on the caller's thread, into fresh memory; returns observation and info."""
        cdef Block block = Block(self.layout.with_rows(count))
        cdef unique_ptr[OpenBatch] batch = make_unique[OpenBatch]()
        cdef PyObject* env
        cdef uint32_t k
        block.open_on(batch.get())
        memset(batch.get().kind, ROW_NO_STEP, count)
        for k in range(count):
            env = scheduler.envs[ids[k]]
            observe_to_row(scheduler, env, batch.get(), batch.get().columns, k)
            if scheduler.has_agents:
                write_no_step(env, batch.get(), k)
            batch.get().env_id[k] = ids[k]
            batch.get().elapsed_step[k] = (<Env>env).elapsed_step
        obs, _, _, _, info = self.assemble(block, count, None)
        return obs, info

    cdef dict of_group(self, GroupColumns group, list arrays):
        """Returns the columns of a group of agents, by name."""
        cdef dict columns = {"reward": arrays[group.reward], "terminated": arrays[group.terminated],
                             "truncated": arrays[group.truncated]}
        if group.acted >= 0:
            columns["acted"], columns["alive"] = arrays[group.acted], arrays[group.alive]
        return columns

    cdef object rows_of(self, RowKind kind):
        """Returns which of the rows assembled last are of a kind: bool, a copy."""
        cdef cnp.npy_intp size = self.last_count, k = 0
        cdef cnp.ndarray rows
        cdef uint8_t* flags
        cdef const uint8_t* kinds
        cdef uint64_t ones = 0x0101010101010101, word
        if self.last is None:
            raise RuntimeError("no batch has been received yet")
        rows = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_BOOL)
        flags, kinds = <uint8_t*>cnp.PyArray_DATA(rows), self.last.kinds()
        # a rollout has many rows: eight at a time
        while k + 8 <= size:
            memcpy(&word, kinds + k, 8)
            word ^= ones * kind
            word = ((word | word >> 1) & ones) ^ ones
            memcpy(flags + k, &word, 8)
            k += 8
        for k in range(k, size):
            flags[k] = kinds[k] == kind
        return rows

    cdef object observation(self, list arrays, int first):
        """The observation whose parts begin at `arrays[first]`."""
        cdef int k
        if self.obs_keys[0] is None:
            return arrays[first]
        if self.spec is not None:
            return self.spec.pack(arrays[first:first + self.layout.num_obs])
        if self.obs_is_tuple:
            return tuple(arrays[first:first + self.layout.num_obs])
        return {key: arrays[first + k] for k, key in enumerate(self.obs_keys)}

    cdef tuple finals(self, list arrays):
        """The same observation and info arrays of the episodes that ended, for the rows that are flagged."""
        cdef int k, n = self.layout.num_columns, first = self.layout.first_final
        obs = self.observation(arrays, first)
        info = {"elapsed_step": arrays[first + n]}
        for k in range(self.layout.num_obs, n):
            info[self.info_keys[k - self.layout.num_obs]] = arrays[first + k]
        return obs, info
