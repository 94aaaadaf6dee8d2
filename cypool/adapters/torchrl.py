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

MASK = "action_mask"


def make(id: str, infos: Sequence[str] = (), device: Any = "cpu", **kwargs: Any) -> PoolEnv:
    """Makes a batch of environments as a `PoolEnv`.

    Args:
        id: As in `cypool.make`.
        infos, device: As in `PoolEnv`.
        **kwargs: As in `cypool.make`, except `env_type`, `batch_size` and `autoreset_mode`.

    Returns:
        A `PoolEnv`; with several agents, an `AgentPoolEnv`.
    """
    pool = make_same_step(id, "TorchRL", **kwargs)
    return (AgentPoolEnv if pool.env_spec.agents else PoolEnv)(pool, infos, device)


def torch_spec_of(description: Any, batch: tuple[int, ...], device: Any) -> Any:
    """Returns the TorchRL spec of a batch of an `Array` or a `Discrete`, or of a dict of them."""
    if isinstance(description, Mapping):
        return Composite({name: torch_spec_of(part, batch, device) for name, part in description.items()},
                         shape=batch, device=device)
    shape = (*batch, *description.shape)
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

    TorchRL itself resets environments whose episode has ended, using a mask. By then, the pool already has the first
    observation of the next episode, so a reset steps nothing.

    If only some actions are legal, the key `action_mask` marks them: bool, all True if none is legal, as at the end of
    an episode.

    Keys: `action`, int64 for discrete actions, or `("action", name)` for each part of a dict; `observation`, or a
    dict's keys; the names in `infos`; `reward` float32, `done`, `terminated` and `truncated`, with a last axis of 1.

    Args:
        pool: A synchronous pool from `cypool.make(..., autoreset_mode="SameStep")`, which the `PoolEnv` owns.
        infos: Names of infos to add as keys.
        device: The device of the tensors.

    Raises:
        TypeError, ValueError: `pool` is not such a pool, its observation is a tuple, or it lacks one of these infos.

    Attributes:
        pool: The argument.
    """

    several_agents = False

    def __init__(self, pool: GymnasiumPool, infos: Sequence[str] = (), device: Any = "cpu"):
        synchronous(same_step(pool, self.several_agents))
        # infos here are tensors: those of Gymnasium's environments are left out
        pool.keeps_extra_infos = True
        num_envs, spec = pool.num_envs, pool.env_spec
        super().__init__(device=device, batch_size=[num_envs])
        self.pool = pool
        if isinstance(spec.observation, tuple):
            raise TypeError(f"pool: expected an array or a dict as the observation, got {spec.observation}")
        self._infos = list(infos)
        if spec.illegal is not None and MASK in spec.info and MASK not in self._infos:
            self._infos.append(MASK)
        for name in self._infos:
            if name not in spec.info:
                raise ValueError(f"infos: expected names from {list(spec.info)}, got {name!r}")
        self._reset_cache = ResetCache(pool, self._infos)
        self._coming_seed: int | None = None
        self._masks: dict[Any, Any] = {}  # those of the last observations
        self._describe()
        flag = Binary(shape=(num_envs, 1), dtype=torch.bool, device=device)
        self.done_spec = Composite({key: flag.clone() for key in ("done", "terminated", "truncated")},
                                   shape=[num_envs], device=device)

    def _describe(self) -> None:
        """Assigns the specs of observations, actions and rewards."""
        num_envs, spec, device = self.pool.num_envs, self.pool.env_spec, self.device
        described = {"observation" if key is None else key: part for key, part in spec.observations}
        described.update((name, spec.info[name]) for name in self._infos)
        specs = self._specs_of(described, (num_envs,))
        self.observation_spec = Composite(specs, shape=[num_envs], device=device)
        # under its key, as TorchRL would take the parts of a dict for separate keys
        self.full_action_spec = Composite(action=torch_spec_of(spec.action, (num_envs,), device), shape=[num_envs],
                                          device=device)
        self.reward_spec = Unbounded(shape=(num_envs, 1), dtype=torch.float32, device=device)

    def _specs_of(self, described: Mapping[str, Any], batch: tuple[int, ...]) -> dict[str, Any]:
        """Returns the specs of observations and infos."""
        return {key: Binary(shape=(*batch, *part.shape), dtype=torch.bool, device=self.device)
                if self._is_mask(key) else torch_spec_of(part, batch, self.device) for key, part in described.items()}

    def _is_mask(self, name: str) -> bool:
        return name == MASK and self.pool.env_spec.illegal is not None

    def _masks_of(self, rows: dict[Any, Any]) -> dict[Any, Any]:
        return {key: rows[key] for key in rows if self._is_mask(key[1] if isinstance(key, tuple) else key)}

    def _tensor(self, name: str, values: Any) -> Any:
        """Returns the tensor of a part of observations, or of an info."""
        if not self._is_mask(name):
            return torch.from_numpy(values)
        mask = torch.from_numpy(values != 0)
        # a distribution needs an action
        return mask | ~mask.any(-1, keepdim=True)

    def _reset(self, tensordict: Any = None, **kwargs: Any) -> Any:
        seed, self._coming_seed = self._coming_seed, None
        mask = None if tensordict is None else tensordict.get("_reset", None)
        every, ids = True, self.pool.all_env_ids
        if mask is not None and not mask.all():
            every, ids = False, np.flatnonzero(mask.cpu().numpy().reshape(self.pool.num_envs)).astype(np.int32)
        if seed is None and self._reset_cache.have(ids) and (mask is not None or self._reset_cache.is_resumed):
            obs, info = self._reset_cache.take(ids)
        else:
            self._reset_cache.forget(ids)
            # of all without ids, as that throws away a step that was interrupted
            obs, info = self.pool.reset(None if every else ids, seed=seed)
        rows = self._tensors(obs, info)
        if not every:
            # TorchRL keeps the values of the other environments, but its ActionMask looks at all masks here
            found, rows = rows, {}
            for key, tensor in found.items():
                kept = self._masks.get(key)
                rows[key] = (torch.zeros(self.pool.num_envs, *tensor.shape[1:], dtype=tensor.dtype) if kept is None
                             else kept.clone())
                rows[key][torch.from_numpy(ids).long()] = tensor
        self._masks = self._masks_of(rows)
        return self._packed(rows)

    def _step(self, tensordict: Any) -> Any:
        self._reset_cache.forget()
        obs, reward, terminated, truncated, info = self.pool.step(self._actions(tensordict))
        if "_final_obs" in info:
            self._reset_cache.keep(obs, info)
        rows = self._tensors(obs, info)
        self._masks = self._masks_of(rows)
        flags = {"done": terminated | truncated, "terminated": terminated, "truncated": truncated}
        rows.update((key, torch.from_numpy(values).unsqueeze(-1)) for key, values in flags.items())
        rows.update(self._rewards(reward, info))
        return self._packed(rows)

    def _actions(self, tensordict: Any) -> Any:
        """Returns actions in the pool's format."""
        actions = tensordict.get("action")
        if isinstance(self.pool.env_spec.action, Mapping):
            return {name: actions.get(name).cpu().numpy() for name in self.pool.env_spec.action}
        return actions.cpu().numpy()

    def _rewards(self, reward: Any, info: dict[str, Any]) -> dict[Any, Any]:
        return {"reward": torch.from_numpy(reward.astype(np.float32)).unsqueeze(-1)}

    def _packed(self, rows: dict[Any, Any]) -> Any:
        return TensorDict(rows, batch_size=self.batch_size, device=self.device)

    def _resume(self, obs: Any, info: dict[str, Any]) -> Any:
        """Makes the next reset return these observations of a loaded checkpoint."""
        self._coming_seed = None
        self._reset_cache.resume(obs, info)
        self._masks = self._masks_of(self._tensors(obs, info))
        return obs, info

    def _set_seed(self, seed: int | None) -> None:
        self._coming_seed = seed

    def _tensors(self, obs: Any, info: dict[str, Any]) -> dict[str, Any]:
        obs = obs if isinstance(obs, dict) else {"observation": obs}
        return {key: self._tensor(key, values)
                for key, values in (*obs.items(), *((name, info[name]) for name in self._infos))}

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Closes the pool."""
        super().close(raise_if_closed=raise_if_closed)
        self.pool.close()


class AgentPoolEnv(PoolEnv):
    """A pool with groups of agents as an `EnvBase` of TorchRL, with TorchRL's keys for several agents.

    Keys: for each group, `(group, "observation")`, or the keys of a dict; `(group, "action")`, `(group, "reward")`,
    float32 with a last axis of 1, and `(group, "mask")`, whether the agent acts in the next step; their dimensions are
    `(num_envs, agents, ...)`. `done`, `terminated` and `truncated` belong to the environment, whose episode ends when
    no agent is left in the game; so `done_on_any` does not apply.

    Args:
        pool, infos, device: As in `PoolEnv`.

    Attributes:
        pool: The argument.
        group_map: The agents' names, by group.
    """

    several_agents = True

    def _describe(self) -> None:
        num_envs, spec, device = self.pool.num_envs, self.pool.env_spec, self.device
        names = iter(spec.agent_names)
        self.group_map = {name: [next(names) for _ in range(group.count)] for name, group in spec.agents.items()}
        observations: dict[str, Any] = self._specs_of({name: spec.info[name] for name in self._infos}, (num_envs,))
        actions, rewards = {}, {}
        for name, group in spec.agents.items():
            shape = [num_envs, group.count]
            parts = self._specs_of(_parts(group), (num_envs, group.count))
            mask = Binary(shape=shape, dtype=torch.bool, device=device)
            observations[name] = Composite({**parts, "mask": mask}, shape=shape, device=device)
            actions[name] = Composite(action=torch_spec_of(group.action, (num_envs, group.count), device), shape=shape,
                                      device=device)
            rewards[name] = Composite(reward=Unbounded(shape=(*shape, 1), dtype=torch.float32, device=device),
                                      shape=shape, device=device)
        self.observation_spec = Composite(observations, shape=[num_envs], device=device)
        self.full_action_spec = Composite(actions, shape=[num_envs], device=device)
        self.full_reward_spec = Composite(rewards, shape=[num_envs], device=device)

    def _actions(self, tensordict: Any) -> Any:
        given = {}
        for name, group in self.pool.env_spec.agents.items():
            actions = tensordict.get((name, "action"))
            given[name] = ({key: actions.get(key).cpu().numpy() for key in group.action}
                           if isinstance(group.action, Mapping) else actions.cpu().numpy())
        return given if len(given) > 1 else given.popitem()[1]

    def _rewards(self, reward: Any, info: dict[str, Any]) -> dict[Any, Any]:
        return {(name, "reward"): torch.from_numpy(columns["reward"].astype(np.float32)).unsqueeze(-1)
                for name, columns in info["agents"].items()}

    def _tensors(self, obs: Any, info: dict[str, Any]) -> dict[Any, Any]:
        tensors: dict[Any, Any] = {name: self._tensor(name, info[name]) for name in self._infos}
        spec, first = self.pool.env_spec, 0
        acting = self.pool._pool.acting(info["env_id"])
        if "_final_obs" in info:
            # there, those that act are of the next episode
            acting[info["_final_obs"]] = False
        for name, group in spec.agents.items():
            own = obs[name] if len(spec.agents) > 1 else obs
            parts = own if isinstance(own, dict) else {"observation": own}
            tensors.update(((name, key), self._tensor(key, part)) for key, part in parts.items())
            tensors[name, "mask"] = torch.from_numpy(acting[:, first:first + group.count].copy())
            first += group.count
        return tensors

    def _packed(self, rows: dict[Any, Any]) -> Any:
        # of a group's tensors the first two dimensions are the same
        nested: dict[Any, Any] = {key: tensor for key, tensor in rows.items() if not isinstance(key, tuple)}
        for name, group in self.pool.env_spec.agents.items():
            own = {key[1]: tensor for key, tensor in rows.items() if isinstance(key, tuple) and key[0] == name}
            nested[name] = TensorDict(own, batch_size=[self.pool.num_envs, group.count], device=self.device)
        return super()._packed(nested)


def _parts(group: Any) -> dict[str, Any]:
    return dict(group.observation) if isinstance(group.observation, Mapping) else {"observation": group.observation}
