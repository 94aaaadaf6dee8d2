"""A whole environment outside cypool's tree."""
import numpy as np
from cypool.spec import Array, Discrete, EnvSpec
from cypool.state import check_state

from libc.stdint cimport int32_t, int64_t

from cypool.env cimport Env, Slot, import_cypool
from cypool.random cimport uniform

import_cypool()


cdef class Walk(Env):
    """Steps left, stays or steps right on a line; the episode ends `limit` away from the origin."""
    cdef int limit
    cdef double position
    cdef int32_t visits

    @staticmethod
    def describe(limit=3):
        return EnvSpec(
            observation=Array((1,), np.float32, -limit - 1, limit + 1),
            action=Discrete(3),
            info={"visits": Array((), np.int32)},
        )

    def __init__(self, spec, env_id):
        self.limit = spec.options["limit"]

    cdef int reset(self) except -1 nogil:
        self.position = uniform(self.rng, -0.5, 0.5)
        self.visits = 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.position += (<const int64_t*>action)[0] - 1
        self.visits += 1
        self.reward = abs(self.position)
        self.terminated = abs(self.position) >= self.limit
        return 0

    cdef object save(self):
        return self.position, self.visits

    cdef int load(self, object state) except -1:
        self.position, self.visits = check_state(state, float, (0, 2**31 - 1))
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        self.position, self.visits = (<Walk>other).position, (<Walk>other).visits
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        (<float*>out.obs[0])[0] = <float>self.position
        (<int32_t*>out.info[0])[0] = self.visits
        return 0
