"""Actions from keys: which one an environment takes while some keys are held."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from cypool.spec import Array, Discrete, EnvSpec

# by class: key -> action; "" is what to do without a key, else it is action 0
_CHOICES: dict[str, dict[str, int]] = {
    "CartPole": {"left": 0, "right": 1},
    "MountainCar": {"left": 0, "": 1, "right": 2},
    "Acrobot": {"left": 0, "": 1, "right": 2},
    "Catch": {"left": 0, "": 1, "right": 2},
    "FrozenLake": {"left": 0, "down": 1, "right": 2, "up": 3},
    "CliffWalking": {"up": 0, "right": 1, "down": 2, "left": 3},
    "Taxi": {"down": 0, "up": 1, "right": 2, "left": 3, "space": 4, "return": 5},
    "Blackjack": {"return": 0, "space": 1},
    "LunarLander": {"": 0, "left": 1, "up": 2, "right": 3},
}
# turn left, turn right, forward, pick up, drop, toggle, done
_MINIGRID = {"left": 0, "right": 1, "up": 2, "page up": 3, "page down": 4, "space": 5, "return": 6}
# ALE's numbers of the joystick's positions; "space" is the button
_JOYSTICK = {frozenset(keys.split()): number for number, keys in enumerate((
    "", "space", "up", "right", "left", "down", "up right", "up left", "down right", "down left", "up space",
    "right space", "left space", "down space", "up right space", "up left space", "down right space",
    "down left space"))}
_WAITS = ("cypool.envs.toy_text.", "cypool.envs.minigrid.")  # nothing moves there until the player does


def waits_for_keys(entry_point: str) -> bool:
    """Whether an environment is a game of turns: a step for each key that is pressed."""
    return entry_point.startswith(_WAITS) and not entry_point.endswith(":Catch")


def action_of_keys(spec: EnvSpec, entry_point: str) -> tuple[Callable[[Collection[str]], Any], str]:
    """Returns a function from the names of the held keys to an action, and a line that says which keys there are.

    Args:
        spec: Of the environment.
        entry_point: "module:Class" that its id is registered with.

    Raises:
        NotImplementedError: It takes more than keys can say.
    """
    module, _, name = entry_point.partition(":")
    action = spec.action
    if isinstance(action, Mapping):
        raise NotImplementedError(f"{spec.id}: expected a choice or an array as action for a keyboard, got a dict: "
                                  "--random or --policy plays it")
    if isinstance(action, Discrete):
        if module == "cypool.envs.atari.atari":
            return _joystick(spec), "arrow keys and space, or 0 to 9 for the first actions"
        keys = _MINIGRID if module.startswith("cypool.envs.minigrid") else _CHOICES.get(name, {})
        keys = {key: number for key, number in keys.items() if number < action.n}
        digits = {str(number): number for number in range(min(action.n, 10))}
        nothing = keys.get("", 0)

        def choose(held: Collection[str]) -> int:
            return next((number for key, number in {**keys, **digits}.items() if key in held), nothing)

        named = [f"{key} {number}" for key, number in keys.items() if key]
        return choose, ", ".join([*named, f"keys 0 to {len(digits) - 1}: the action of that number"])
    return _levers(action), "left and right: the first number of the action, down and up: the second; else the middle"


def _joystick(spec: EnvSpec) -> Callable[[Collection[str]], int]:
    from cypool.envs.atari.atari import action_set, game_facts

    there = list(action_set(spec.options, game_facts(spec.options["task"])))

    def choose(held: Collection[str]) -> int:
        for digit in range(min(len(there), 10)):
            if str(digit) in held:
                return digit
        keys = frozenset(held) & {"left", "right", "up", "down", "space"}
        # of a position that the game does not have what it has of it
        for wanted in (keys, keys - {"space"}, keys - {"up", "down"}, keys - {"left", "right"}, keys & {"space"}):
            if _JOYSTICK.get(wanted) in there:
                return there.index(_JOYSTICK[wanted])
        return 0

    return choose


def _levers(action: Array) -> Callable[[Collection[str]], Any]:
    # without bounds, one in each direction
    low = np.where(np.isfinite(action.low), action.low, -1).astype(np.float64)
    high = np.where(np.isfinite(action.high), action.high, 1).astype(np.float64)

    def choose(held: Collection[str]) -> Any:
        chosen = ((low + high) / 2).ravel()
        for at, (down, up) in enumerate((("left", "right"), ("down", "up"))):
            if at < chosen.size and (down in held) != (up in held):
                chosen[at] = (low if down in held else high).flat[at]
        return chosen.reshape(action.shape).astype(action.dtype)

    return choose
