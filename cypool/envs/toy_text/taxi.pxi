# Taxi.
import functools

import numpy as np

from cypool.util.arguments import check_bool, check_float
from cypool.envs.common.pictures import draw
from cypool.spec import Array, Discrete, EnvSpec
from cypool.state import check_state

from libc.stdint cimport int8_t, int64_t
from libc.string cimport memcpy

from cypool.env cimport Env, Slot
from cypool.random cimport integers, uniform

SIZE = 5
# red, green, yellow, blue: where passengers are and want to go; 4 is in the taxi
STANDS = ((0, 0), (0, 4), (4, 0), (4, 3))
# squares with a wall to their east
WALLS = {(0, 1), (1, 1), (3, 0), (3, 2), (4, 0), (4, 2)}
SOUTH, NORTH, EAST, WEST, PICKUP, DROPOFF = range(6)
# what is to the left and to the right of who goes south, north, east, west
SIDES = ((EAST, WEST), (WEST, EAST), (NORTH, SOUTH), (SOUTH, NORTH))

cdef enum:
    NUM_STATES = 500
    NUM_ACTIONS = 6
    TAXI = 4                             # the passenger is in it

# of each state: actions that change something
cdef int8_t[NUM_STATES][NUM_ACTIONS] masks


def _encode(place, passenger, destination):
    return ((place[0] * SIZE + place[1]) * 5 + passenger) * 4 + destination


def _decode(state):
    place, rest = divmod(state, 20)
    return divmod(place, SIZE), *divmod(rest, 4)


def _moved(place, action):
    row, col = place
    if action == SOUTH:
        return min(row + 1, SIZE - 1), col
    if action == NORTH:
        return max(row - 1, 0), col
    if action == EAST:
        return (row, col) if place in WALLS else (row, min(col + 1, SIZE - 1))
    return (row, col) if (row, col - 1) in WALLS else (row, max(col - 1, 0))


def _outcomes(state, action, rainy_probability):
    place, passenger, destination = _decode(state)
    if action == PICKUP:
        if passenger != TAXI and place == STANDS[passenger]:
            return [(1.0, _encode(place, TAXI, destination), -1, False)]
        return [(1.0, state, -10, False)]
    if action == DROPOFF:
        if passenger == TAXI and place in STANDS:
            there = STANDS.index(place)
            arrived = there == destination
            return [(1.0, _encode(place, there, destination), 20 if arrived else -1, arrived)]
        return [(1.0, state, -10, False)]
    ahead = _moved(place, action)
    if rainy_probability is None:
        return [(1.0, _encode(ahead, passenger, destination), -1, False)]
    # who cannot go ahead does not skid either
    aside = [place if ahead == place else _moved(place, side) for side in SIDES[action]]
    lateral = (1.0 - rainy_probability) / 2.0
    return [(prob, _encode(there, passenger, destination), -1, False)
            for prob, there in ((rainy_probability, ahead), (lateral, aside[0]), (lateral, aside[1]))]


@functools.lru_cache(maxsize=64)
def _taxi_table(rainy_probability):
    """Returns the table of a rainy day, or for None of a dry one."""
    start = np.array([_decode(state)[1] not in (TAXI, _decode(state)[2]) for state in range(NUM_STATES)], np.float64)
    return Table([[_outcomes(state, action, rainy_probability) for action in range(NUM_ACTIONS)]
                  for state in range(NUM_STATES)], start / start.sum())


for _state in range(NUM_STATES):
    for _action in range(NUM_ACTIONS):
        masks[_state][_action] = _outcomes(_state, _action, None)[0][1] != _state


cdef class Taxi(Tabular):
    """A taxi that fetches a passenger: south (0), north (1), east (2), west (3), pick up (4), drop off (5).

    Follows `gymnasium.envs.toy_text.TaxiEnv` of Gymnasium 1.4: the same seed and actions give the same bits.

    Observation: `Discrete(500)`: ((row * 5 + column) * 5 + passenger) * 4 + destination. Passenger and destination
        are red (0), green (1), yellow (2) or blue (3), the passenger also in the taxi (4).
    Reward: -1 a step; 20 for the passenger dropped off at the destination; -10 for a pick-up or drop-off in vain.
    Terminated: The passenger was dropped off at the destination.
    Info: `prob` float64: the probability of the move that was made, 1 after a reset. `action_mask` int8 (6,): 1 for
        actions that change something on a dry day.
    """
    cdef bint fickle_passenger
    cdef double fickle_probability
    cdef bint fickle                     # the passenger will have another destination
    cdef int heading                     # of the last move; 0 before the first

    @staticmethod
    def describe(is_rainy=False, fickle_passenger=False, rainy_probability=0.8, fickle_probability=0.3):
        """Returns the spec.

        Args:
            is_rainy: Whether a move may go off to its left or right.
            fickle_passenger: Whether passengers may change the destination, once they have been driven to the next
                square.
            rainy_probability: The probability that a move on a rainy day goes where it should.
            fickle_probability: The probability that a fickle passenger does it.
        """
        options = {
            "is_rainy": check_bool("is_rainy", is_rainy),
            "fickle_passenger": check_bool("fickle_passenger", fickle_passenger),
            "rainy_probability": check_float("rainy_probability", rainy_probability, 0, 1),
            "fickle_probability": check_float("fickle_probability", fickle_probability, 0, 1),
        }
        return EnvSpec(observation=Discrete(NUM_STATES), action=Discrete(NUM_ACTIONS),
                       info={**INFO, "action_mask": Array((NUM_ACTIONS,), np.int8, 0, 1)}, render_fps=4,
                       options=options, brief_steps=True)

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
        if (<const int64_t*>action)[0] < 4:
            self.heading = <int>(<const int64_t*>action)[0]
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
        return self.state, self.prob, self.fickle, self.heading

    cdef int load(self, object state) except -1:
        self.state, self.prob, self.fickle, self.heading = check_state(
            state, (0, NUM_STATES - 1), (0.0, 1.0), bool, (0, 3))
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        (self.state, self.prob, self.fickle, self.heading) = (
            (<Taxi>other).state, (<Taxi>other).prob, (<Taxi>other).fickle, (<Taxi>other).heading)
        return 0

    cdef object render(self):
        # as if each step had been drawn: Gymnasium's taxi turns when it is drawn
        return draw("gymnasium.envs.toy_text.taxi:TaxiEnv", {},
                    {"s": self.state, "lastaction": None, "taxi_orientation": self.heading})
