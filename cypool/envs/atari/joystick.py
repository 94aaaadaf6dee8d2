"""Keys that act as the joystick in `cypool play` for Atari."""
from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from cypool.envs.atari.atari import game_facts
from cypool.envs.atari.specs import action_set

# ALE's numbers of the joystick's positions; "space" is the button
_POSITIONS = {frozenset(keys.split()): number for number, keys in enumerate((
    "", "space", "up", "right", "left", "down", "up right", "up left", "down right", "down left", "up space",
    "right space", "left space", "down space", "up right space", "up left space", "down right space",
    "down left space"))}


def keyboard(spec: Any) -> tuple[Callable[[Collection[str]], int], str]:
    """Returns a function that maps the names of the held keys to an action, and a line that lists the keys."""
    there = list(action_set(spec.options, game_facts(spec.options["task"])))

    def choose(held: Collection[str]) -> int:
        for digit in range(min(len(there), 10)):
            if str(digit) in held:
                return digit
        keys = frozenset(held) & {"left", "right", "up", "down", "space"}
        # where the game does not have the position: the part of it that it has
        for wanted in (keys, keys - {"space"}, keys - {"up", "down"}, keys - {"left", "right"}, keys & {"space"}):
            if _POSITIONS.get(wanted) in there:
                return there.index(_POSITIONS[wanted])
        return 0

    return choose, "arrow keys and space, or 0 to 9 for the first ten actions"
