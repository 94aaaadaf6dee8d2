"""Whole environments outside cypool's tree: sound ones, and ones that break the contract on command."""
import numpy as np
from cypool.spec import Array, Discrete, EnvSpec
from cypool.state import check_state

from libc.math cimport NAN, cos
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memmove, memset

from cypool.env cimport Env, Slot, discrete_action, import_cypool, info_row, obs_row
from cypool.random cimport uniform

import_cypool()

cdef int64_t steps_of_all = 0


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


cdef class Pretender(Env):
    """Differs as `fault` says."""
    cdef double position, velocity, gravity
    cdef bint starts_off, pays_more, ends_early, draws_more

    @staticmethod
    def describe(fault="nothing"):
        speed = 0.08 if fault == "space" else 0.07
        return EnvSpec(observation=Array((2,), np.float32, [-1.2, -speed], [0.6, speed]), action=Discrete(3))

    def __init__(self, spec, env_id):
        fault = spec.options["fault"]
        self.gravity = 0.0025 * (1 + 1e-7) if fault == "gravity" else 0.0025
        self.starts_off = fault == "start"
        self.pays_more = fault == "reward"
        self.ends_early = fault == "end"
        self.draws_more = fault == "stream"

    cdef int reset(self) except -1 nogil:
        self.position = uniform(self.rng, -0.6, -0.4)
        # the sign of a zero is a bit too
        self.velocity = -0.0 if self.starts_off and self.env_id == 1 else 0.0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.velocity += <double>((<const int64_t*>action)[0] - 1) * 0.001 - cos(3 * self.position) * self.gravity
        self.velocity = min(max(self.velocity, -0.07), 0.07)
        self.position = min(max(self.position + self.velocity, -1.2), 0.6)
        if self.position == -1.2 and self.velocity < 0:
            self.velocity = 0
        self.terminated = self.position >= 0.5 or (self.ends_early and self.elapsed_step == 30 and self.env_id == 1)
        self.reward = -2 if self.pays_more and self.env_id == 2 and self.elapsed_step == 50 else -1
        if self.draws_more and self.env_id == 3 and self.elapsed_step == 60:
            uniform(self.rng, 0, 1)
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        (<float*>out.obs[0])[0] = <float>self.position
        (<float*>out.obs[0])[1] = <float>self.velocity
        return 0

    cdef object save(self):
        return self.position, self.velocity


cdef class Careless(Env):
    """Counts its steps, with the error that `fault` names."""
    cdef int64_t steps, seen
    cdef bint too_long, too_short, too_early, in_info, fickle, outside, endless, unsteady, forgetful, locked
    cdef bint untimely, beyond, before, no_such_info, half_copied, unchecked

    @staticmethod
    def describe(fault="none"):
        stack = (0, 3) if fault == "unstacked" else None
        return EnvSpec(observation={"steps": Array((3,), np.int16, 0, 1000, stack), "last": Discrete(2)},
                       action=Discrete(2), info={"steps": Array((2,), np.float32)})

    def __init__(self, spec, env_id):
        fault = spec.options["fault"]
        self.too_long = fault == "too long"
        self.too_short = fault == "too short"
        self.too_early = fault == "too early"
        self.in_info = fault == "in info"
        self.fickle = fault == "fickle"
        self.outside = fault == "outside"
        self.endless = fault == "endless"
        self.unsteady = fault == "unsteady"
        self.forgetful = fault == "forgetful"
        self.locked = fault == "locked"
        self.untimely = fault == "untimely"
        self.beyond = fault == "beyond"
        self.before = fault == "before"
        self.no_such_info = fault == "no such info"
        self.half_copied = fault == "half copied"
        self.unchecked = fault == "unchecked"

    cdef int reset(self) except -1 nogil:
        # knows whether the user asked for this reset
        self.steps = 5 if self.untimely and self.reset_requested else 0
        self.seen = 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        global steps_of_all
        self.steps += 1
        steps_of_all += 1
        self.reward = discrete_action(action)
        if self.endless and self.steps == 7:
            self.reward = NAN
        if self.locked and self.steps == 7:
            self.count_with_gil()
        return 0

    cdef int count_with_gil(self) except -1 with gil:
        self.steps = len(list(range(self.steps)))
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef short* steps = obs_row[short](out, 0)
        cdef int k
        self.seen += 1
        for k in range(3 - self.too_short):
            steps[k] = <short>self.steps
        if self.too_long:
            steps[3] = 1
        if self.too_early:
            steps[-1] = 1
        if self.fickle:
            steps[0] = <short>self.seen
        if self.outside and self.steps == 9:
            steps[1] = -1
        if self.unsteady:
            steps[2] = <short>(steps_of_all % 1000)
        obs_row[int64_t](out, 2 if self.beyond else -1 if self.before else 1)[0] = self.steps % 2
        if self.no_such_info:
            info_row[float](out, 1)[0] = 1
        if self.in_info:
            # doubles, where describe says floats
            info_row[double](out, 0)[0] = info_row[double](out, 0)[1] = 1.5
        else:
            info_row[float](out, 0)[0] = info_row[float](out, 0)[1] = <float>self.steps
        return 0

    cdef object save(self):
        return (0 if self.forgetful else self.steps,)

    cdef int load(self, object state) except -1:
        if self.unchecked:
            self.steps = state[0]
            return 0
        self.steps, = check_state(state, (0, 2**62))
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        if not self.half_copied:
            self.steps = (<Careless>other).steps
        return 0


cdef class Returns(Env):
    """An environment one of whose methods returns another number than 0, without an exception."""
    cdef int resets, steps, observes, loads, copies, seeds, options

    @staticmethod
    def describe(method="none", number=-1):
        return EnvSpec(observation=Discrete(2), action=Discrete(2), max_seed=None)

    def __init__(self, spec, env_id):
        method, number = spec.options["method"], spec.options["number"]
        self.resets = number if method == "reset" else 0
        self.steps = number if method == "step" else 0
        self.observes = number if method == "observe" else 0
        self.loads = number if method == "load" else 0
        self.copies = number if method == "copy_from" else 0
        self.seeds = number if method == "seed" else 0
        self.options = number if method == "take_reset_options" else 0

    cdef int reset(self) except -1 nogil:
        return self.resets

    cdef int step(self, const void* action) except -1 nogil:
        return self.steps

    cdef int observe(self, const Slot* out) except -1 nogil:
        obs_row[int64_t](out, 0)[0] = 1
        return self.observes

    cdef int seed(self, object seed) except -1:
        Env.seed(self, seed)
        return self.seeds

    cdef object save(self):
        return ()

    cdef int load(self, object state) except -1:
        return self.loads

    cdef int copy_from(self, Env other) except -1 nogil:
        return self.copies

    cdef int take_reset_options(self, dict options) except -1:
        return self.options


class Near:
    """Goals that are numbers."""

    def compute_reward(self, achieved, desired):
        return -np.abs(achieved - desired).sum(axis=-1)

    def compute_terminated(self, achieved, desired):
        return np.abs(achieved - desired).sum(axis=-1) < 3


cdef class Frames(Env):
    """Shows how many steps and resets there were, in stacks of several kinds. A reset writes frames, too."""
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
        # the first frames come without steps
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
