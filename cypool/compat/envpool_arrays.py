"""Observations and actions in EnvPool's format: int32, and no tuples."""
from __future__ import annotations

from typing import Any

import numpy as np

from cypool.spec import Array, Discrete


def is_choices(description: Any) -> bool:
    """Whether a description is a tuple of `Discrete`s, which EnvPool puts side by side in one array."""
    return isinstance(description, tuple) and all(isinstance(part, Discrete) for part in description)


def beside(observation: Any) -> Any:
    """Returns the description of an observation, with `Discrete`s of a tuple side by side in one `Array`."""
    if is_choices(observation):
        return Array((len(observation),), np.int32, 0, max(part.n for part in observation) - 1)
    return observation


def int32(obs: Any, description: Any) -> Any:
    """Returns an observation in EnvPool's format: a `Discrete` is int32, and a tuple of them is one array."""
    if isinstance(obs, dict):
        return {key: int32(part, description[key]) for key, part in obs.items()}
    if is_choices(description):
        return np.stack(obs, axis=1, dtype=np.int32)
    return obs.astype(np.int32) if isinstance(description, Discrete) else obs


def whole(actions: Any) -> Any:
    """Returns an array of floats or bools as integers, as EnvPool casts them.

    Raises:
        ValueError: A value is not a whole number.
    """
    with np.errstate(invalid="ignore"):
        whole = actions.astype(np.int64)
    wrong = whole != actions
    if wrong.any():
        raise ValueError(f"actions: expected whole numbers, got {actions[wrong].flat[0]}")
    return whole
