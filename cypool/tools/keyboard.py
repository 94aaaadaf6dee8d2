"""Maps held keys to actions of an environment."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pkgutil import resolve_name
from typing import Any

import numpy as np

from cypool.envs import family_of
from cypool.spec import Array, Discrete, EnvSpec


def waits_for_keys(entry_point: str) -> bool:
    """Whether an environment makes one step per key press."""
    family = family_of(entry_point)
    return family is not None and not {"*", entry_point.partition(":")[2]}.isdisjoint(family.turns)


def action_of_keys(spec: EnvSpec, entry_point: str) -> tuple[Callable[[Collection[str]], Any], str]:
    """Returns a function that maps the names of held keys to an action, and a line that lists the keys.

    Args:
        spec: The environment's.
        entry_point: The "module:Class" that its id is registered with.

    Raises:
        NotImplementedError: Keys cannot express its actions.
    """
    family, action = family_of(entry_point), spec.action
    if isinstance(action, Mapping):
        raise NotImplementedError(f"{spec.id}: expected a Discrete or an Array as the action, got a dict, which the "
                                  "keyboard cannot control; use --random or --policy")
    if isinstance(action, Discrete):
        if family is not None and family.keyboard:
            found: tuple[Callable[[Collection[str]], Any], str] = resolve_name(family.keyboard)(spec)
            return found
        known: Mapping[str, int] = family.of_class(family.keys, entry_point, {}) if family else {}
        keys = {key: number for key, number in known.items() if number < action.n}
        digits = {str(number): number for number in range(min(action.n, 10))}
        nothing = keys.get("", 0)
        named = [f"{key} {number}" for key, number in keys.items() if key]
        # unless the family uses digits itself
        if digits.keys().isdisjoint(keys):
            keys = {**keys, **digits}
            named.append(f"keys 0 to {len(digits) - 1}: the action with that number")

        def choose(held: Collection[str]) -> int:
            return next((number for key, number in keys.items() if key in held), nothing)

        return choose, ", ".join(named)
    return _levers(action), ("left, right: the first component of the action; down, up: the second; no key: midway "
                             "between the bounds")


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
