"""An environment that fails on command in all ways that an engine has to survive, and a minimal one."""
import numpy as np
from cypool.spec import Array, Discrete, EnvSpec
from cypool.state import check_state

from libc.stdint cimport int64_t
from libcpp.atomic cimport atomic

from cypool.env cimport Env, Slot, import_cypool

import_cypool()

cdef extern from *:
    """
    #include <stdexcept>
    #include <sys/syscall.h>
    #include <thread>
    #include <unistd.h>
    static void cpp_throw() { throw std::runtime_error("thrown in C++"); }
    static void give_way() { std::this_thread::yield(); }
    static bool on_main_thread() { return syscall(SYS_gettid) == getpid(); }
    """
    void cpp_throw() except + nogil
    void give_way() noexcept nogil
    bint on_main_thread() noexcept nogil

# actions
GO, RAISE_STEP, CPP_THROW, RAISE_OBSERVE, WAIT, FAIL_NEXT_RESET, TERMINATE, TRUNCATE = range(8)

# which of save, load and render raise
broken = set()
# the function that a Caller calls
on_step = print

cdef atomic[int] gate_open
cdef atomic[int] main_passes
cdef atomic[int] running
cdef atomic[int] overlaps


def set_gate(bint is_open, bint passes=False):
    """Lets environments that wait continue, or makes the next ones wait.

    With `passes` those on the main thread wait only until there is one that waits on another thread.
    """
    main_passes.store(passes)
    gate_open.store(is_open)


def count_overlaps():
    """How often two threads were found in one environment."""
    return overlaps.load()


def num_waiting():
    """How many environments wait at the gate."""
    return running.load()


cdef class Trouble(Env):
    """Observes how many steps it has done (twice, in a dict); the action chooses a failure."""
    cdef double count
    cdef int64_t action
    cdef bint fail_reset
    cdef atomic[int] inside

    @staticmethod
    def describe(unused=None, brief=False):
        return EnvSpec(
            observation={"count": Array((2,), np.float64), "last": Discrete(8)},
            action=Discrete(8),
            info={"bytes": Array((3,), np.uint8)},
            brief_steps=brief,
        )

    cdef int reset(self) except -1 nogil:
        self.count = 0
        self.action = 0
        if self.fail_reset:
            self.fail_reset = False
            raise OSError("no reset today")
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        if self.inside.fetch_add(1) != 0:
            overlaps.fetch_add(1)
        self.count += 1
        self.reward = self.count
        self.action = (<const int64_t*>action)[0]
        if self.action == 4 and main_passes.load() and on_main_thread():
            while gate_open.load() == 0 and running.load() == 0:
                give_way()
        elif self.action == 4:
            running.fetch_add(1)
            while gate_open.load() == 0:
                give_way()
            running.fetch_sub(1)
        self.fail_reset = self.action == 5
        self.terminated = self.action in (5, 6)
        self.truncated = self.action in (5, 7)
        self.inside.fetch_sub(1)
        if self.action == 1:
            raise ValueError("raised in step")
        if self.action == 2:
            cpp_throw()
        return 0

    cdef object save(self):
        if "save" in broken:
            raise LookupError("raised in save")
        return self.count, self.action, self.fail_reset

    cdef int load(self, object state) except -1:
        # half of it, then the trouble
        self.count, action, fail_reset = check_state(state, float, (0, 7), bool)
        if "load" in broken:
            raise OSError("raised in load")
        self.action, self.fail_reset = action, fail_reset
        return 0

    cdef object render(self):
        if "render" in broken:
            raise ArithmeticError("raised in render")
        return np.full((2, 3, 3), (self.env_id, self.count, self.action), np.uint8)

    cdef int observe(self, const Slot* out) except -1 nogil:
        if self.action == 3:
            raise KeyError("raised in observe")
        (<double*>out.obs[0])[0] = self.count
        (<double*>out.obs[0])[1] = -self.count
        (<int64_t*>out.obs[1])[0] = self.action
        (<unsigned char*>out.info[0])[0] = 1
        (<unsigned char*>out.info[0])[1] = 2
        (<unsigned char*>out.info[0])[2] = self.env_id
        return 0


cdef class Bare(Env):
    """Nothing to see, and nothing that can be left out: it has no save, load or render."""

    @staticmethod
    def describe():
        return EnvSpec(observation=Array((1,), np.float64), action=Discrete(2))

    cdef int reset(self) except -1 nogil:
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        (<double*>out.obs[0])[0] = 0
        return 0


cdef class Caller(Bare):
    """Calls a Python function, with the environment's id, in each step."""

    cdef int step(self, const void* action) except -1 nogil:
        with gil:
            on_step(self.env_id)
        self.reward = 1
        return 0
