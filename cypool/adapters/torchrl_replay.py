"""TorchRL: a storage over cypool's `ReplayBuffer`. See docs/how_to/replay.md."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from cypool.adapters import require
from cypool.arguments.action_readers import neutral, pack_parts
from cypool.replay.buffer import ReplayBuffer, some
from cypool.spec import Array
from cypool.util.arguments import check_float, check_int

if TYPE_CHECKING:
    from cypool.adapters.torchrl import PoolEnv

require("torchrl", "torchrl", "0.11", "0.15")

import torch  # noqa: E402
from torchrl.data import LazyTensorStorage  # noqa: E402


class FrameStorage(LazyTensorStorage):
    """A `LazyTensorStorage` of TorchRL, on the CPU, that stores each frame of a stack once.

        buffer = TensorDictReplayBuffer(storage=FrameStorage(env, 100_000), batch_size=32)
        for data in collector:
            buffer.extend(data.transpose(0, 1).reshape(-1))

    With the same seed, a replay buffer with this storage returns the same samples as one with TorchRL's own.
    Observations are in `replay`, a `cypool.ReplayBuffer`; everything else is TorchRL's. Data must be ordered by step:
    one row for each environment in order, then the rows of the next step.

    Args:
        env: The `PoolEnv` that is stepped, with one agent.
        max_size: Maximum number of steps.
        spare: Extra rows for the last observations of episodes and for first stacks, as a fraction of `max_size` for
            each frame of a stack. It must be at least 1 divided by the mean length of an episode.

    Raises:
        TypeError, ValueError: Wrong arguments.
    """

    def __init__(self, env: PoolEnv, max_size: int, *, spare: float = 0.02):
        pool = env.pool
        num_envs, spec = pool.num_envs, pool.env_spec
        if spec.agents:
            raise ValueError(f"env: expected an environment with one agent, got {spec.id}")
        size = check_int("max_size", max_size, num_envs, 2**40)
        super().__init__(size)
        stack = max([part.stack[1] for _, part in spec.observations if isinstance(part, Array) and part.stack],
                    default=1)
        rows = -(-size // num_envs)
        rows += int(check_float("spare", spare, 0, 2) * stack * rows) + 2 * stack + 2
        self.replay = ReplayBuffer(pool, rows * num_envs)
        self._names = ["observation" if name is None else name for name, _ in spec.observations]
        # which step is where TorchRL has it
        self._rows = np.full(size, -1, np.int64)

    def set(self, cursor: Any, data: Any, *, set_cursor: bool = True) -> None:
        num_envs, spec = self.replay.env.num_envs, self.replay.env.env_spec
        if len(data.batch_size) != 1 or len(data) % num_envs or len(data) > self.max_size:
            raise ValueError(f"data: expected one dimension, with the same number of rows for each of {num_envs} "
                             f"environments and at most {self.max_size} in all, got {tuple(data.batch_size)}")
        obs, after = ([each.get(name).numpy(force=True) for name in self._names] for each in (data, data.get("next")))
        terminated, truncated = (data.get(("next", key)).numpy(force=True).reshape(-1)
                                 for key in ("terminated", "truncated"))
        places = np.arange(self.max_size)[cursor] if isinstance(cursor, slice) else np.asarray(cursor).reshape(-1)
        # nothing is there while it changes: a signal may raise in between
        self._rows[places] = -1
        super().set(cursor, data.exclude(*self._names, *(("next", name) for name in self._names)),
                    set_cursor=set_cursor)
        # the storage has the actions
        parts = [np.repeat(neutral(part)[None], num_envs, 0) for _, part in spec.actions]
        action = pack_parts(spec.action, iter(parts))
        for first in range(0, len(data), num_envs):
            step = slice(first, first + num_envs)
            self._rows[places[step]] = self.replay.add(
                spec.pack([part[step] for part in obs]), action, np.zeros(num_envs),
                spec.pack([part[step] for part in after]), terminated[step], truncated[step])

    def get(self, index: Any) -> Any:
        if isinstance(index, tuple):
            # of one dimension
            (index,) = index
        found = index if isinstance(index, int | slice) else np.asarray(index)
        rows = self._rows[:len(self)][found]
        if np.any(rows < 0):
            # an `extend` was interrupted there: the next ones stand for them
            there, places = some(self._rows[:len(self)] >= 0), np.arange(len(self))[found]
            places = there[np.searchsorted(there, places) % len(there)]
            rows, index = self._rows[places], torch.from_numpy(np.asarray(places))
        data = super().get(index).clone(False)
        if not self.replay.has(np.atleast_1d(rows).reshape(-1)).all():
            raise RuntimeError("get: rows are missing, because episodes are too short for this `spare`: increase it")
        sample, spec = self.replay.gather(np.atleast_1d(rows).reshape(-1)), self.replay.env.env_spec
        for lead, parts in (((), spec.unpack(sample.obs)), (("next",), spec.unpack(sample.next_obs))):
            for name, part in zip(self._names, parts, strict=True):
                data.set((*lead, name), torch.from_numpy(part.reshape(*np.shape(rows), *part.shape[1:])))
        return data

    def state_dict(self) -> dict[str, Any]:
        """Returns everything that the storage needs to continue; add no rows until the state is written."""
        return {**super().state_dict(), "replay": self.replay._to_checkpoint(), "rows": self._rows.copy()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores the result of `state_dict`.

        Raises:
            ValueError: The state is from a different storage.
        """
        rows, replay = state_dict["rows"], state_dict["replay"]
        if rows.shape != self._rows.shape:
            raise ValueError(f"state_dict: expected {len(self._rows)} rows, got {rows.shape}")
        take = self.replay._from_checkpoint(replay, False)
        super().load_state_dict({name: own for name, own in state_dict.items() if name not in ("replay", "rows")})
        take()
        self._rows[:] = rows

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError("a FrameStorage cannot be dumped: save its `state_dict`, as save_checkpoint does")

    dumps = loads = save = dump = load = _refuse
