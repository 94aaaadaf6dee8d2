"""Memory for the observations of a rollout that stores each frame of a stack once."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.spec import Array
from cypool.util.arguments import check_array, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from cypool.spec import Discrete, EnvSpec


class FrameBuffers:
    """The observations of T steps of N environments, storing each frame of a stack (`Array.stack`) once.

    `begin(obs)` stores the observation for the first action, `add(obs)` the one after each step, and `stacks(index)`
    returns stored observations bit for bit. An environment needs T + stack frames, plus a few for each new episode: if
    a stack does not continue the previous one, all of its frames are stored. Arrays without a stack are stored
    unchanged. `len(buffers)` is the number of observations, at most T + 1.

    Args:
        spec: The spec of the environments.
        num_steps: T.
        num_envs: N.

    Thread safety: one thread at a time.
    """

    def __init__(self, spec: EnvSpec, num_steps: int, num_envs: int):
        self._spec = spec
        self._num_steps, self._num_envs = num_steps, num_envs
        self._parts = [_Part(self, part, num_steps, num_envs) for _, part in spec.observations]
        self._length = 0

    def begin(self, obs: Any) -> None:
        """Discards all stored observations, and stores the observation before the first step.

        Args:
            obs: The observation that `reset` or the last `step` of the pool returned.

        Raises:
            TypeError, ValueError: `obs` is not an observation of all environments; nothing has changed.
        """
        given = self._given(obs)
        self._length = 0
        for part, values in zip(self._parts, given, strict=True):
            part.begin(values)
        self._length = 1

    def add(self, obs: Any) -> None:
        """Stores the observation after a step.

        Args:
            obs: The observation of all environments, as `step` of the pool returned it.

        Raises:
            TypeError, ValueError: `obs` is not an observation of all environments; nothing has changed.
            RuntimeError: `begin` was not called, or T steps are already stored.
        """
        given = self._given(obs)
        if not 0 < self._length <= self._num_steps:
            raise RuntimeError("add: expected begin() first" if self._length == 0 else
                               f"add: expected at most {self._num_steps} steps before the next begin()")
        for part, values in zip(self._parts, given, strict=True):
            part.add(values, self._length)
        self._length += 1

    def stacks(self, index: ArrayLike | None = None) -> Any:
        """Returns observations, assembled from their frames.

        Args:
            index: Integers, shape (k,): `t * N + i` for environment i after t steps, as in the flattened first two axes
                of an array (T, N, ...). None: all, shape (len(self), N, ...).

        Returns:
            An array (k, ...), or a dict or tuple of these, like the observations.

        Raises:
            TypeError, ValueError: An observation does not exist.
        """
        if index is None:
            rows = self._rows(np.arange(self._length * self._num_envs))
            parts = [part.gather(rows) for part in self._parts]
            return self._spec.pack([part.reshape(self._length, self._num_envs, *part.shape[1:]) for part in parts])
        rows = self._rows(index)
        return self._spec.pack([part.gather(rows) for part in self._parts])

    @property
    def nbytes(self) -> int:
        """Size of the frames in bytes."""
        return sum(part.frames.nbytes for part in self._parts)

    def __len__(self) -> int:
        return self._length

    def _given(self, obs: Any) -> list[Any]:
        """Returns the parts of an observation, checked."""
        try:
            given = [self._array(part) for part in self._spec.unpack(obs)]
        except Exception as error:
            raise TypeError(f"obs: expected {self._spec.observation}, got {shown(obs)}: {error}") from error
        for values, part in zip(given, self._parts, strict=True):
            if tuple(values.shape) != (self._num_envs, *part.shape) or values.dtype != part.frames.dtype:
                raise ValueError(f"obs: expected {part.frames.dtype} of shape {(self._num_envs, *part.shape)}, got "
                                 f"{values.dtype}, {tuple(values.shape)}")
        return given

    def _rows(self, index: ArrayLike) -> Any:
        """Returns an index, checked."""
        rows = check_array("index", index, "integers of shape (k,)")
        count = self._length * self._num_envs
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise ValueError(f"index: expected integers of shape (k,), got {rows.dtype}, shape {rows.shape}")
        if rows.size and not (rows.min() >= 0 and rows.max() < count):
            raise ValueError(f"index: expected numbers in [0, {count}), got {rows.min()} to {rows.max()}")
        return rows

    # methods that a subclass for other arrays overrides

    def _array(self, values: Any) -> Any:
        return np.asarray(values)

    def _zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return np.zeros(shape, dtype)

    def _at(self, positions: NDArray[np.int64]) -> Any:
        """Returns positions in the form that indexes arrays of this kind."""
        return positions

    def _moved(self, array: Any, source: int, target: int) -> Any:
        """Returns a view of an array with one axis moved."""
        return np.moveaxis(array, source, target)

    def _equal_rows(self, one: Any, two: Any) -> NDArray[np.bool_]:
        """Returns which rows of two arrays have the same bytes."""
        rows = [np.ascontiguousarray(each).reshape(len(each), -1).view(np.uint8) for each in (one, two)]
        if rows[0].shape[1] % 8 == 0:
            rows = [each.view(np.uint64) for each in rows]
        result: NDArray[np.bool_] = (rows[0] == rows[1]).all(axis=1)
        return result


class _Part:
    """The frames of one part of the observation.

    Attributes:
        shape: The shape of the part.
        frames: (N, F, frame), where F grows as needed.
    """

    def __init__(self, owner: FrameBuffers, part: Array | Discrete, num_steps: int, num_envs: int):
        self._owner = owner
        self.shape = part.shape
        self._axis, self._count = part.stack if isinstance(part, Array) and part.stack is not None else (0, 1)
        frame = list(part.shape)
        if self._count > 1:
            frame[self._axis] //= self._count
        self._frame, self._dtype = tuple(frame), part.dtype
        self.frames = owner._zeros((num_envs, num_steps + self._count, *frame), part.dtype)
        # of each observation, where its newest frame is; the others are in front of it
        self._newest = np.zeros((num_steps + 1, num_envs), np.int64)
        self._envs = np.arange(num_envs)
        self._offsets = np.arange(1 - self._count, 1)
        self._table: Any = None

    def begin(self, obs: Any) -> None:
        self._table = None
        self._newest[0] = self._count - 1
        self.frames[:, :self._count] = self._split(obs)

    def add(self, obs: Any, t: int) -> None:
        self._table = None
        before = self._newest[t - 1]
        if self._count == 1:
            self._newest[t] = t
            self.frames[:, t] = obs
            return
        split, envs = self._split(obs), self._envs
        there = self._places(envs, before)[:, 1:]
        goes_on = self._owner._equal_rows(self._flat()[self._owner._at(there)], split[:, :-1])
        now = before + np.where(goes_on, 1, self._count)
        if now.max() >= self.frames.shape[1]:
            self._grow(int(now.max()) + 1)
        self._newest[t] = now
        self._flat()[self._owner._at(envs * self.frames.shape[1] + now)] = split[:, -1]
        first = envs[~goes_on]
        if len(first):
            self._flat()[self._owner._at(self._places(first, now[first]))] = split[self._owner._at(first)]

    def gather(self, rows: Any) -> Any:
        if self._table is None:
            # of all observations, where their frames are
            places = self._places(np.tile(self._envs, len(self._newest)), self._newest.reshape(-1))
            self._table = self._owner._at(places)
        found = self._flat()[self._table[rows]]
        return self._owner._moved(found, 1, 1 + self._axis).reshape(len(rows), *self.shape)

    def _split(self, obs: Any) -> Any:
        """Returns a view of stacks as (N, count, frame)."""
        axis = self._axis
        apart = obs.reshape(len(obs), *self.shape[:axis], self._count, *self._frame[axis:])
        return self._owner._moved(apart, 1 + axis, 1)

    def _flat(self) -> Any:
        """Returns a view of the frames of all environments, one after the other."""
        return self.frames.reshape(math.prod(self.frames.shape[:2]), *self._frame)

    def _places(self, envs: NDArray[np.int64], newest: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the indexes of stacks' frames in `_flat`: (k, count)."""
        places: NDArray[np.int64] = (envs * self.frames.shape[1] + newest)[:, None] + self._offsets
        return places

    def _grow(self, least: int) -> None:
        before = self.frames.shape[1]
        frames = self._owner._zeros((len(self._envs), max(least, before + before // 2), *self._frame), self._dtype)
        frames[:, :before] = self.frames
        self.frames = frames
