# Legal actions, in environments where only some are: a look at them before a step, and draws.
cimport cython
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp.vector cimport vector

cimport numpy as cnp

import numpy as np

from cypool.env_methods cimport legal_env
from cypool.env cimport Env
from cypool.random cimport Rng, integers

cnp.import_array()

cdef extern from "cypool/util/legal.h" namespace "cypool" nogil:
    size_t count_legal(const uint8_t* mask, size_t num_actions) noexcept
    int64_t nth_legal(const uint8_t* mask, size_t num_actions, size_t n) noexcept


@cython.final
cdef class LegalActions:
    """The legal actions in the environments of a pool.

    Args:
        spec: The environments' spec, with `illegal`.
    """
    cdef int rows                    # actions of an environment: one, or that of each agent
    cdef size_t num_actions
    cdef bint checks                 # whether an action that is not legal is an error
    cdef list agent_names
    cdef vector[uint8_t] mask        # of one environment

    def __init__(self, spec):
        self.agent_names = spec.agent_names
        self.rows, self.num_actions = max(spec.num_agents, 1), spec.one_action.n
        self.checks = spec.illegal == "error"
        self.mask.resize(self.rows * self.num_actions)

    cdef int check(self, Scheduler scheduler, const int32_t* ids, uint32_t count, const int64_t* actions) except -1:
        """Raises a ValueError if an action is not legal in an environment that will be stepped."""
        cdef uint32_t k
        cdef int row = 0
        cdef bint illegal = False
        with nogil:
            for k in range(count):
                row = self.first_illegal(scheduler.envs[ids[k]], actions + k * self.rows)
                if row < self.rows:
                    illegal = True
                    break
        if illegal:
            self.complain(k, row, actions[k * self.rows + row])
        return 0

    cdef int first_illegal(self, PyObject* env, const int64_t* actions) except -1 nogil:
        """Returns the first row whose action is not legal; the number of rows if all are."""
        cdef int row
        if (<Env>env).needs_reset:
            return self.rows
        legal_env(env, self.mask.data())
        for row in range(self.rows):
            if not self.mask[row * self.num_actions + <size_t>actions[row]] and self.acts(env, row):
                return row
        return self.rows

    cdef bint acts(self, PyObject* env, int row) noexcept nogil:
        cdef const Agents* agents = (<Env>env).agents
        return agents == NULL or (agents.alive[row] and (agents.turn == NULL or agents.turn[row]))

    cdef int complain(self, uint32_t k, int row, int64_t action) except -1:
        legal = [a for a in range(self.num_actions) if self.mask[row * self.num_actions + a]]
        shown_legal = ", ".join(map(str, legal[:20])) + ", ..." * (len(legal) > 20) or "none"
        whose = f" for {self.agent_names[row]}" if self.agent_names else ""
        raise ValueError(f"actions: expected a legal action{whose} in row {k}: {shown_legal}; got {action}")

    cdef object sample(self, Scheduler scheduler, const int32_t* ids, uint32_t count, bit_generator):
        """Returns a legal action for each environment, or agent, drawn uniformly; 0 where there is none."""
        cdef const Rng* rng = <const Rng*>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")
        cdef cnp.ndarray drawn = np.zeros([count, self.rows] if self.agent_names else [count], np.int64)
        cdef int64_t* actions = <int64_t*>cnp.PyArray_DATA(drawn)
        cdef uint32_t k
        with bit_generator.lock, nogil:
            for k in range(count):
                self.draw(scheduler.envs[ids[k]], rng, actions + k * self.rows)
        return drawn

    cdef int draw(self, PyObject* env, const Rng* rng, int64_t* actions) except -1 nogil:
        cdef const uint8_t* mask = self.mask.data()
        cdef int row
        cdef int64_t count
        if (<Env>env).needs_reset:
            return 0
        legal_env(env, self.mask.data())
        for row in range(self.rows):
            count = <int64_t>count_legal(mask + row * self.num_actions, self.num_actions)
            if count > 0:
                actions[row] = nth_legal(mask + row * self.num_actions, self.num_actions, integers(rng, 0, count))
        return 0
