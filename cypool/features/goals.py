"""Rewards and ends for a user's goals, for `compute_reward` and similar methods of a pool."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.util.arguments import shown

if TYPE_CHECKING:
    from cypool.spec import EnvSpec


def of_goals(spec: EnvSpec, method: str, achieved_goal: Any, desired_goal: Any) -> Any:
    """Returns the result of a method of `EnvSpec.goals` for goals with any leading dimensions.

    Args:
        spec: The spec of the environments.
        method: "compute_reward", "compute_terminated" or "compute_truncated".
        achieved_goal, desired_goal: The goals.
    """
    if spec.goals is None:
        raise NotImplementedError(f"{method}: {spec.id} has no goals that fully determine the reward")
    size = dict(spec.observations)["desired_goal"].shape[0]
    achieved = _goals("achieved_goal", achieved_goal, size)
    desired = _goals("desired_goal", desired_goal, size)
    if achieved.shape != desired.shape:
        raise ValueError(f"desired_goal: expected the shape of achieved_goal, {achieved.shape}, got {desired.shape}")
    leading = achieved.shape[:-1]
    if method == "compute_truncated":
        result: Any = np.zeros(leading, np.bool_)
    elif len(leading) > 1:
        result = getattr(spec.goals, method)(achieved.reshape(-1, size), desired.reshape(-1, size)).reshape(leading)
    else:
        result = getattr(spec.goals, method)(achieved, desired)
    # of one goal it is a number
    return result if leading else result[()]


def _goals(name: str, given: Any, size: int) -> Any:
    try:
        goals = np.asarray(given)
    except Exception as error:
        raise TypeError(f"{name}: expected an array of goals, got {shown(given)}: {error}") from error
    if goals.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected an array of numbers, got {shown(given)}")
    if goals.ndim == 0 or goals.shape[-1] != size:
        raise ValueError(f"{name}: expected goals with {size} numbers in the last dimension, got shape {goals.shape}")
    return goals
