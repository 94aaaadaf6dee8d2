# An environment whose reward or observation is the user's: C functions that run where the environment runs.
from libc.math cimport NAN, isnan
from libc.stdint cimport uint32_t, uintptr_t
from libc.string cimport memset

from cypool.env cimport Env, Slot
from cypool.hooks cimport Hook, Transition


cdef class Hooked(Wrapper):
    """Calls hooks for each observation.

    Args:
        spec: The spec with the observation that the observation hook writes.
        env_id: Position in the pool.
        inner: The environment.
        reward: `cypool.hooks.CHook`, called after each step of an episode; or None.
        observation: `cypool.hooks.CHook`, called to write a row; or None.
    """
    calls_user_code = True
    cdef Hook reward_hook, observation_hook
    cdef tuple owners                # of the hooks' code
    cdef Scratch even, odd           # own the memory of the next two
    cdef Slot now, before            # the environment's observation
    cdef bint has_observed           # `now` is up to date

    def __init__(self, spec, int env_id, Env inner, reward, observation):
        super().__init__(spec, env_id, inner)
        self.owners = (reward, observation)
        if reward is not None:
            self.reward_hook = <Hook><uintptr_t>reward.address
        if observation is not None:
            self.observation_hook = <Hook><uintptr_t>observation.address
        self.even, self.odd = Scratch(inner.spec, lambda size: 0), Scratch(inner.spec, lambda size: 0)
        self.now, self.before = self.even.slot, self.odd.slot

    cdef int observe_inner(self) except -1 nogil:
        if not self.has_observed:
            Wrapper.observe(self, &self.now)
            self.has_observed = True
        return 0

    cdef int reset(self) except -1 nogil:
        self.has_observed = False
        return Wrapper.reset(self)

    cdef int step(self, const void* action) except -1 nogil:
        cdef Transition seen
        cdef double reward
        self.observe_inner()
        self.has_observed = False
        Wrapper.step(self, action)
        if self.reward_hook == NULL:
            return 0
        self.now, self.before = self.before, self.now
        self.observe_inner()
        self.fill_transition(&seen)
        seen.before = <const void**>self.before.obs
        seen.action = action
        reward = self.total_reward()
        seen.reward, seen.terminated, seen.truncated = reward, self.terminated, self.truncated
        self.reward_hook(&seen)
        # a hook may change the agents' rewards instead: then the engine adds them up
        if self.agents == NULL or seen.reward != reward:
            self.reward = seen.reward
        self.terminated, self.truncated = seen.terminated != 0, seen.truncated != 0
        # the episode's return counts the hook's reward
        self.raw_reward = NAN
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef Transition seen
        self.observe_inner()
        self.even.copy_info(&self.now, out)
        if self.observation_hook == NULL:
            self.even.copy_obs(&self.now, out)
            return 0
        self.fill_transition(&seen)
        seen.out = <void**>out.obs
        self.observation_hook(&seen)
        return 0

    cdef int load(self, object state) except -1:
        # also if it fails: an environment of others may have taken a part
        self.has_observed = False
        return Wrapper.load(self, state)

    cdef int copy_from(self, Env other) except -1 nogil:
        self.has_observed = False
        return Wrapper.copy_from(self, other)

    cdef double total_reward(self) noexcept nogil:
        """The environment's reward, which may be the sum of its agents'."""
        cdef double total = 0
        cdef uint32_t k
        if self.agents == NULL or not isnan(self.reward):
            return self.reward
        for k in range(self.agents.count):
            total += self.agents.reward[k]
        return total

    cdef void fill_transition(self, Transition* seen) noexcept nogil:
        memset(seen, 0, sizeof(Transition))
        seen.obs = <const void**>self.now.obs
        seen.info = <const void**>self.now.info
        seen.env_id, seen.elapsed_step = self.env_id, self.elapsed_step
        seen.agents = self.agents
