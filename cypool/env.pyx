"""The base class of every environment; its `.pxd` is the contract."""
cimport cython
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.limits cimport INT_MAX
from libc.stdlib cimport free
from libc.string cimport memset

from cypool.util.arguments import NoOptionsError
from cypool.util.constants cimport ALIGNMENT

from numpy.random import PCG64

cdef extern from "<cstdlib>" namespace "std" nogil:
    void* aligned_alloc(size_t alignment, size_t size) noexcept

cdef enum:
    FLAGS_OF_WORD = 8            # the engine looks at flags word by word, and zeros lie behind the last agent's

ABI = CYPOOL_ABI


cdef Agents* new_agents(spec) except NULL:
    """Returns zeroed memory for an environment's agents, on separate cache lines; the caller frees it."""
    cdef size_t count = spec.num_agents
    # rewards and six kinds of flags, each in whole words; then returns and lengths
    cdef size_t of_flags = (count + FLAGS_OF_WORD - 1) // FLAGS_OF_WORD * FLAGS_OF_WORD
    cdef size_t step_size = count * sizeof(double) + 6 * of_flags
    cdef size_t size = step_size + count * (sizeof(double) + sizeof(int64_t))
    cdef size_t head = (sizeof(Agents) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    cdef size_t whole = head + (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    cdef char* data = <char*>aligned_alloc(ALIGNMENT, whole)
    if data == NULL:
        raise MemoryError(f"{count} agents")
    memset(data, 0, whole)
    cdef Agents* agents = <Agents*>data
    data += head
    agents.count = <uint32_t>count
    agents.reward = <double*>data
    agents.terminated = <uint8_t*>(agents.reward + count)
    agents.truncated = agents.terminated + of_flags
    agents.alive = agents.truncated + of_flags
    agents.acted = agents.alive + of_flags
    agents.present = agents.acted + of_flags
    agents.turn = agents.present + of_flags if spec.turns else NULL
    agents.episode_return = <double*>(data + step_size)
    agents.episode_length = <int64_t*>(agents.episode_return + count)
    return agents


cdef class Env:
    """Base of every environment: subclass it in Cython and implement `reset`, `step` and `observe`.

    A subclass also has a static method `describe(**options)` that returns an `EnvSpec`: its observations and actions.
    Its keyword arguments and their defaults are the environment's options for `cypool.make`.

    Args:
        spec: The `EnvSpec` that the environment is created from, including its options.
        env_id: Position in the pool, starting at 0.

    Thread safety: any thread, one at a time.
    """
    # whether a step may be longer than its spec says
    calls_user_code = False
    # whether `step_many` does work of the steps ahead, and leaves each to `step`: it reads ids and actions, writes no
    # rows, which need not be neighbours, and serves in all kinds of pools
    prepares_steps = False

    def __cinit__(self, spec, int env_id, *_):
        # further arguments go to the __init__ of a subclass
        self.spec = spec
        self.env_id = env_id
        limit = spec.max_episode_steps
        self.max_episode_steps = INT_MAX if limit is None else limit
        self.needs_reset = True
        if spec.agents:
            self.agents = new_agents(spec)

    def __dealloc__(self):
        free(self.agents)

    cdef int reset(self) except -1 nogil:
        raise NotImplementedError("reset")

    cdef int step(self, const void* action) except -1 nogil:
        raise NotImplementedError("step")

    cdef int observe(self, const Slot* out) except -1 nogil:
        raise NotImplementedError("observe")

    cdef int seed(self, object seed) except -1:
        # the stream of Gymnasium's np_random: PCG64 over SeedSequence(seed)
        self._bit_generator = PCG64(seed)
        self.rng = <const Rng*>PyCapsule_GetPointer(self._bit_generator.capsule, "BitGenerator")
        return 0

    cdef object save(self):
        raise NotImplementedError(f"{type(self).__name__} does not implement save")

    cdef int load(self, object state) except -1:
        raise NotImplementedError(f"{type(self).__name__} does not implement load")

    cdef object render(self):
        raise NotImplementedError(f"{type(self).__name__} does not implement render")

    cdef bint prepare_pool(self, list envs) except -1:
        return False

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        raise NotImplementedError("step_many")

    cdef int copy_from(self, Env other) except -1 nogil:
        with gil:
            # other threads may copy the same one at this moment
            with cython.critical_section(other):
                state = other.save()
            self.load(state)
        return 0

    cdef int take_reset_options(self, dict options) except -1:
        raise NoOptionsError(f"options: expected only reset_mask ({self.spec.id} has no reset options), got "
                             f"{list(options)}")

    cdef int legal(self, uint8_t* mask) except -1 nogil:
        raise NotImplementedError("legal")

    cdef void turn(self, Turn* out) noexcept nogil:
        out.num_players, out.reward[0] = 1, self.reward
