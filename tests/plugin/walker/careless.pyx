"""An environment that breaks the contract, in one way at a time."""
import numpy as np
from cypool.spec import Array, Discrete, EnvSpec
from cypool.state import check_state

from libc.math cimport NAN
from libc.stdint cimport int64_t

from cypool.env cimport Env, Slot, discrete_action, import_cypool, info_row, obs_row

import_cypool()

cdef int64_t steps_of_all = 0


cdef class Careless(Env):
    """Counts its steps, but for what `fault` says."""
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
