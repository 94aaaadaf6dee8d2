"""The spec of each environment: its options, spaces and infos."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from cypool.envs.toy_text.tables import HEIGHT, MAPS, TAXI_ACTIONS, TAXI_STATES, WIDTH, Rows
from cypool.options import Option, boolean, describes, integer, number
from cypool.spec import Array, Discrete, EnvSpec
from cypool.util.arguments import check_float, check_list, shown

_INFO = {"prob": Array((), np.float64, 0, 1)}
_FPS = 4
_MODES = ("rgb_array", "ansi")


@describes(
    natural=boolean(False, "Pays 1.5 for winning with an ace and a ten."),
    sab=boolean(False, "An ace and a ten win unless the dealer also has them, as in Sutton and Barto's book; overrides "
                       "`natural`."))
def blackjack(options: dict[str, Any]) -> EnvSpec:
    return EnvSpec(observation=(Discrete(32), Discrete(11), Discrete(2)), action=Discrete(2), render_fps=_FPS,
                   options=options, brief_steps=True)


@describes(
    height=integer(10, 2, 1000, "Number of rows, 2 to 1000."),
    width=integer(5, 1, 1000, "Number of columns, 1 to 1000."))
def catch(options: dict[str, Any]) -> EnvSpec:
    shape = options["height"], options["width"]
    return EnvSpec(observation=Array(shape, np.float32, 0, 1), action=Discrete(3), render_fps=_FPS, options=options)


@describes(is_slippery=boolean(False, "Moves slip to the left or right, each with probability 1/3."))
def cliff_walking(options: dict[str, Any]) -> EnvSpec:
    return EnvSpec(observation=Discrete(HEIGHT * WIDTH), action=Discrete(4), info=_INFO, render_fps=_FPS,
                   render_modes=_MODES, options=options, brief_steps=True)


def _check_desc(name: str, desc: Any) -> Rows | None:
    """Returns a map as a tuple of strings."""
    if desc is None:
        return None
    expected = "rows of equal length, as strings of S, F, H and G with at least one S"
    rows = []
    for row in check_list(name, desc, expected):
        # bytes fall apart into numbers
        tiles: list[Any] = [row] if isinstance(row, (str, bytes)) else check_list(name, row, expected)
        tiles = [tile.decode("latin-1") if isinstance(tile, bytes) else tile for tile in tiles]
        if not all(isinstance(tile, str) for tile in tiles):
            raise TypeError(f"{name}: expected {expected}, got row {shown(row)}")
        rows.append("".join(tiles))
    if not rows or not rows[0] or len(set(map(len, rows))) > 1:
        raise ValueError(f"{name}: expected {expected}, got rows of lengths {list(map(len, rows))}")
    letters = set("".join(rows))
    if not letters <= set("SFHG") or "S" not in letters:
        raise ValueError(f"{name}: expected {expected}, got {shown(rows)}")
    return tuple(rows)


def _check_map_name(name: str, value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or value not in MAPS):
        raise ValueError(f"{name}: expected {', '.join(map(repr, MAPS))} or None, got {shown(value)}")
    return value


def _check_schedule(name: str, value: Any) -> tuple[float, ...]:
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        raise TypeError(f"{name}: expected three numbers, got {shown(value)}")
    return tuple(check_float(name, reward, -math.inf, math.inf) for reward in value)


@describes(
    desc=Option(None, _check_desc, "A custom map: rows of the tiles S (start), F (frozen), H (hole) and G (goal)."),
    map_name=Option("4x4", _check_map_name, 'The map, unless `desc` is given: "4x4" or "8x8"; None: a random 8 x 8 '
                                            "map, shared by all environments of a pool, except with `env_options`."),
    is_slippery=boolean(True, "Moves may slip to the left or right."),
    success_rate=number(1.0 / 3.0, 0, 1, "The probability that a slippery move succeeds."),
    reward_schedule=Option((1, 0, 0), _check_schedule, "Rewards for reaching a goal, a hole, and any other tile."))
def frozen_lake(options: dict[str, Any]) -> EnvSpec:
    if options["desc"] is not None:
        options["map_name"] = None
    elif options["map_name"] is None:
        from gymnasium.envs.toy_text.frozen_lake import generate_random_map

        options["desc"] = _check_desc("desc", generate_random_map())
    rows = options["desc"] or MAPS[options["map_name"]]
    return EnvSpec(observation=Discrete(len(rows) * len(rows[0])), action=Discrete(4), info=_INFO, render_fps=_FPS,
                   render_modes=_MODES, options=options, brief_steps=True)


@describes(
    n=integer(5, 1, 2**31 - 1, "Number of states."),
    slip=number(0.2, 0, 1, "The probability that the other action is taken."),
    small=number(2.0, -math.inf, math.inf, "The reward for going back."),
    large=number(10.0, -math.inf, math.inf, "The reward at the end of the chain."))
def nchain(options: dict[str, Any]) -> EnvSpec:
    return EnvSpec(observation=Discrete(options["n"]), action=Discrete(2), options=options, render_fps=_FPS,
                   brief_steps=True)


@describes(
    is_rainy=boolean(False, "Moves may slip to the left or right."),
    fickle_passenger=boolean(False, "Passengers may change their destination after the first square of the ride."),
    rainy_probability=number(0.8, 0, 1, "The probability that a move on a rainy day succeeds."),
    fickle_probability=number(0.3, 0, 1, "The probability that a fickle passenger changes the destination."))
def taxi(options: dict[str, Any]) -> EnvSpec:
    return EnvSpec(observation=Discrete(TAXI_STATES), action=Discrete(TAXI_ACTIONS),
                   info={**_INFO, "action_mask": Array((TAXI_ACTIONS,), np.int8, 0, 1)}, render_fps=_FPS,
                   render_modes=_MODES, options=options, brief_steps=True)
