# Taxi.
import functools

from cypool.envs.toy_text import specs, tables
from cypool.state import check_state

from libc.stdint cimport int8_t, int64_t
from libc.string cimport memcpy

from cypool.env cimport Env, Slot
from cypool.random cimport integers, uniform

cdef enum:
    NUM_STATES = 500
    NUM_ACTIONS = 6
    TAXI = 4                             # the passenger is in it

# of each state: actions that change something
cdef int8_t[NUM_STATES][NUM_ACTIONS] masks
for _state, _mask in enumerate(tables.taxi_masks()):
    for _action in range(NUM_ACTIONS):
        masks[_state][_action] = _mask[_action]


@functools.lru_cache(maxsize=64)
def _taxi_table(rainy_probability):
    return Table(*tables.taxi(rainy_probability))


cdef class Taxi(Tabular):
    """A taxi picks up a passenger and drives to a destination: south (0), north (1), east (2), west (3), pick up (4),
    drop off (5).

    Follows `gymnasium.envs.toy_text.TaxiEnv` of Gymnasium 1.4: the same seed and actions give bit-identical results.

    Observation: `Discrete(500)`: ((row * 5 + column) * 5 + passenger) * 4 + destination. Passenger and destination are
        red (0), green (1), yellow (2) or blue (3); the passenger can also be in the taxi (4).
    Reward: -1 per step; 20 for dropping the passenger off at the destination; -10 for an illegal pick-up or drop-off.
    Terminated: When the passenger is dropped off at the destination.
    Info: `prob` float64: the probability of the actual move, 1 after a reset. `action_mask` int8 (6,): 1 for actions
        that change something on a dry day.
    """
    describe = staticmethod(specs.taxi)

    cdef bint fickle_passenger
    cdef double fickle_probability
    cdef bint fickle                     # the passenger will have another destination
    cdef int heading                     # of the last move; 0 before the first

    def __init__(self, spec, env_id):
        options = spec.options
        self.table = _taxi_table(options["rainy_probability"] if options["is_rainy"] else None)
        self.fickle_passenger = options["fickle_passenger"]
        self.fickle_probability = options["fickle_probability"]

    cdef int reset(self) except -1 nogil:
        Tabular.reset(self)
        self.fickle = self.fickle_passenger and uniform(self.rng, 0, 1) < self.fickle_probability
        self.heading = 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef int before = self.state, destination, other
        Tabular.step(self, action)
        if self.last_action < 4:
            self.heading = self.last_action
        if self.fickle and before // 4 % 5 == TAXI and self.state // 20 != before // 20:
            self.fickle = False
            destination = before % 4
            other = <int>integers(self.rng, 0, 3)
            # one of the three others, in their order
            self.state += other + (other >= destination) - destination
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        Tabular.observe(self, out)
        memcpy(out.info[1], masks[self.state], NUM_ACTIONS)
        return 0

    cdef object save(self):
        return self.state, self.prob, self.last_action, self.fickle, self.heading

    cdef int load(self, object state) except -1:
        self.state, self.prob, self.last_action, self.fickle, self.heading = check_state(
            state, (0, NUM_STATES - 1), (0.0, 1.0), (-1, NUM_ACTIONS - 1), bool, (0, 3))
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        Tabular.copy_from(self, other)
        self.fickle, self.heading = (<Taxi>other).fickle, (<Taxi>other).heading
        return 0

    cdef object render(self):
        # as if each step had been drawn: Gymnasium's taxi turns when it is drawn
        return self.draw("gymnasium.envs.toy_text.taxi:TaxiEnv", {}, {"taxi_orientation": self.heading})
