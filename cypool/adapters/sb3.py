"""Stable-Baselines3: a pool as its `VecEnv`. See docs/how_to/training_libraries.md."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cypool.adapters import make_same_step, require, same_step, synchronous
from cypool.adapters.single import GOAL_METHODS
from cypool.api.gymnasium import space_of
from cypool.hosting.spaces import assign, attribute_of, call_method, class_name, wrapper_classes
from cypool.util.warn import warn_caller

if TYPE_CHECKING:
    from cypool.api.gymnasium import GymnasiumPool
    from cypool.util.typing import Bools

require("stable_baselines3", "stable-baselines3", "2.7", "3")

from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import VecEnv  # noqa: E402


def make(id: str, num_envs: int | None = None, **kwargs: Any) -> SB3VecEnv:
    """Makes a batch of environments as an `SB3VecEnv`.

    Args:
        id: As in `cypool.make`.
        num_envs: As in `cypool.make`.
        **kwargs: As in `cypool.make`, except `env_type`, `batch_size` and `autoreset_mode`, which SB3 determines.
            `episode_statistics` is True by default, because SB3 logs them.

    Returns:
        An `SB3VecEnv`; with several agents, an `SB3AgentVecEnv`.
    """
    pool = make_same_step(id, "Stable-Baselines3", num_envs=num_envs, **{"episode_statistics": True, **kwargs})
    return SB3AgentVecEnv(pool) if pool.env_spec.agents else SB3VecEnv(pool)


class SB3VecEnv(VecEnv):
    """A pool as a `VecEnv` of Stable-Baselines3.

    `step` returns observation, reward (float32, (num_envs,)), done (bool, (num_envs,)) and a list of dicts. Each holds
    the environment's infos, `env_id`, `elapsed_step` and `TimeLimit.truncated`; at the end of an episode, also
    `terminal_observation` and, with `episode_statistics`, `episode`, like SB3's `Monitor`, unless the environment has
    its own. At the end of an episode, the infos are those of its last step; those from the start of the next episode
    are in `reset_infos`.

    With Gymnasium's environments, `get_attr`, `set_attr`, `env_method` and `env_is_wrapped` work as in SB3's
    `SubprocVecEnv`. cypool's own environments have no Python objects: `get_attr` reads attributes of the pool, and
    `env_method` calls `compute_reward` and similar methods, for `HerReplayBuffer`, and in turn-based games
    `action_masks`, for sb3-contrib's `MaskablePPO`. `set_attr`, and `env_method` with other names, raise
    AttributeError.

    Args:
        env: A synchronous pool from `cypool.make(..., autoreset_mode="SameStep")`, which the `VecEnv` owns.

    Attributes:
        pool: The argument `env`.
    """

    several_agents = False
    _seeds: Any
    # what the next reset returns, after a checkpoint was loaded
    _resumed: Any = None

    def __init__(self, env: GymnasiumPool):
        self.pool = synchronous(same_step(env, self.several_agents))
        self._has_statistics = env.recipe["episode_statistics"]
        self._is_hosted = env._pool.is_hosted
        self._has_masks = env.env_spec.illegal is not None and "action_mask" in env.env_spec.info
        # each row has the keys that its environment gave it, and no other
        env.keeps_extra_infos = True
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> Any:
        options = [own or None for own in self._options_of_envs()]
        resumed, self._resumed = self._resumed, None
        if resumed is None or any(options) or any(seed is not None for seed in self._seeds):
            if resumed is not None:
                # `load` of an agent that has a seed seeds its environments
                warn_caller("reset: the seed starts new episodes in the checkpoint's environments; to continue the "
                            "saved episodes, call the agent's load(..., force_reset=False)")
            # seeds are for one reset
            resumed = self.pool.reset(seed=self._seeds, options=options if any(options) else None)
        obs, info = resumed
        self._reset_seeds()
        self._reset_options()
        extra_infos = info.pop("extra_infos", ())
        info.pop("agents", None)
        self._keep_masks(info)
        self.reset_infos = _rows(info)
        for row, own, _ in extra_infos:
            self.reset_infos[row].update(own)
        return obs

    def _options_of_envs(self) -> list[dict[str, Any]]:
        options: list[dict[str, Any]] = self._options
        return options

    def _resume(self, obs: Any, info: dict[str, Any]) -> Any:
        """Makes the next reset return these observations of a loaded checkpoint."""
        self._resumed = obs, dict(info)
        self._keep_masks(info)
        self._reset_seeds()
        self._reset_options()
        return obs, info

    def step_async(self, actions: Any) -> None:
        self._resumed = None
        self.pool.send(actions)

    def step_wait(self) -> tuple[Any, NDArray[np.float32], Bools, list[dict[str, Any]]]:
        return self._formatted(self.pool.recv())

    def _formatted(self, batch: Any) -> tuple[Any, NDArray[np.float32], Bools, list[dict[str, Any]]]:
        """Returns a batch of the pool in SB3's format."""
        obs, reward, terminated, truncated, info = batch
        self._keep_masks(info)
        done = terminated | truncated
        extra_infos = info.pop("extra_infos", ())
        final_obs, final_info = info.pop("final_obs", None), info.pop("final_info", {})
        # no environment of cypool has an info of this name
        episode = info.pop("episode", None)
        for mask in ("_final_obs", "_final_info", "_episode"):
            info.pop(mask, None)
        infos = _rows(info)
        for row, own, _ in extra_infos:
            infos[row].update(own)
        ended = np.flatnonzero(done).tolist()
        for i in ended:
            self.reset_infos[i] = infos[i]
            infos[i] = {"env_id": i, **{key: _plain(values[i]) for key, values in final_info.items() if key[0] != "_"}}
        for row, _, final in extra_infos:
            infos[row].update(final or {})
        for row, is_cut in zip(infos, (truncated & ~terminated).tolist(), strict=True):
            row["TimeLimit.truncated"] = is_cut
        for i in ended:
            infos[i]["terminal_observation"] = final_obs[i]
            if episode is not None:
                infos[i].setdefault("episode", {key: values[i].item() for key, values in episode.items()})
        return obs, reward.astype(np.float32), done, infos

    def _keep_masks(self, info: dict[str, Any]) -> None:
        """Remembers which actions are legal in the next step."""
        if self._has_masks:
            self._masks = info["action_mask"] != 0

    def _mask(self, i: int) -> Bools:
        mask: Bools = self._masks[i]
        return mask

    def close(self) -> None:
        self.pool.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        if attr_name == "action_masks" and self._has_masks:
            return [partial(self._mask, i) for i in self._ids_of(indices)]
        if self._is_hosted:
            return self._ask(indices, attribute_of, attr_name)
        return [getattr(self.pool, attr_name) for _ in self._ids_of(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        if not self._is_hosted:
            raise AttributeError(f"set_attr: cannot set {attr_name!r}: a pool's environments have no "
                                 "settable attributes")
        self._ask(indices, assign, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        if not self._is_hosted and method_name in GOAL_METHODS:
            # the same for all environments: of goals, not of their states
            method = getattr(self.pool, method_name)
            return [method(*method_args, **method_kwargs) for _ in self._ids_of(indices)]
        if method_name == "action_masks" and self._has_masks:
            return [self._mask(i) for i in self._ids_of(indices)]
        if not self._is_hosted:
            raise AttributeError(f"env_method: expected one of the methods {', '.join(GOAL_METHODS)}, "
                                 f"got {method_name!r}")
        return self._ask(indices, call_method, method_name, *method_args, **method_kwargs)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Whether environments are wrapped; if the engine keeps statistics, they count as wrapped by `Monitor`."""
        if self._has_statistics and issubclass(wrapper_class, Monitor):
            return [True for _ in self._ids_of(indices)]
        if not self._is_hosted:
            return [False for _ in self._ids_of(indices)]
        return [class_name(wrapper_class) in names for names in self._ask(indices, wrapper_classes)]

    def _ask(self, indices: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
        ids = np.array(self._ids_of(indices), np.int32)
        return self.pool._pool.ask(ids, function, *args, **kwargs) if len(ids) else []

    def _ids_of(self, indices: Any) -> list[int]:
        """Returns the ids of environments that SB3 names as the items of a list: -1 is the last one."""
        return [range(self.num_envs)[i] for i in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        result: Sequence[NDArray[np.uint8] | None] = self.pool.render()
        return result


class SB3AgentVecEnv(SB3VecEnv):
    """A pool with a group of agents as a `VecEnv` whose rows are agents: one policy for all of them.

    The rows are the agents of environment 0, then those of environment 1, and so on: `num_envs` counts agents. Rewards,
    `terminal_observation` and `episode` are per agent; infos also have `agent_id`, the agent's number within its
    environment, and `env_id`, the environment's number.

    Args:
        env: A synchronous pool from `cypool.make(..., autoreset_mode="SameStep")`, which the `VecEnv` owns. Its agents
            form one group, and none leaves early.

    Attributes:
        pool: The argument `env`.
    """

    several_agents = True

    def __init__(self, env: GymnasiumPool):
        spec = same_step(env, True).env_spec
        if len(spec.agents) != 1 or spec.has_absent_agents:
            some_leave = ", some of which leave" if spec.has_absent_agents else ""
            raise ValueError("env: expected one group of agents that never leave early (all rows share a "
                             f"policy), got {spec.id} with {list(spec.agents)}{some_leave}")
        ((self._group, group),) = spec.agents.items()
        self._count = group.count
        super().__init__(env)
        VecEnv.__init__(self, env.num_envs * group.count, space_of(group.observation), space_of(group.action))

    def reset(self) -> Any:
        # SB3 has a seed for each row, each one more than that before: as many are used as there are environments
        self._seeds = self._seeds[:self.pool.num_envs]
        obs = super().reset()
        self.reset_infos = self._of_agents(self.reset_infos)
        return self._rows_of(obs)

    def _options_of_envs(self) -> list[dict[str, Any]]:
        rows = [self._options[k:k + self._count] for k in range(0, self.num_envs, self._count)]
        if any(own != row[0] for row in rows for own in row):
            raise ValueError("options: expected the same options for all agents in an environment, got "
                             f"{self._options}")
        return [row[0] for row in rows]

    def step_wait(self) -> tuple[Any, NDArray[np.float32], Bools, list[dict[str, Any]]]:
        batch = self.pool.recv()
        obs, reward, terminated, truncated, info = batch
        columns = info.pop("agents")[self._group]
        of_agents = info.get("episode", {}).pop("agents", {}).get(self._group)
        finals = info.get("final_obs")
        self.reset_infos = self.reset_infos[::self._count]
        _, _, done, rows = self._formatted(batch)
        self.reset_infos = self._of_agents(self.reset_infos)
        infos = self._of_agents(rows)
        ended = np.flatnonzero(done).tolist()
        for i in ended:
            for k in range(self._count):
                row = infos[i * self._count + k]
                row["terminal_observation"] = _row_of(finals[i], k)
                if of_agents is not None:
                    row["episode"] = {"r": of_agents["r"][i, k].item(), "l": of_agents["l"][i, k].item(),
                                      "t": rows[i]["episode"]["t"]}
        return (self._rows_of(obs), columns["reward"].reshape(-1).astype(np.float32), np.repeat(done, self._count),
                infos)

    def _rows_of(self, obs: Any) -> Any:
        """Returns observations with a row for each agent: views."""
        if isinstance(obs, dict):
            return {name: self._rows_of(part) for name, part in obs.items()}
        return obs.reshape(self.num_envs, *obs.shape[2:])

    def _of_agents(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "agent_id": k} for row in rows for k in range(self._count)]

    def _ids_of(self, indices: Any) -> list[int]:
        return [range(self.num_envs)[i] // self._count for i in self._get_indices(indices)]


def _row_of(obs: Any, k: int) -> Any:
    """Returns the observation of agent k, of one environment."""
    return {name: _row_of(part, k) for name, part in obs.items()} if isinstance(obs, dict) else obs[k]


def _plain(value: Any) -> Any:
    return value.item() if value.ndim == 0 else value


def _rows(info: dict[str, Any]) -> Any:
    """Returns a dict of arrays as a list of dicts."""
    # numbers become Python's own, arrays stay rows
    columns = [values.tolist() if values.ndim == 1 else values for values in info.values()]
    keys = list(info)
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
