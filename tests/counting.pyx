"""For interrupting.py: an environment whose observation says all that led there, and signals at a chosen moment."""
import numpy as np
from cypool.spec import Array, EnvSpec
from cypool.state import check_state

from libc.string cimport memcpy, memmove

from cypool.env cimport Env, Slot, import_cypool

import_cypool()

cdef extern from "Python.h":
    int PyErr_SetInterruptEx(int number)


cdef class Tracer:
    """A trace function, which has a signal come while a chosen instruction of Python is executed.

    It is no Python code, which would see the signal itself.

    Args:
        number: Of the signal.
        moment: Which instruction, counted from 1.

    Attributes:
        count: How many instructions were executed.
    """
    cdef int number
    cdef long moment
    cdef readonly long count

    def __init__(self, number, moment):
        self.number, self.moment = number, moment

    def __call__(self, frame, event, argument):
        if event == "call":
            frame.f_trace_lines, frame.f_trace_opcodes = False, True
        elif event == "opcode":
            self.count += 1
            if self.count == self.moment:
                PyErr_SetInterruptEx(self.number)
        return self


cdef class Count(Env):
    """Shows its last three counts of steps and resets, each with the action that led there; the reward is the action.

    A step adds 1, a reset 3. An action below 0 ends the episode; -1 raises; 1 ends it, and the next reset raises.
    """
    cdef float[3][2] frames
    cdef bint fails

    @staticmethod
    def describe():
        return EnvSpec(observation=Array((3, 2), np.float32, stack=(0, 3)), action=Array((1,), np.float32, -1, 1))

    def __init__(self, spec, env_id):
        self.frames[2][0] = 10_000 * env_id

    cdef void push(self, float action) noexcept nogil:
        memmove(self.frames, &self.frames[1], 2 * sizeof(self.frames[0]))
        self.frames[2][0], self.frames[2][1] = self.frames[1][0] + 1, action

    cdef int reset(self) except -1 nogil:
        cdef int _k
        if self.fails:
            self.fails = False
            raise OSError("no reset today")
        for _k in range(3):
            self.push(0)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef float given = (<const float*>action)[0]
        self.push(given)
        self.reward = given
        self.fails = given == 1
        self.terminated = given < 0 or given == 1
        if given == -1:
            raise ValueError("raised in step")
        return 0

    cdef object save(self):
        return (*[self.frames[k // 2][k % 2] for k in range(6)], self.fails)

    cdef int load(self, object state) except -1:
        *numbers, self.fails = check_state(state, *[float] * 6, bool)
        for k in range(6):
            self.frames[k // 2][k % 2] = numbers[k]
        return 0

    cdef int copy_from(self, Env source) except -1 nogil:
        memcpy(self.frames, (<Count>source).frames, sizeof(self.frames))
        self.fails = (<Count>source).fails
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        memcpy(out.obs[0], self.frames, sizeof(self.frames))
        return 0
