# Environments that are a table of the successors of each state and action.
import numpy as np

from cypool.envs.shared.pixels.pictures import draw
from cypool.state import check_state

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot
from cypool.random cimport categorical


cdef struct Outcome:
    double prob
    double reward
    int32_t state
    bint terminated


cdef class Table:
    """The possible outcomes of each state and action, of which there are one or always the same number: see tables.py.

    Thread safety: any number of threads, because it never changes.
    """
    cdef int num_states
    cdef int num_actions
    cdef int width                       # outcomes of each state and action; some may be repeats that never come
    cdef vector[Outcome] outcomes        # [state][action][outcome]
    cdef vector[double] sums             # likewise: the outcome's probability and those before it
    cdef vector[int32_t] starts          # states that may begin an episode ...
    cdef vector[double] start_sums       # ... and their probabilities, each with those before it

    def __init__(self, transitions, start):
        self.num_states = len(transitions)
        self.num_actions = len(transitions[0])
        self.width = max(len(outcomes) for state in transitions for outcomes in state)
        for state in transitions:
            for outcomes in state:
                sums = np.cumsum([outcome[0] for outcome in outcomes])
                for k in range(self.width):
                    # one that is certain comes first and is found first
                    prob, following, reward, terminated = outcomes[min(k, len(outcomes) - 1)]
                    self.outcomes.push_back(Outcome(prob, reward, following, terminated))
                    self.sums.push_back(sums[min(k, len(outcomes) - 1)])
        sums = np.cumsum(start)
        for state in np.flatnonzero(start):
            self.starts.push_back(state)
            self.start_sums.push_back(sums[state])


cdef class Tabular(Env):
    """Base of environments defined by a table; subclasses set `table`.

    Info: `prob` float64: the probability of the last action's outcome, 1 after a reset.
    """
    cdef Table table                     # shared by all environments with the same options
    cdef int state
    cdef int last_action                 # -1 before the first
    cdef double prob                     # of the last outcome, in the table

    cdef int reset(self) except -1 nogil:
        cdef int k = categorical(self.rng, self.table.start_sums.data(), <int>self.table.start_sums.size())
        self.state = self.table.starts[k]
        self.prob = 1.0
        self.last_action = -1
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef int width = self.table.width
        self.last_action = <int>(<const int64_t*>action)[0]
        cdef int64_t row = (<int64_t>self.state * self.table.num_actions + self.last_action) * width
        cdef const Outcome* outcome = self.table.outcomes.data() + row
        outcome += categorical(self.rng, self.table.sums.data() + row, width)
        self.state = outcome.state
        self.prob = outcome.prob
        self.reward = outcome.reward
        self.terminated = outcome.terminated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        (<int64_t*>out.obs[0])[0] = self.state
        (<double*>out.info[0])[0] = self.prob
        return 0

    cdef object save(self):
        return self.state, self.prob, self.last_action

    cdef int load(self, object state) except -1:
        self.state, self.prob, self.last_action = check_state(
            state, (0, self.table.num_states - 1), (0.0, 1.0), (-1, self.table.num_actions - 1))
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        self.state, self.prob, self.last_action = (
            (<Tabular>other).state, (<Tabular>other).prob, (<Tabular>other).last_action)
        return 0

    cdef object draw(self, object entry_point, dict options, dict more):
        """Returns Gymnasium's picture or text of the state."""
        action = None if self.last_action < 0 else self.last_action
        return draw(entry_point, options, {"s": self.state, "lastaction": action, **more}, self.spec.render_mode)
