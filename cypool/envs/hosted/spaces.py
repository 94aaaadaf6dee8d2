"""Gymnasium's spaces as descriptions of ours."""
import numpy as np
from gymnasium import spaces

from cypool.spec import Array, Discrete


def introduction(env):
    """Returns what a pool wants to know of an environment, as something that pickles."""
    fps = None
    if env.render_mode == "rgb_array":
        # Gymnasium's own default for videos
        fps = int(env.metadata.get("render_fps") or 30)
    limit = None if env.spec is None else env.spec.max_episode_steps
    return {"observation_space": env.observation_space, "action_space": env.action_space, "render_fps": fps,
            "max_episode_steps": limit}


def described(observation_space, action_space):
    """Returns observation and action as an `EnvSpec` has them.

    Raises:
        ValueError: A space has no fixed shape, or parts of parts, or none.
    """
    return _tree(observation_space, "observation_space"), _leaf(action_space, "action_space")


def _tree(space, name):
    if isinstance(space, spaces.Dict):
        parts = {key: _leaf(part, f"{name}[{key!r}]") for key, part in space.spaces.items()}
    elif isinstance(space, spaces.Tuple):
        parts = tuple(_leaf(part, f"{name}[{k}]") for k, part in enumerate(space.spaces))
    else:
        return _leaf(space, name)
    if not parts:
        raise ValueError(f"{name}: expected at least one part, got {space}")
    return parts


def _leaf(space, name):
    if isinstance(space, spaces.Discrete):
        if space.start == 0 and space.dtype == np.int64:
            return Discrete(space.n)
        return Array((), space.dtype, space.start, space.start + space.n - 1)
    if isinstance(space, spaces.MultiBinary):
        return Array(space.shape, space.dtype, 0, 1)
    if isinstance(space, spaces.MultiDiscrete):
        return Array(space.shape, space.dtype, space.start, space.start + space.nvec - 1)
    if isinstance(space, spaces.Box):
        try:
            return Array(space.shape, space.dtype, space.low, space.high)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    raise ValueError(f"{name}: expected a Box, Discrete, MultiDiscrete or MultiBinary, or for observations a Dict or "
                     f"Tuple of them, got {space}: a wrapper such as gymnasium.wrappers.FlattenObservation may help")
