"""An environment whose actions are dicts."""
import numpy as np
from cypool.spec import Array, Discrete, EnvSpec

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from cypool.env cimport Env, Slot, import_cypool, obs_row

import_cypool()


cdef class Levers(Env):
    """Shows the action; the reward is the lever's number and the first push, and lever 2 ends the episode."""
    cdef float[3] push
    cdef int64_t lever

    @staticmethod
    def describe():
        return EnvSpec(observation=Array((4,), np.float32, -1, 2),
                       action={"push": Array((3,), np.float32, -1, 1), "lever": Discrete(3)})

    cdef int reset(self) except -1 nogil:
        self.push[0] = self.push[1] = self.push[2] = self.lever = 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        memcpy(self.push, action, sizeof(self.push))
        # right behind, at no multiple of its size
        memcpy(&self.lever, <const char*>action + sizeof(self.push), sizeof(int64_t))
        self.reward = self.lever + self.push[0]
        self.terminated = self.lever == 2
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef float* shown = obs_row[float](out, 0)
        memcpy(shown, self.push, sizeof(self.push))
        shown[3] = <float>self.lever
        return 0
