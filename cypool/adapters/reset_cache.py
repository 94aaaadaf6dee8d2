"""Keeps first observations for libraries that reset environments themselves after an episode."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cypool.api.gymnasium import GymnasiumPool
    from cypool.util.typing import EnvIds


class ResetCache:
    """First observations and infos of episodes that a pool has begun, kept until the library resets.

    Args:
        pool: A pool with `autoreset_mode="SameStep"`.
        infos: Names of the infos to keep.
    """

    def __init__(self, pool: GymnasiumPool, infos: Sequence[str]):
        self._spec = pool.env_spec
        self._obs = [np.zeros((pool.num_envs, *part.shape), part.dtype) for _, part in self._spec.observations]
        known = {"elapsed_step": np.zeros(pool.num_envs, np.int32)}
        for name, part in self._spec.info.items():
            known[name] = np.zeros((pool.num_envs, *part.shape), part.dtype)
        self._info = {"env_id": pool.all_env_ids, **{name: known[name] for name in infos}}
        self._there = np.zeros(pool.num_envs, np.bool_)
        # whether the next reset of all, too, returns what is there
        self.is_resumed = False

    def resume(self, obs: Any, info: dict[str, Any]) -> None:
        """Keeps the observations of all environments from a loaded checkpoint."""
        for kept, part in zip(self._obs, self._spec.unpack(obs), strict=True):
            kept[:] = part
        for name, values in self._info.items():
            if name != "env_id":
                values[:] = info[name]
        self._there[:] = self.is_resumed = True

    def forget(self, ids: EnvIds | slice = slice(None)) -> None:
        """Drops the first observations of these environments, all by default."""
        self._there[ids] = self.is_resumed = False

    def keep(self, obs: Any, info: dict[str, Any]) -> None:
        """Keeps the first observations of new episodes, and puts the last ones of ended episodes in their place."""
        rows = np.flatnonzero(info["_final_obs"])
        ids = info["env_id"][rows]
        finals = [self._spec.unpack(final) for final in info["final_obs"][rows]]
        for k, part in enumerate(self._spec.unpack(obs)):
            self._obs[k][ids] = part[rows]
            part[rows] = [final[k] for final in finals]
        for name, values in self._info.items():
            if name != "env_id":
                values[ids] = info[name][rows]
                info[name][rows] = info["final_info"][name][rows]
        # last: a signal may raise in between
        self._there[ids] = True

    def have(self, ids: EnvIds) -> bool:
        """Whether the observations of all these environments are stored."""
        return bool(self._there[ids].all())

    def take(self, ids: EnvIds) -> Any:
        """Returns and forgets the observations and infos of these environments."""
        self._there[ids] = self.is_resumed = False
        obs = self._spec.pack([part[ids] for part in self._obs])
        return obs, {name: values[ids] for name, values in self._info.items()}
