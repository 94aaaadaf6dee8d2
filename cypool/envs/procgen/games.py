"""The games of procgen 0.10.7, as its Python code and its library define them."""
from __future__ import annotations

from typing import NamedTuple

MODES = ("easy", "hard", "extreme", "memory", "exploration")
# as the library calls them; "exploration" is one hard level, and only procgen's Python knows it
MODE_NUMBERS = {"easy": 0, "hard": 1, "extreme": 2, "memory": 10, "exploration": 1}
MAX_LEVEL = 2**31 - 1
NUM_ACTIONS = 15


class Game(NamedTuple):
    """A game.

    Attributes:
        modes: The values of `distribution_mode` that it supports.
        limit: Number of steps after which the game itself ends an episode.
        exploration_level: The level of `distribution_mode="exploration"`; None: the game lacks this mode.
    """

    modes: tuple[str, ...]
    limit: int
    exploration_level: int | None


def _game(*more: str, limit: int = 1000, exploration: int | None = None) -> Game:
    modes = ("easy", "hard", *more, *(("exploration",) if exploration is not None else ()))
    return Game(modes, limit, exploration)


GAMES = {
    "bigfish": _game(limit=6000),
    "bossfight": _game(limit=4000),
    "caveflyer": _game("memory", exploration=1259048185),
    "chaser": _game("extreme"),
    "climber": _game(exploration=1561126160),
    "coinrun": _game(exploration=1949448038),
    "dodgeball": _game("extreme", "memory"),
    "fruitbot": _game(),
    "heist": _game("memory", exploration=876640971),
    "jumper": _game("memory", exploration=1434825276),
    "leaper": _game("extreme", limit=500, exploration=1318677581),
    "maze": _game("memory", limit=500, exploration=158988835),
    "miner": _game("memory"),
    "ninja": _game(exploration=1123500215),
    "plunder": _game(limit=4000),
    "starpilot": _game("extreme"),
}


def limit_of(game: str, mode: str) -> int:
    """Returns the number of steps after which a game ends an episode."""
    return 2000 if (game, mode) == ("jumper", "memory") else GAMES[game].limit
