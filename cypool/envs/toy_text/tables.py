"""Tables of the states that may follow each state and action, and of the states in which episodes begin.

A table is (transitions, start): `transitions[state][action]` is a list of (probability, next state, reward,
terminated); `start` has, for each state, the probability that an episode begins in it.
"""
from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Outcomes: TypeAlias = list[tuple[float, int, float, bool]]
Rows: TypeAlias = tuple[str, ...]
Transitions: TypeAlias = tuple[list[list[Outcomes]], NDArray[Any]]

# CliffWalking: the grid, and the steps of up, right, down and left
HEIGHT, WIDTH = 4, 12
_START, _GOAL = 36, 47
_CLIFF_MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))

# FrozenLake: its maps, and the steps of left, down, right and up
MAPS: dict[str, Rows] = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"),
}
_LAKE_MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))

# Taxi: red, green, yellow, blue, where passengers are and want to go; 4 is in the taxi
_SIZE = 5
_STANDS = ((0, 0), (0, 4), (4, 0), (4, 3))
_TAXI = 4
# squares with a wall to their east
_WALLS = {(0, 1), (1, 1), (3, 0), (3, 2), (4, 0), (4, 2)}
_SOUTH, _NORTH, _EAST, _WEST, _PICKUP, _DROPOFF = range(6)
# the left and the right of one who moves south, north, east, west
_SIDES = ((_EAST, _WEST), (_WEST, _EAST), (_NORTH, _SOUTH), (_SOUTH, _NORTH))
TAXI_STATES, TAXI_ACTIONS = 500, 6


def cliff_walking(is_slippery: bool) -> Transitions:
    """Returns the table of CliffWalking."""
    def following(state: int, move: int) -> tuple[int, float, bool]:
        down, right = _CLIFF_MOVES[move % 4]
        row = min(max(state // WIDTH + down, 0), HEIGHT - 1)
        col = min(max(state % WIDTH + right, 0), WIDTH - 1)
        there = row * WIDTH + col
        return (_START, -100, False) if _START < there < _GOAL else (there, -1, there == _GOAL)

    def outcomes(state: int, action: int) -> Outcomes:
        moves = (action - 1, action, action + 1) if is_slippery else (action,)
        return [(1.0 / len(moves), *following(state, move)) for move in moves]

    return ([[outcomes(state, action) for action in range(4)] for state in range(HEIGHT * WIDTH)],
            np.arange(HEIGHT * WIDTH) == _START)


def frozen_lake(rows: Rows, is_slippery: bool, success_rate: float, reward_schedule: tuple[float, ...]) -> Transitions:
    """Returns the table of a map."""
    height, width = len(rows), len(rows[0])
    tiles = "".join(rows)
    fail_rate = (1.0 - success_rate) / 2.0
    reward_of = dict(zip("GHFS", (*reward_schedule, reward_schedule[2]), strict=True))

    def following(state: int, move: int) -> tuple[int, float, bool]:
        down, right = _LAKE_MOVES[move % 4]
        row = min(max(state // width + down, 0), height - 1)
        col = min(max(state % width + right, 0), width - 1)
        tile = rows[row][col]
        return row * width + col, reward_of[tile], tile in "GH"

    def outcomes(state: int, action: int) -> Outcomes:
        if tiles[state] in "GH":
            return [(1.0, state, 0, True)]
        if not is_slippery:
            return [(1.0, *following(state, action))]
        return [(success_rate if move == action else fail_rate, *following(state, move))
                for move in (action - 1, action, action + 1)]

    start = np.array([tile == "S" for tile in tiles], np.float64)
    return [[outcomes(state, action) for action in range(4)] for state in range(len(tiles))], start / start.sum()


def taxi(rainy_probability: float | None) -> Transitions:
    """Returns the table of a rainy day, or of a dry one for None."""
    start = np.array([_decode(state)[1] not in (_TAXI, _decode(state)[2]) for state in range(TAXI_STATES)], np.float64)
    return ([[_taxi_outcomes(state, action, rainy_probability) for action in range(TAXI_ACTIONS)]
             for state in range(TAXI_STATES)], start / start.sum())


def taxi_masks() -> list[list[bool]]:
    """Returns, for each state, which actions change something on a dry day."""
    return [[_taxi_outcomes(state, action, None)[0][1] != state for action in range(TAXI_ACTIONS)]
            for state in range(TAXI_STATES)]


def _encode(place: tuple[int, int], passenger: int, destination: int) -> int:
    return ((place[0] * _SIZE + place[1]) * 5 + passenger) * 4 + destination


def _decode(state: int) -> tuple[tuple[int, int], int, int]:
    place, rest = divmod(state, 20)
    return divmod(place, _SIZE), *divmod(rest, 4)


def _moved(place: tuple[int, int], action: int) -> tuple[int, int]:
    row, col = place
    if action == _SOUTH:
        return min(row + 1, _SIZE - 1), col
    if action == _NORTH:
        return max(row - 1, 0), col
    if action == _EAST:
        return (row, col) if place in _WALLS else (row, min(col + 1, _SIZE - 1))
    return (row, col) if (row, col - 1) in _WALLS else (row, max(col - 1, 0))


def _taxi_outcomes(state: int, action: int, rainy_probability: float | None) -> Outcomes:
    place, passenger, destination = _decode(state)
    if action == _PICKUP:
        if passenger != _TAXI and place == _STANDS[passenger]:
            return [(1.0, _encode(place, _TAXI, destination), -1, False)]
        return [(1.0, state, -10, False)]
    if action == _DROPOFF:
        if passenger == _TAXI and place in _STANDS:
            there = _STANDS.index(place)
            arrived = there == destination
            return [(1.0, _encode(place, there, destination), 20 if arrived else -1, arrived)]
        return [(1.0, state, -10, False)]
    ahead = _moved(place, action)
    if rainy_probability is None:
        return [(1.0, _encode(ahead, passenger, destination), -1, False)]
    # a taxi that cannot go ahead does not skid either
    aside = [place if ahead == place else _moved(place, side) for side in _SIDES[action]]
    lateral = (1.0 - rainy_probability) / 2.0
    return [(prob, _encode(there, passenger, destination), -1, False)
            for prob, there in ((rainy_probability, ahead), (lateral, aside[0]), (lateral, aside[1]))]
