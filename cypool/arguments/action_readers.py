"""Checks and converts users' actions once per call, so that environments need not.

actions.pyx checks single arrays; this module splits up actions of several parts and agents.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cypool.arguments.actions import ActionReader, ArraysReader
from cypool.spec import Array, Discrete, EnvSpec
from cypool.util.arguments import check_array, check_dict, shown_shape

Reader: TypeAlias = Callable[..., NDArray[Any]]


def reader_of(spec: EnvSpec, num_envs: int) -> Reader:
    """Returns a function that turns the actions of an `EnvSpec` into the engine's array.

    If agents may be absent, its second argument is which of them act: bool, (k, agents).
    """
    if not spec.agents:
        return _reader_of(spec.action, num_envs, 0, 0)
    first, readers = 0, {}
    for name, group in spec.agents.items():
        readers[name] = _reader_of(group.action, num_envs, group.count, first)
        first += group.count
    reader = DictReader(readers) if len(readers) > 1 else readers.popitem()[1]
    if any(isinstance(group.action, Mapping) for group in spec.agents.values()):
        return reader
    return ArraysReader(spec.action, num_envs, reader)


def rollout_reader_of(spec: EnvSpec, num_envs: int, reader: Reader) -> Reader:
    """Returns a function that turns actions of many steps, (steps, num_envs, *action shape), into the engine's array.

    Args:
        reader: Accepts any valid actions, and reports the fault in invalid ones.
    """
    if isinstance(spec.action, Mapping) and any(isinstance(part, Mapping) for part in spec.action.values()):
        return reader
    return ArraysReader(spec.action, (2**31 - 1) // num_envs, reader, (num_envs,))


def _reader_of(description: Any, num_envs: int, num_agents: int, first_agent: int) -> Reader:
    if isinstance(description, Mapping):
        return DictReader({name: _reader_of(part, num_envs, num_agents, first_agent)
                           for name, part in description.items()})
    if num_agents > 0:
        return GroupReader(description, num_envs, num_agents, first_agent)
    return ActionReader(description, num_envs).read


def unpack(spec: EnvSpec, rows: NDArray[Any]) -> Any:
    """Converts the result of a reader of this spec, or rows of it, back to the users' format.

    Returns:
        `rows`, or, if actions are dicts, a dict of new arrays.
    """
    if not isinstance(spec.action, Mapping):
        return rows
    parts, at = [], 0
    for _, part in spec.actions:
        end = at + part.dtype.itemsize * math.prod(part.shape)
        parts.append(rows[:, at:end].copy().view(part.dtype).reshape(len(rows), *part.shape))
        at = end
    return pack_parts(spec.action, iter(parts))


def pack_parts(action: Any, parts: Iterator[Any]) -> Any:
    """Returns parts, one after the other, in the structure of an action."""
    if not isinstance(action, Mapping):
        return next(parts)
    return {name: pack_parts(part, parts) for name, part in action.items()}


def parts_of(spec: EnvSpec, actions: Any) -> list[Any]:
    """Returns the parts of actions in the order of `spec.actions`; checks the dict, but not its parts."""
    return _parts_of(spec.action, actions)


def _parts_of(action: Any, actions: Any) -> list[Any]:
    if not isinstance(action, Mapping):
        return [actions]
    actions = check_dict("actions", actions, action, f"a dict with keys {', '.join(action)}")
    return [part for name in action for part in _parts_of(action[name], actions[name])]


def neutral(part: Array | Discrete) -> NDArray[Any]:
    """Returns an action that is always within bounds: zero, or the closest value."""
    values = np.zeros(part.shape, part.dtype)
    return values if isinstance(part, Discrete) else np.clip(values, part.low, part.high)


class DictReader:
    """A reader for each part of actions that are dicts.

    Args:
        readers: By name, in the order of the parts in memory.
    """

    def __init__(self, readers: Mapping[str, Reader]) -> None:
        self.readers = readers

    def __call__(self, actions: Any, *acting: Any) -> NDArray[Any]:
        """Like `ActionReader.read`, for a dict of actions.

        Returns:
            uint8, (k, bytes): the parts of each row, one after the other.
        """
        actions = check_dict("actions", actions, self.readers, f"a dict with keys {', '.join(self.readers)}")
        parts = []
        for name, reader in self.readers.items():
            part = reader(actions[name], *acting)
            parts.append(part.reshape(len(part), -1).view(np.uint8))
        if len({len(part) for part in parts}) > 1:
            rows = ", ".join(f"{name} {len(part)}" for name, part in zip(self.readers, parts, strict=True))
            raise ValueError(f"actions: expected the same number of rows for each part, got {rows}")
        return np.concatenate(parts, axis=1)


class GroupReader:
    """An `ActionReader` for the agents of a group.

    Args:
        space: The `Discrete` or `Array` that describes the action of one agent.
        num_envs: The maximum number of rows.
        count: Number of agents.
        first: Number of agents in the groups before.
    """

    def __init__(self, space: Array | Discrete, num_envs: int, count: int, first: int) -> None:
        self.reader = ActionReader(space, num_envs * count).read
        self.space, self.num_envs, self.count, self.agents = space, num_envs, count, slice(first, first + count)
        self.expected = f"shape {shown_shape('k', count, *space.shape)} with k from 1 to {num_envs}"

    def __call__(self, actions: Any, acting: NDArray[Any] | None = None) -> NDArray[Any]:
        """Like `ActionReader.read`, for shape (k, agents, *action shape) or (k * agents, *action shape).

        Args:
            acting: Which agents act: bool, (k, all agents); the actions of the others may be anything. None: all.

        Returns:
            (k, agents, *action shape).
        """
        shape = self.space.shape
        if type(actions) is not np.ndarray:
            actions = check_array("actions", actions, f"{self.space.dtype} of {self.expected}")
        # a view of one number may say that it has millions of rows
        if not 0 < actions.size <= self.num_envs * self.count * math.prod(shape):
            raise self._wrong(actions)
        if actions.ndim == len(shape) + 2 and actions.shape[1:] == (self.count, *shape):
            actions = actions.reshape(-1, *shape)
        if actions.ndim != len(shape) + 1 or actions.shape[1:] != shape or len(actions) % self.count:
            raise self._wrong(actions)
        if acting is not None:
            absent = ~acting[:, self.agents].reshape(-1)
            if len(actions) != len(absent):
                raise self._wrong(actions)
            if absent.any():
                actions = actions.copy()
                actions[absent] = neutral(self.space)
        return self.reader(actions).reshape(-1, self.count, *shape)

    def _wrong(self, actions: NDArray[Any]) -> ValueError:
        return ValueError(f"actions: expected {self.expected}, got {actions.shape}")
