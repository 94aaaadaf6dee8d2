# NChain.
import numpy as np

from cypool.envs.toy_text import specs
from cypool.state import check_state

from libc.stdint cimport int64_t

from cypool.env cimport Env, Slot
from cypool.random cimport uniform

cdef enum:
    CHAIN_PIXELS = 16                          # a side of one state, drawn
    MAX_STATES = 64                            # states in a picture


cdef class NChain(Env):
    """A chain of states: go one step forward (0), or back to the first state (1); sometimes the other action is taken.

    Follows EnvPool's `NChain-v0` in everything except the random numbers.

    Observation: `Discrete(n)`: the state.
    Reward: `large` for a step forward in the last state, which stays there; `small` for going back; else 0.
    Terminated: Never.
    """
    describe = staticmethod(specs.nchain)

    cdef int n
    cdef double slip
    cdef double small
    cdef double large
    cdef int state

    def __init__(self, spec, env_id):
        options = spec.options
        self.n, self.slip, self.small, self.large = options["n"], options["slip"], options["small"], options["large"]

    cdef int reset(self) except -1 nogil:
        self.state = 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef bint slips = uniform(self.rng, 0, 1) < self.slip
        cdef bint backward = ((<const int64_t*>action)[0] == 1) != slips
        if backward:
            self.state = 0
            self.reward = self.small
        elif self.state < self.n - 1:
            self.state += 1
        else:
            self.reward = self.large
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        (<int64_t*>out.obs[0])[0] = self.state
        return 0

    cdef object save(self):
        return (self.state,)

    cdef int load(self, object state) except -1:
        self.state, = check_state(state, (0, self.n - 1))
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        self.state = (<NChain>other).state
        return 0

    cdef object render(self):
        # of a longer chain the part around the state
        first = min(max(self.state - MAX_STATES // 2, 0), max(self.n - MAX_STATES, 0))
        chain = np.full((1, min(self.n, MAX_STATES), 3), 64, np.uint8)
        chain[0, self.state - first] = 255
        picture = chain.repeat(CHAIN_PIXELS, 0).repeat(CHAIN_PIXELS, 1)
        # a black line separates states
        picture[:, CHAIN_PIXELS - 1::CHAIN_PIXELS] = 0
        return picture
