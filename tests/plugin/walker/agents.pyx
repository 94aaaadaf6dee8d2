"""Environments in which several agents act, who die, come later and take turns."""
import numpy as np
from cypool.spec import Array, Discrete, EnvSpec, Group
from cypool.state import check_state

from libc.stdint cimport int64_t, uint32_t, uintptr_t
from libc.string cimport memcpy
from cpython.ref cimport PyObject
from libc.math cimport NAN

from cypool.env cimport STEP_ALONE, Env, Rows, Slot, import_cypool, obs_row
from cypool.hooks cimport Transition
from cypool.policies cimport Decision
from cypool.random cimport uniform

import_cypool()

cdef extern from "Python.h":
    PyObject* PyList_GET_ITEM(PyObject* items, Py_ssize_t k) noexcept nogil

cdef enum:
    RED = 3
    BLUE = 2
    ALL = 5


cdef class Crowd(Env):
    """Three agents `red`, who choose, and two `blue`, who push; `tests/engine/test_agents.py` has the same in Python.

    Each agent's reward is the sum of its action and a number by chance. By chance it is terminated or truncated, and
    one that is `late` comes. All that happens is observed by itself: a number for each agent.
    """
    cdef double[ALL] shown
    cdef bint leave, turns, raises, has_parts, has_state
    cdef double kill

    @staticmethod
    def describe(leave=True, turns=False, parts=False, state="observations", kill=0.1, raises=False):
        red = Array((3,), np.float64)
        blue = {"place": Array((2, 2), np.float64), "mood": Discrete(4)} if parts else Array((2, 2), np.float64)
        central = Array((ALL,), np.float64) if state == "own" else state
        return EnvSpec(agents={"red": Group(RED, red, Discrete(3)),
                               "blue": Group(BLUE, blue, Array((2,), np.float32, -1, 1))},
                       agents_leave=leave, turns=turns, state=central,
                       options={"leave": leave, "turns": turns, "parts": parts, "state": state, "kill": kill,
                                "raises": raises})

    def __init__(self, spec, env_id):
        self.leave, self.turns = spec.options["leave"], spec.options["turns"]
        self.kill, self.raises = spec.options["kill"], spec.options["raises"]
        self.has_parts, self.has_state = spec.options["parts"], spec.options["state"] == "own"

    cdef double draw(self) noexcept nogil:
        return uniform(self.rng, 0, 1)

    cdef void look(self) noexcept nogil:
        cdef int k
        for k in range(ALL):
            self.shown[k] = self.draw()

    cdef int reset(self) except -1 nogil:
        # true is any number but 0
        self.agents.alive[0] = 2
        if self.leave:
            # the last one comes later
            self.agents.alive[ALL - 1] = 0
        if self.turns:
            self.agents.turn[1] = self.agents.turn[3] = 0
        self.look()
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef const int64_t* choices = <const int64_t*>action
        cdef const float* pushes = <const float*>(choices + RED)
        cdef int k
        for k in range(ALL):
            if not self.agents.acted[k]:
                continue
            self.agents.reward[k] = self.draw() + (choices[k] if k < RED else <double>pushes[2 * (k - RED)])
            if self.leave and self.draw() < self.kill:
                self.agents.terminated[k] = 1
            elif self.leave and self.draw() < self.kill / 2:
                self.agents.truncated[k] = 1
        if self.leave and not self.agents.alive[ALL - 1] and self.elapsed_step == 3:
            self.agents.alive[ALL - 1] = 1
        if not self.leave and self.draw() < self.kill:
            self.terminated = True
        if self.turns:
            for k in range(ALL):
                self.agents.turn[k] = not self.agents.turn[k]
        self.look()
        if self.raises and self.shown[0] < 0.05:
            raise RuntimeError("no more")
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef int k, part
        cdef double* red = obs_row[double](out, 0)
        cdef double* blue = obs_row[double](out, 1)
        for k in range(RED):
            for part in range(3):
                red[3 * k + part] = self.shown[k] + part
        for k in range(BLUE):
            for part in range(4):
                blue[4 * k + part] = self.shown[RED + k] - part
        if self.has_parts:
            for k in range(BLUE):
                obs_row[int64_t](out, 2)[k] = <int64_t>(self.shown[RED + k] * 4)
        if self.has_state:
            memcpy(out.info[0], self.shown, sizeof(self.shown))
        return 0

    cdef object save(self):
        return tuple(self.shown)

    cdef int load(self, object state) except -1:
        self.shown = check_state(state, *[float] * ALL)
        return 0


