"""Converts Gymnasium's spaces to our descriptions, and makes a pool's calls to Gymnasium environments."""
from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from gymnasium import Wrapper, spaces

from cypool.spec import Array, Discrete, Group, Text

TEXT_BYTES = 512  # of a text whose space has no limit, such as minigrid's MissionSpace


def env_description(env: Any) -> Any:
    """Returns the description of an environment that a pool needs, in picklable form.

    An environment not derived from a Gymnasium class needs only spaces, `reset` and `step`.
    """
    mode, rendering = getattr(env, "render_mode", None), {}
    if mode in ("rgb_array", "ansi"):
        # Gymnasium's own default for videos
        fps = int(getattr(env, "metadata", {}).get("render_fps") or 30)
        rendering = {"render_fps": fps, "render_modes": (mode,), "render_mode": mode}
    limit = getattr(getattr(env, "spec", None), "max_episode_steps", None)
    return {"observation_space": env.observation_space, "action_space": env.action_space, "rendering": rendering,
            "max_episode_steps": limit, "agents": getattr(env, "agents_description", None)}


def group_of(observation_space: Any, action_space: Any, names: tuple[str, ...]) -> Group:
    """Returns a group of agents with these spaces.

    Raises:
        ValueError: As `described`.
    """
    observation = _tree(observation_space, "observation_space")
    if isinstance(observation, tuple):
        raise ValueError(f"observation_space: expected a Dict of parts rather than a Tuple, got {observation_space}")
    return Group(len(names), observation, _leaf(action_space, "action_space"), names)


def described(observation_space: Any, action_space: Any) -> Any:
    """Returns observation and action in the form of an `EnvSpec`.

    Raises:
        ValueError: A space has no fixed shape, nested parts, or no parts.
    """
    return _tree(observation_space, "observation_space"), _leaf(action_space, "action_space")


def without_texts(space: Any) -> Any:
    """Returns an observation space in which texts are replaced by the bytes that a pool uses."""
    if _is_text(space):
        return spaces.Box(0, 255, (_text_bytes(space),), np.uint8)
    if isinstance(space, spaces.Dict) and any(map(_is_text, space.spaces.values())):
        return spaces.Dict({key: without_texts(part) for key, part in space.spaces.items()})
    if isinstance(space, spaces.Tuple) and any(map(_is_text, space.spaces)):
        return spaces.Tuple([without_texts(part) for part in space.spaces])
    return space


def _is_text(space: Any) -> bool:
    # minigrid's MissionSpace is no `Text`, but its elements are
    return isinstance(space, spaces.Text) or getattr(getattr(space, "dtype", None), "kind", "") == "U"


def _text_bytes(space: Any) -> int:
    if not isinstance(space, spaces.Text):
        return TEXT_BYTES
    return max(1, int(space.max_length)) * max((len(letter.encode()) for letter in space.character_set), default=1)


def _tree(space: Any, name: Any) -> Any:
    if isinstance(space, spaces.Dict):
        parts: Any = {key: _part(part, f"{name}[{key!r}]") for key, part in space.spaces.items()}
    elif isinstance(space, spaces.Tuple):
        parts = tuple(_part(part, f"{name}[{k}]") for k, part in enumerate(space.spaces))
    else:
        return _part(space, name)
    if not parts:
        raise ValueError(f"{name}: expected at least one part, got {space}")
    return parts


def _part(space: Any, name: Any) -> Any:
    return Text(_text_bytes(space)) if _is_text(space) else _leaf(space, name)


def _leaf(space: Any, name: Any) -> Any:
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
    # parts have no parts of their own
    more = {"action_space": "", "observation_space": ", a Text, or a Dict or Tuple of these"}.get(name, ", or a Text")
    wrapper = "a gymnasium.ActionWrapper" if name == "action_space" else "gymnasium.wrappers.FlattenObservation"
    raise ValueError(f"{name}: expected a Box, Discrete, MultiDiscrete or MultiBinary{more}, got {space}: try a "
                     f"wrapper such as {wrapper}")


# arguments of `Pool.ask`: functions of an environment, which run where that is


def attribute_of(env: Any, name: str) -> Any:
    """Returns an attribute of an environment, or of the outermost wrapper that has it."""
    return env.get_wrapper_attr(name) if hasattr(env, "get_wrapper_attr") else getattr(env, name)


def assign(env: Any, name: str, value: Any) -> None:
    """Assigns an attribute of the environment, or of its outermost wrapper."""
    setattr(env, name, value)


def call_method(env: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls a method of an environment, or of the outermost wrapper that has it; returns its result."""
    return attribute_of(env, name)(*args, **kwargs)


def gymnasium_spec_of(env: Any) -> Any:
    """Returns Gymnasium's spec of an environment, or None if it has none, or one that cannot be pickled."""
    try:
        pickle.dumps(env.spec)
    except Exception:
        return None
    return env.spec


def wrapper_classes(env: Any) -> set[str]:
    """Returns the names, with their modules, of the wrappers' classes and of all their bases."""
    names: set[str] = set()
    while isinstance(env, Wrapper):
        names.update(class_name(each) for each in type(env).__mro__)
        env = env.env
    return names


def class_name(cls: type) -> str:
    """Returns the name of a class with its module: the class itself may be a copy where the environment is."""
    return f"{cls.__module__}.{cls.__qualname__}"
