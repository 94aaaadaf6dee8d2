"""TorchRL: a pool as its environment. See docs/how_to/training_libraries.md."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.adapters import make_same_step, require, same_step, synchronous
from cypool.adapters.reset_cache import ResetCache
from cypool.spec import Discrete

if TYPE_CHECKING:
    from cypool.api.gymnasium import GymnasiumPool

require("torchrl", "torchrl", "0.11", "0.15")

import torch  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded  # noqa: E402
from torchrl.envs import EnvBase  # noqa: E402


def make(id: str, infos: Sequence[str] = (), device: Any = "cpu", **kwargs: Any) -> PoolEnv:
    """Makes a batch of environments as a `PoolEnv`.

    Args:
        id: An id of `cypool.list_all_envs()`.
        infos, device: As for `PoolEnv`.
        **kwargs: As for `cypool.make`, except `env_type`, `batch_size` and `autoreset_mode`.
    """
    return PoolEnv(make_same_step(id, "TorchRL", **kwargs), infos, device)


def torch_spec_of(description: Any, num_envs: int, device: Any) -> Any:
    """Returns the TorchRL spec of `num_envs` rows of an `Array` or a `Discrete`, or of a dict of them."""
    if isinstance(description, Mapping):
        return Composite({name: torch_spec_of(part, num_envs, device) for name, part in description.items()},
                         shape=[num_envs], device=device)
    shape = (num_envs, *description.shape)
    if isinstance(description, Discrete):
        return Categorical(description.n, shape=shape, dtype=torch.int64, device=device)
    dtype = torch.from_numpy(np.zeros(0, description.dtype)).dtype
    if dtype == torch.bool:
        return Binary(shape=shape, dtype=dtype, device=device)
    if not (np.isfinite(description.low).all() and np.isfinite(description.high).all()):
        return Unbounded(shape=shape, dtype=dtype, device=device)
    low, high = (torch.from_numpy(np.broadcast_to(bound, shape).copy())
                 for bound in (description.low, description.high))
    return Bounded(low, high, shape=shape, dtype=dtype, device=device)


class PoolEnv(EnvBase):
    """A pool as an `EnvBase` of TorchRL with `batch_size=[num_envs]`.

    TorchRL resets what has ended itself, by a mask. The pool has the first observation of the next episode by then, so
    that this steps nothing.

    Keys: `action`, int64 for discrete ones, or `("action", name)` for each part of a dict; `observation`, or the keys
    of a dict; those of `infos`; `reward` float32, `done`, `terminated` and `truncated`, with a last axis of 1.

    Args:
        pool: What `cypool.make(..., autoreset_mode="SameStep")` returns; synchronous. The `PoolEnv` owns it.
        infos: Names of infos that are keys, too.
        device: Where tensors are to be.

    Raises:
        TypeError, ValueError: `pool` is no such pool, observes a tuple, or has no such info.

    Attributes:
        pool: `pool`.
    """

    def __init__(self, pool: GymnasiumPool, infos: Sequence[str] = (), device: Any = "cpu"):
        synchronous(same_step(pool))
        # infos here are tensors: what environments of Gymnasium return has no place
        pool.keeps_extra_infos = True
        num_envs, spec = pool.num_envs, pool.env_spec
        super().__init__(device=device, batch_size=[num_envs])
        self.pool = pool
        if isinstance(spec.observation, tuple):
            raise TypeError(f"pool: expected an array or a dict as observation, got {spec.observation}")
        self._infos = list(infos)
        for name in self._infos:
            if name not in spec.info:
                raise ValueError(f"infos: expected names of {list(spec.info)}, got {name!r}")
        self._reset_cache = ResetCache(pool, self._infos)
        self._coming_seed: int | None = None
        described = {"observation" if key is None else key: part for key, part in spec.observations}
        described.update((name, spec.info[name]) for name in self._infos)
        specs = {key: torch_spec_of(part, num_envs, device) for key, part in described.items()}
        self.observation_spec = Composite(specs, shape=[num_envs], device=device)
        # under its key, as TorchRL would take the parts of a dict for keys of their own
        self.full_action_spec = Composite(action=torch_spec_of(spec.action, num_envs, device), shape=[num_envs],
                                          device=device)
        self.reward_spec = Unbounded(shape=(num_envs, 1), dtype=torch.float32, device=device)
        flag = Binary(shape=(num_envs, 1), dtype=torch.bool, device=device)
        self.done_spec = Composite({key: flag.clone() for key in ("done", "terminated", "truncated")},
                                   shape=[num_envs], device=device)

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        seed, self._coming_seed = self._coming_seed, None
        mask = None if tensordict is None else tensordict.get("_reset", None)
        if mask is None or mask.all():
            ids = self.pool.all_env_ids
        else:
            ids = np.flatnonzero(mask.cpu().numpy().reshape(self.pool.num_envs)).astype(np.int32)
        if mask is not None and seed is None and self._reset_cache.have(ids):
            obs, info = self._reset_cache.take(ids)
        else:
            self._reset_cache.forget(ids)
            obs, info = self.pool.reset(ids, seed=seed)
        rows = self._tensors(obs, info)
        if len(ids) < self.pool.num_envs:
            # of the others TorchRL keeps what it has
            every = {}
            for key, tensor in rows.items():
                every[key] = torch.zeros(self.pool.num_envs, *tensor.shape[1:], dtype=tensor.dtype)
                every[key][torch.from_numpy(ids).long()] = tensor
            rows = every
        return TensorDict(rows, batch_size=self.batch_size, device=self.device)

    def _step(self, tensordict: Any) -> Any:
        self._reset_cache.forget()
        actions = tensordict.get("action")
        if isinstance(self.pool.env_spec.action, Mapping):
            actions = {name: actions.get(name).cpu().numpy() for name in self.pool.env_spec.action}
        else:
            actions = actions.cpu().numpy()
        obs, reward, terminated, truncated, info = self.pool.step(actions)
        if "_final_obs" in info:
            self._reset_cache.keep(obs, info)
        rows = self._tensors(obs, info)
        flags = {"done": terminated | truncated, "terminated": terminated, "truncated": truncated,
                 "reward": reward.astype(np.float32)}
        rows.update((key, torch.from_numpy(values).unsqueeze(-1)) for key, values in flags.items())
        return TensorDict(rows, batch_size=self.batch_size, device=self.device)

    def _set_seed(self, seed: int | None) -> None:
        self._coming_seed = seed

    def _tensors(self, obs: Any, info: dict[str, Any]) -> dict[str, Any]:
        obs = obs if isinstance(obs, dict) else {"observation": obs}
        return {key: torch.from_numpy(values)
                for key, values in (*obs.items(), *((name, info[name]) for name in self._infos))}

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Closes the pool."""
        super().close(raise_if_closed=raise_if_closed)
        self.pool.close()