cdef class Herd(Env):
    """One group of five agents that choose; with `together` steps of many environments are one call, or fail."""
    cdef double[3 * ALL] place
    cdef bint together, fails
    cdef list herd

    @staticmethod
    def describe(together=False, leave=True, fails=False):
        return EnvSpec(agents={"cow": Group(ALL, Array((3,), np.float64), Discrete(4))}, agents_leave=leave,
                       options={"together": together, "leave": leave, "fails": fails})

    def __init__(self, spec, env_id):
        self.together, self.fails = spec.options["together"], spec.options["fails"]

    cdef bint prepare_pool(self, list envs) except -1:
        cdef Herd env
        for env in envs:
            env.herd = envs
        return self.together

    cdef int reset(self) except -1 nogil:
        cdef int k, part
        for k in range(ALL):
            for part in range(3):
                self.place[3 * k + part] = uniform(self.rng, -1, 1)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef const int64_t* choices = <const int64_t*>action
        cdef int k
        for k in range(ALL):
            if self.agents.acted[k]:
                self.place[3 * k + choices[k] % 3] += uniform(self.rng, -1, 1)
                self.agents.reward[k] = self.place[3 * k]
                self.agents.terminated[k] = self.place[3 * k + 1] > 1.5
        self.truncated = self.place[2] > 1.5
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        memcpy(out.obs[0], self.place, sizeof(self.place))
        return 0

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        cdef uint32_t k
        cdef PyObject* env
        if self.fails and not self.needs_reset:
            with gil:
                raise MemoryError("herd")
        for k in range(rows.count):
            env = PyList_GET_ITEM(<PyObject*>self.herd, rows.ids[k])
            rows.reward[k] = NAN
            rows.terminated[k] = 0
            if (<Env>env).needs_reset:
                continue
            if rows.ids[k] % 3 == 0:
                rows.terminated[k] = STEP_ALONE
                continue
            (<Env>env).truncated = False
            (<Herd>env).step(rows.actions + rows.ids[k] * ALL * sizeof(int64_t))
            rows.truncated[k] = (<Env>env).truncated
            memcpy(<char*>rows.obs[0] + k * sizeof(self.place), (<Herd>env).place, sizeof(self.place))
        return 0


# hooks and a policy: of all agents, in C
cdef api void double_rewards(Transition* t) noexcept nogil:
    cdef uint32_t k
    for k in range(t.agents.count):
        t.agents.reward[k] *= 2


cdef api void set_total(Transition* t) noexcept nogil:
    t.reward = 100 + t.agents.count


cdef api void first_numbers(Transition* t) noexcept nogil:
    """Observes the first number of each agent: red float64 (1,), blue float64 (1,)."""
    cdef int k
    for k in range(RED):
        (<double*>t.out[0])[k] = (<const double*>t.obs[0])[3 * k]
    for k in range(BLUE):
        (<double*>t.out[1])[k] = (<const double*>t.obs[1])[4 * k]


cdef api int alive_choose_two(Decision* d) noexcept nogil:
    cdef int k
    for k in range(RED):
        (<int64_t*>d.action)[k] = 2 if d.agents.alive[k] else 0
    return 0


def functions():
    """The functions above as addresses."""
    return {"double_rewards": <uintptr_t>&double_rewards, "set_total": <uintptr_t>&set_total,
            "first_numbers": <uintptr_t>&first_numbers, "alive_choose_two": <uintptr_t>&alive_choose_two}
