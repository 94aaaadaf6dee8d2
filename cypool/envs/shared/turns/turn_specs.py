"""Options and specs of games in which players move in turn, which turn_rules.h reads."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cypool.options import Option, choice, integer
from cypool.spec import Array, Discrete, EnvSpec, Group
from cypool.util.arguments import check_choice, check_int

ILLEGAL = choice("error", ("error", "lose"), 'The effect of an illegal action: "error" raises ValueError before any '
                                             'environment steps; "lose" makes the player lose.')
OPPONENT = ('The opponents in the "single" view: "random" picks legal actions uniformly; "tree_search" '
            "searches with random playouts.")
SIMULATIONS = 'Number of simulations per move of a search-based opponent.'
_VIEWS = ("mover", "players", "single")


def turn_options(num_players: int) -> dict[str, Option]:
    """Returns the options of a game with this number of players."""
    if num_players == 1:
        return {"illegal": ILLEGAL}

    def check_seat(name: str, value: Any) -> int | str:
        if isinstance(value, str):
            return check_choice(name, value, ("random", "alternate"))
        return check_int(name, value, 0, num_players - 1)

    return {
        "view": choice("mover", _VIEWS, 'The view in each row: "mover", the player to move; "players", all players, as '
                                        'agents; "single", one player, while the environment plays the others.'),
        "seat": Option("random", check_seat, 'The player in the "single" view: a number, "random", or "alternate" '
                       "(each player in turn).", (0, num_players - 1, "alternate", num_players, -1, "")),
        "opponent": choice("random", ("random", "tree_search"), OPPONENT),
        "simulations": integer(100, 1, 1_000_000, SIMULATIONS),
        "illegal": ILLEGAL}


def turn_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings that turn_rules.h reads."""
    seat = options.get("seat", 0)
    return {"view": _VIEWS.index(options.get("view", "mover")), "loses": options["illegal"] == "lose",
            "seat": {"random": -1, "alternate": -2}[seat] if isinstance(seat, str) else seat,
            "simulations": options["simulations"] if options.get("opponent") == "tree_search" else 0}


def turn_spec(options: dict[str, Any], tensor: Array, num_actions: int, num_players: int, together: bool = False,
              **more: Any) -> EnvSpec:
    """Returns the spec of a game.

    Args:
        options: All options, checked.
        tensor: A player's observation.
        num_actions: Number of actions.
        num_players: Number of players.
        together: Whether all players may move at once.
        **more: Other fields of the spec.
    """
    mask = Array((num_actions,), np.int8, 0, 1)
    common = {"options": options, "illegal": options["illegal"], **more}
    player = {}
    # one player may be the only one of all who move at once
    if num_players > 1 or together:
        player["current_player"] = Array((), np.int32, -2 if together else -1, num_players - 1)
    view = options.get("view", "mover")
    if options.get("opponent") == "tree_search":
        if more.get("has_hidden_information"):
            raise ValueError("opponent: expected 'random' (a search sees hidden information), got 'tree_search'")
        common["brief_steps"] = False
    if view == "players":
        group = Group(num_players, {"observation": tensor, "action_mask": mask}, Discrete(num_actions))
        return EnvSpec(agents={"player": group}, turns=True, info=player, **common)
    info = {"action_mask": mask, **player}
    if num_players > 1 and view == "mover":
        info["rewards"] = Array((num_players,), np.float64)
    return EnvSpec(observation=tensor, action=Discrete(num_actions), info=info, **common)


def planes(*shape: int) -> Array:
    """Returns a tensor of numbers that are 0 or 1."""
    return Array(shape, np.float32, 0, 1)

