# An environment around another one, and memory for its observation.
from libc.math cimport NAN
from libc.stdint cimport uint8_t, uint32_t, uintptr_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from cpython.ref cimport PyObject
from libcpp.memory cimport make_shared

from cypool.env_methods cimport (copy_from_env, give_options, legal_env, load_env, observe_env, reset_env,
                                 seed_env, step_env, step_envs)
from cypool.util.constants cimport ALIGNMENT


cdef class Wrapper(Env):
    """Contains another environment and behaves like it, except where a subclass changes that.

    Args:
        spec: The `EnvSpec` of this one.
        env_id: Position in the pool.
        inner: The other environment.
    """

    prepares_steps = True

    def __init__(self, spec, int env_id, Env inner):
        if self.inner is not None:
            # its memory would be freed, which a thread may be using
            raise RuntimeError("the environment is already initialized")
        self.inner = inner
        # those of the other environment, which lives as long
        free(self.agents)
        self.agents = inner.agents

    def __dealloc__(self):
        self.agents = NULL

    cdef void lend(self) noexcept nogil:
        self.inner.elapsed_step = self.elapsed_step
        self.inner.needs_reset = self.needs_reset
        self.inner.reset_requested = self.reset_requested
        self.inner.reward = self.reward if self.agents != NULL else 0
        self.inner.terminated = self.inner.truncated = False
        self.inner.raw_reward = NAN

    cdef void fetch(self) noexcept nogil:
        self.elapsed_step = self.inner.elapsed_step
        self.reward = self.inner.reward
        self.terminated = self.inner.terminated
        self.truncated = self.inner.truncated
        self.raw_reward = self.inner.raw_reward

    cdef int reset(self) except -1 nogil:
        self.lend()
        reset_env(<PyObject*>self.inner)
        self.fetch()
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.lend()
        step_env(<PyObject*>self.inner, action)
        self.fetch()
        return 0

    cdef bint prepare_pool(self, list envs) except -1:
        cdef Wrapper env
        # a kernel would write rows of another environment
        if not self.inner.prepares_steps or any(type(each) is not type(self) for each in envs):
            return False
        inner = []
        for env in envs:
            inner.append(env.inner)
        if not self.inner.prepare_pool(inner):
            return False
        self.pool = make_shared[EnvList]()
        for env in envs:
            self.pool.get().push_back(<PyObject*>env)
            env.pool = self.pool
        return True

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        cdef PyObject* env
        cdef uint32_t k
        for k in range(rows.count):
            env = self.pool.get()[0][rows.ids[k]]
            (<Wrapper>env).lend()
            (<Wrapper>env).inner.observe_only = (<Wrapper>env).observe_only
        return step_envs(<PyObject*>self.inner, rows)

    cdef int observe(self, const Slot* out) except -1 nogil:
        self.lend()
        return observe_env(<PyObject*>self.inner, out)

    cdef int seed(self, object seed) except -1:
        seed_env(self.inner, seed)
        self._bit_generator, self.rng = self.inner._bit_generator, self.inner.rng
        return 0

    cdef object save(self):
        self.lend()
        return self.inner.save()

    cdef int load(self, object state) except -1:
        return load_env(self.inner, state)

    cdef void turn(self, Turn* out) noexcept nogil:
        self.inner.turn(out)
        if out.num_players == 1:
            # which a hook may have changed
            out.reward[0] = self.reward

    cdef int copy_from(self, Env other) except -1 nogil:
        # nothing is lent: others may read the other one at the same time
        return copy_from_env(<PyObject*>self.inner, <PyObject*>(<Wrapper>other).inner)

    @property
    def stepped_by(self):
        """How the other environment is stepped: see `stepped_by` of pools."""
        return getattr(self.inner, "stepped_by", None)

    cdef object render(self):
        self.lend()
        return self.inner.render()

    cdef int take_reset_options(self, dict options) except -1:
        return give_options(self.inner, options)

    cdef int legal(self, uint8_t* mask) except -1 nogil:
        return legal_env(<PyObject*>self.inner, mask)


cdef class Scratch:
    """One row outside of any batch, with zones around its parts.

    Args:
        spec: The spec of its observation and infos.
        zone: A function of the size of a part: the number of bytes before and after it.
    """

    def __init__(self, spec, zone):
        cdef size_t at = 0
        described = [part for _, part in spec.observations] + list(spec.info.values())
        self.num_obs = len(spec.observations)
        for part in described:
            size = part.dtype.itemsize
            for n in part.shape:
                size *= n
            around = -(-zone(size) // ALIGNMENT) * ALIGNMENT
            self.sizes.push_back(size)
            self.zones.push_back(around)
            self.offsets.push_back(at + around)
            at += around + <size_t>(-(-size // ALIGNMENT) * ALIGNMENT) + around
        self.memory.resize(at + ALIGNMENT)
        self.first = ALIGNMENT - <uintptr_t>self.memory.data() % ALIGNMENT
        for k in range(len(described)):
            self.offsets[k] += self.first
            self.parts.push_back(self.memory.data() + self.offsets[k])
        self.slot.obs = self.parts.data()
        self.slot.info = self.parts.data() + self.num_obs

    cdef void fill(self, char value) noexcept nogil:
        memset(self.memory.data(), value, self.memory.size())

    cdef void copy_obs(self, const Slot* row, const Slot* out) noexcept nogil:
        cdef int k
        for k in range(self.num_obs):
            memcpy(out.obs[k], row.obs[k], self.sizes[k])

    cdef void copy_info(self, const Slot* row, const Slot* out) noexcept nogil:
        cdef size_t k
        for k in range(self.sizes.size() - self.num_obs):
            memcpy(out.info[k], row.info[k], self.sizes[self.num_obs + k])
