"""Tianshou: cypool's `ReplayBuffer` instead of Tianshou's. See docs/how_to/replay.md."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from cypool.adapters import require
from cypool.arguments.action_readers import neutral, pack_parts
from cypool.replay.buffer import ReplayBuffer, some
from cypool.spec import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.adapters.tianshou import PoolVectorEnv

require("tianshou", "tianshou", "2.0.1", "3")

from tianshou.data import Batch, PrioritizedVectorReplayBuffer, VectorReplayBuffer  # noqa: E402


class _FramesOnce:
    """Keeps the observations of both buffers here and leaves everything else to Tianshou."""

    maxsize: int
    buffers: Any
    _meta: Any
    _offset: Any
    _random_state: Any
    _set_batch_for_children: Any

    def __init__(self, env: PoolVectorEnv, total_size: int, *, spare: float = 0.02, **kwargs: Any):
        for name in ("stack_num", "ignore_obs_next", "save_only_last_obs", "sample_avail"):
            if name in kwargs:
                raise ValueError(f"{name}: expected no argument (each frame is always stored only once), got "
                                 f"{kwargs[name]!r}")
        pool = env.pool
        super().__init__(total_size, pool.num_envs, **kwargs)  # type: ignore[call-arg]
        stack = max([part.stack[1] for _, part in pool.env_spec.observations if isinstance(part, Array) and part.stack],
                    default=1)
        size = self.maxsize // pool.num_envs
        rows = size + int(spare * stack * size) + 2 * stack + 2
        self.replay = ReplayBuffer(pool, rows * pool.num_envs)
        # which step is where Tianshou has it
        self._index = np.full(size * pool.num_envs, -1, np.int64)
        # the rows of the last sample, which has both observations, and the sample
        self._gathered: tuple[Any, Any] = None, None

    obs = property(lambda self: self._all("obs"), doc="The observations in all slots; zeros in empty slots.")
    obs_next = property(lambda self: self._all("obs_next"), doc="The next observations in all slots; zeros in empty "
                                                                "slots.")

    def _all(self, key: str) -> Any:
        """Returns the observations of all places in a new array, or a Batch of arrays."""
        places = np.flatnonzero(self.replay.has(self._index))
        spec = self.replay.env.env_spec
        parts = [np.zeros((len(self._index), *part.shape), part.dtype) for _, part in spec.observations]
        if len(places):
            sample = self.replay.gather(self._index[places])
            for part, rows in zip(parts, spec.unpack(sample.obs if key == "obs" else sample.next_obs), strict=True):
                part[places] = rows
        return _shaped(spec.pack(parts), self._index.shape)

    def __getstate__(self) -> dict[str, Any]:
        # of the pool, a pickle has how to make it
        return {**self.__dict__, "replay": (self.replay.env, self.replay.capacity, self.replay._to_checkpoint()),
                "_gathered": (None, None)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        pool, capacity, contents = state["replay"]
        replay = ReplayBuffer(pool, capacity)
        replay._from_checkpoint(contents, False)()
        self.__dict__.update({**state, "replay": replay})
        if len(self._meta.get_keys()):
            # a pickle has copies of them
            self._set_batch_for_children()

    def add(self, batch: Any, buffer_ids: Any = None) -> Any:
        ids = np.arange(self.replay.env.num_envs) if buffer_ids is None else np.asarray(buffer_ids)
        spec, rest = self.replay.env.env_spec, Batch()
        for key in batch.get_keys():
            if key != "obs_next":
                rest.__dict__[key] = batch[key]
        # nothing is in their places while it changes: a signal may raise in between
        self._index[[self._offset[i] + self.buffers[i]._insertion_idx for i in ids]] = -1
        # a place for the data in the ring
        rest.__dict__["obs"] = np.zeros(len(ids), np.uint8)
        result = super().add(rest, buffer_ids)  # type: ignore[misc]
        # Tianshou's actions are those of a policy; the environment's may be others
        parts = [np.repeat(neutral(part)[None], len(ids), 0) for _, part in spec.actions]
        self._index[result[0]] = self.replay.add(
            _plain(batch.obs), pack_parts(spec.action, iter(parts)), np.zeros(len(ids)), _plain(batch.obs_next),
            np.asarray(batch.terminated, np.bool_), np.asarray(batch.truncated, np.bool_), ids)
        return result

    def sample_indices(self, batch_size: int | None) -> NDArray[Any]:
        index: NDArray[Any] = super().sample_indices(batch_size)  # type: ignore[misc]
        if len(index):
            lost = ~self.replay.has(self._index[index])
            if batch_size == 0:
                # all that there are
                return index[~lost]
            if lost.any():
                index[lost] = self._random_state.choice(some(self.replay.has(self._index)), int(lost.sum()))
        return index

    def get(self, index: Any, key: str, default_value: Any = None, stack_num: int | None = None) -> Any:
        if key not in ("obs", "obs_next"):
            return super().get(index, key, default_value, stack_num)  # type: ignore[misc]
        rows = self._index[index]
        if not np.array_equal(self._gathered[0], rows):
            self._gathered = rows.copy(), self.replay.gather(np.atleast_1d(rows).reshape(-1))
        sample = self._gathered[1]
        if key == "obs_next":
            self._gathered = None, None
        return _shaped(sample.obs if key == "obs" else sample.next_obs, np.shape(rows))

    def save_hdf5(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not supported: pickle the buffer instead."""
        raise NotImplementedError("save_hdf5: not supported, because Tianshou's arrays lack observations: use pickle")


class FrameReplayBuffer(_FramesOnce, VectorReplayBuffer):
    """A `VectorReplayBuffer` of Tianshou that stores each frame of a stack once.

    With the same seed, it returns the same samples as Tianshou's own buffer. Tianshou draws samples and stores
    everything except observations, which are in `replay`, a `cypool.ReplayBuffer`. Like Tianshou's buffer, it holds
    `total_size` steps if episodes have at least `1 / spare` steps on average; with shorter episodes, other steps are
    drawn instead of the oldest ones.

    Args:
        env: The `PoolVectorEnv` that is stepped.
        total_size: Maximum number of steps.
        spare: Extra rows for the last observations of episodes and for first stacks, as a fraction of `total_size` for
            each frame of a stack.
        **kwargs: As in `VectorReplayBuffer`, except its own options for storing frames.

    Raises:
        ValueError: Tianshou's options for storing frames are given.
    """


class FramePrioritizedReplayBuffer(_FramesOnce, PrioritizedVectorReplayBuffer):
    """A `PrioritizedVectorReplayBuffer` of Tianshou that stores each frame of a stack once: see `FrameReplayBuffer`.

    Args:
        env, total_size, spare: As in `FrameReplayBuffer`.
        **kwargs: As in `PrioritizedVectorReplayBuffer`, such as `alpha` and `beta`.
    """


def _plain(obs: Any) -> Any:
    """Returns observations in the pool's format."""
    return {key: _plain(obs[key]) for key in obs.get_keys()} if isinstance(obs, Batch) else obs


def _shaped(obs: Any, shape: tuple[int, ...]) -> Any:
    """Returns observations with these leading dimensions, in Tianshou's format."""
    if isinstance(obs, dict):
        return Batch({key: _shaped(part, shape) for key, part in obs.items()})
    return obs.reshape(*shape, *obs.shape[1:])
