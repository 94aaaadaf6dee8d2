"""The spec of level-based foraging: its options and spaces."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from cypool.options import Option, boolean, describes, integer, number
from cypool.spec import Array, Discrete, EnvSpec, Group
from cypool.util.arguments import check_int, check_list, shown

# as in foraging.h
MAX_ENTITIES = 100
_LARGEST_FIELD, _HIGHEST_LEVEL, _LONGEST = 100, 1000, 2**30
# players whose step takes well below a microsecond
_MOST_BRIEF = 4


def _check_levels(name: str, value: Any, *, takes_none: bool = False) -> int | tuple[int, ...] | None:
    if value is None and takes_none:
        return None
    if hasattr(type(value), "__index__") and not isinstance(value, np.ndarray):
        return check_int(name, value, 1, _HIGHEST_LEVEL)
    return tuple(check_int(f"{name}[{k}]", level, 1, _HIGHEST_LEVEL)
                 for k, level in enumerate(check_list(name, value, "an int or a list of ints")))


def _check_field_size(name: str, value: Any) -> tuple[int, int]:
    size = check_list(name, value, "a pair (rows, columns)")
    if len(size) != 2:
        raise ValueError(f"{name}: expected a pair (rows, columns), got {shown(value)}")
    return check_int(f"{name}[0]", size[0], 3, _LARGEST_FIELD), check_int(f"{name}[1]", size[1], 3, _LARGEST_FIELD)


def _levels(default: int | None, meaning: str) -> Option:
    takes_none = default is None
    return Option(default, functools.partial(_check_levels, takes_none=takes_none), meaning,
                  (1, _HIGHEST_LEVEL, 0, _HIGHEST_LEVEL + 1, (1, 2)))


@describes(
    players=integer(2, 1, MAX_ENTITIES, "Number of players."),
    min_player_level=_levels(1, "Minimum player level: an int, or a list of one level per player, which is shuffled."),
    max_player_level=_levels(2, "Maximum player level: an int, or a list of one level per player."),
    min_food_level=_levels(1, "Minimum food level: an int, or a list of one level per item, which is shuffled."),
    max_food_level=_levels(None, "Maximum food level: an int, or a list of one level per item; None: the sum of the "
                                 "three lowest player levels."),
    field_size=Option((8, 8), _check_field_size, "Rows and columns of the field."),
    max_num_food=integer(3, 1, MAX_ENTITIES, "Number of food items, if there is room for all of them."),
    sight=integer(8, 0, _LARGEST_FIELD, "Number of cells that a player sees in each direction."),
    force_coop=boolean(False, "Gives all food the maximum level."),
    unit_reward=boolean(True, "Scales an episode's rewards to at most 1 in total, like lbforaging's "
                              "`normalize_reward`."),
    grid_observation=boolean(False, "Observes layers of cells instead of lists of food and players."),
    observe_agent_levels=boolean(True, "Whether players see their own and each other's levels."),
    penalty=number(0.0, 0, 1e9, "Penalty for a failed attempt to load."),
    time_limit=integer(50, 1, _LONGEST, "Maximum number of steps per episode."),
    truncate=boolean(False, "Reports reaching `time_limit` as truncation; lbforaging reports it as termination."),
    fresh_world=boolean(False, "Creates a new world for each episode, so that episodes do not depend on earlier ones."))
def foraging(options: dict[str, Any]) -> EnvSpec:
    levels = levels_of(options)
    rows, cols = options["field_size"]
    if options["players"] > 1 + 0.9 * rows * cols:
        raise ValueError(f"players: expected at most {int(1 + 0.9 * rows * cols)}, to fit into {rows} x {cols} cells, "
                         f"got {options['players']}")
    highest_player, highest_food = max(levels["max_player_level"]), highest_food_of(levels)
    if options["grid_observation"]:
        side = 2 * options["sight"] + 1
        high = np.ones((3, side, side), np.float32)
        high[0] = highest_player if options["observe_agent_levels"] else 1
        high[1] = highest_food
        observation = Array(high.shape, np.float32, 0, high)
    else:
        agent_size = 3 if options["observe_agent_levels"] else 2
        bounds = [([-1, -1, 0], [rows - 1, cols - 1, highest_food])] * options["max_num_food"]
        bounds += [([-1, -1, 0][:agent_size], [rows - 1, cols - 1, highest_player][:agent_size])] * options["players"]
        low, high = (np.concatenate([pair[k] for pair in bounds]) for k in range(2))
        observation = Array(low.shape, np.float32, low, high)
    return EnvSpec(agents={"agent": Group(options["players"], observation, Discrete(6))}, state="observations",
                   options=options, render_fps=5, brief_steps=options["players"] <= _MOST_BRIEF)


def settings_of(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings that foraging.h reads."""
    levels = levels_of(options)
    return {**options, **levels, "highest_food": highest_food_of(levels)}


def levels_of(options: dict[str, Any]) -> dict[str, list[int]]:
    """Returns the levels of each player and food item, by option; none if `max_food_level` is None.

    Raises:
        ValueError: There are not as many as players or food items, or a lowest level is above the highest.
    """
    levels: dict[str, list[int]] = {}
    for kind, count_name in (("player", "players"), ("food", "max_num_food")):
        count = options[count_name]
        for name in (f"min_{kind}_level", f"max_{kind}_level"):
            given = options[name]
            levels[name] = [] if given is None else [given] * count if isinstance(given, int) else list(given)
            if given is not None and len(levels[name]) != count:
                raise ValueError(f"{name}: expected {count} levels (the value of {count_name}), got "
                                 f"{len(levels[name])}")
    sum_of_lowest = sum(sorted(levels["min_player_level"])[:3])
    for kind, highest in (("player", levels["max_player_level"]),
                          ("food", levels["max_food_level"] or [sum_of_lowest] * options["max_num_food"])):
        for low, high in zip(levels[f"min_{kind}_level"], highest, strict=True):
            if low > high:
                raise ValueError(f"min_{kind}_level: expected at most {high}, the highest level, got {low}")
    return levels


def highest_food_of(levels: dict[str, list[int]]) -> int:
    """Returns the highest level that food may have."""
    return max(levels["max_food_level"] or [sum(sorted(levels["max_player_level"])[:3])])
