"""An environment of stacked frames with goals, whose steps fail and end on command."""
import numpy as np
from cypool.spec import Array, Discrete, EnvSpec

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memmove, memset

from cypool.env cimport Env, Slot, import_cypool

import_cypool()

# what the first part of an action does; others nothing
RAISE, FAIL_NEXT_RESET, TERMINATE, TRUNCATE = 1, 5, 6, 7


class Near:
    """Goals that are numbers."""

    def compute_reward(self, achieved, desired):
        return -np.abs(achieved - desired).sum(axis=-1)

    def compute_terminated(self, achieved, desired):
        return np.abs(achieved - desired).sum(axis=-1) < 3


cdef class Frames(Env):
    """Shows how many steps and resets there were, in stacks of several kinds. A reset writes frames of its own."""
    cdef double count
    cdef float[3][2] outer               # three frames in front
    cdef uint8_t[4][3][2] inner          # of four pixels, each with three frames of two colours
    cdef bint fails
    cdef size_t size

    @staticmethod
    def describe(stacks=True, size=1):
        return EnvSpec(
            observation={
                "achieved_goal": Array((1,), np.float64), "desired_goal": Array((1,), np.float64),
                "inner": Array((2, 2, 6), np.uint8, stack=(2, 3) if stacks else None),
                "outer": Array((3, 2), np.float32, stack=(0, 3) if stacks else None),
                "plain": Array((), np.int64), "wide": Array((size,), np.uint8)},
            action={"what": Discrete(8), "push": Array((2,), np.float32, -100, 100)},
            options={"stacks": stacks, "size": size}, goals=Near())

    def __init__(self, spec, env_id):
        self.size = spec.options["size"]

    cdef void push(self) noexcept nogil:
        cdef int k
        self.count += 1
        memmove(self.outer, &self.outer[1], 2 * sizeof(self.outer[0]))
        self.outer[2][0], self.outer[2][1] = <float>self.count, <float>-self.count
        for k in range(4):
            memmove(self.inner[k], &self.inner[k][1], 4)
            self.inner[k][2][0], self.inner[k][2][1] = <uint8_t>(self.count + k), <uint8_t>(7 * self.count)

    cdef int reset(self) except -1 nogil:
        cdef int _k
        if self.fails:
            self.fails = False
            raise OSError("no reset today")
        self.count = 1000 * (self.env_id + 1) + <int64_t>self.count % 1000
        # two that nobody sees the steps of
        for _k in range(3):
            self.push()
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef int64_t what = (<const int64_t*>action)[0]
        self.push()
        self.reward = self.count + (<const float*>(<const char*>action + 8))[0]
        self.fails = what == 5
        self.terminated = what in (5, 6)
        self.truncated = what in (5, 7)
        if what == 1:
            raise ValueError("raised in step")
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        (<double*>out.obs[0])[0] = self.count
        (<double*>out.obs[1])[0] = 10 * self.env_id
        memcpy(out.obs[2], self.inner, sizeof(self.inner))
        memcpy(out.obs[3], self.outer, sizeof(self.outer))
        (<int64_t*>out.obs[4])[0] = <int64_t>self.count
        memset(out.obs[5], <uint8_t>self.count, self.size)
        return 0
