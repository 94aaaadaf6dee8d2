"""One environment as a `gymnasium.Env`, for libraries that inspect a single environment or do their own batching."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import cypool
from cypool.api.gymnasium import GymnasiumPool, metadata_of, space_of
from cypool.arguments.action_readers import pack_parts, parts_of
from cypool.arguments.agents import action_of
from cypool.registration.registry import entry_of
from cypool.spec import Array
from cypool.util.arguments import seeds_of, shown

# methods of environments with goals, by which libraries know them
GOAL_METHODS = ("compute_reward", "compute_terminated", "compute_truncated")


class SingleEnv(gymnasium.Env):
    """A pool of one environment as a `gymnasium.Env`: no batch axis, no automatic reset.

    An environment with goals has a pool's methods `compute_reward`, `compute_terminated` and `compute_truncated`.

    Args:
        id: An id of `cypool.list_all_envs()`.
        **kwargs: As in `cypool.make`, except `num_envs`, `batch_size`, `env_type` and `autoreset_mode`.

    Attributes:
        pool: The pool.
        spec: The spec of Gymnasium's environment with this id, or None.
        np_random: A generator for wrappers, with the environment's seed. The environment uses a separate stream.
    """

    # read before there is an environment: with it, gymnasium.make(..., render_mode="human") opens a window
    metadata = {"render_modes": ["rgb_array", "ansi"]}

    def __init__(self, id: str, **kwargs: Any):
        for name in ("num_envs", "batch_size", "env_type", "autoreset_mode"):
            if name in kwargs:
                raise TypeError(f"{name}: expected no argument for a single environment, got {kwargs[name]!r}: "
                                "use cypool.make")
        self.pool = cypool.make(id, "gymnasium", num_envs=1, autoreset_mode="Disabled", **kwargs)
        self._seed_generator(kwargs.get("seed"))
        self.observation_space = self.pool.single_observation_space
        self.action_space = self.pool.single_action_space
        self.metadata = metadata_of(self.pool.env_spec)
        self.render_mode = self.pool.render_mode
        self.spec = gymnasium.registry.get(id)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode. See `gymnasium.Env.reset`.

        Args:
            seed: Seeds the environment's random stream; with None, the stream continues.
            options: As in a pool's reset.
        """
        obs, info = self.pool.reset(seed=seed, options=options)
        self._seed_generator(seed)
        return self._row(obs), _first(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Steps the environment. After the end of an episode, it raises a RuntimeError until `reset`."""
        spec = self.pool.env_spec
        parts = [np.asarray(part)[None] for part in parts_of(spec, action)]
        obs, reward, terminated, truncated, info = self.pool.step(pack_parts(spec.action, iter(parts)))
        return self._row(obs), float(reward[0]), bool(terminated[0]), bool(truncated[0]), _first(info)

    def render(self) -> Any:
        """Returns a picture, uint8, (height, width, 3), or a string."""
        return self.pool.render()[0]

    def __getattr__(self, name: str) -> Any:
        if name in GOAL_METHODS and self.pool.env_spec.goals is not None:
            return getattr(self.pool, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def close(self) -> None:
        """Ends the threads. A second call does nothing."""
        self.pool.close()

    def _seed_generator(self, seed: Any) -> None:
        seeds = seeds_of(seed, 1, self.pool.env_spec.max_seed)
        if seeds is not None:
            super().reset(seed=seeds[0])

    def _row(self, obs: Any) -> Any:
        spec = self.pool.env_spec
        parts = [part[0] for part in spec.unpack(obs)]
        # a Box of one number contains arrays only
        return spec.pack([np.asarray(part) if isinstance(described, Array) else part
                          for part, (_, described) in zip(parts, spec.observations, strict=True)])


class UnlimitedEnv(SingleEnv):
    """A `SingleEnv` without the step limit of its id: `gymnasium.make("cypool/...")` puts a `TimeLimit` around it."""

    # not called `id`, which Gymnasium's `make` has for itself
    def __init__(self, cypool_id: str, **kwargs: Any):
        # a limit that depends on options is part of the environment, and stays
        if entry_of(cypool_id).max_episode_steps is not None:
            kwargs["max_episode_steps"] = 2**31 - 2  # the longest
        super().__init__(cypool_id, **kwargs)


class TupleEnv(SingleEnv):
    """A `SingleEnv` with several agents and tuples of one item per agent, as in lbforaging and rware.

    Observations and both spaces are tuples, rewards are a list, and an action is any sequence, all in the order of
    `EnvSpec.agent_names`. Infos are those defined by the environment.

    Args:
        id: An id of `cypool.list_all_envs()` whose agents all stay until the end of an episode.
        **kwargs: As in `SingleEnv`.

    Raises:
        ValueError: The environment has only one agent, or agents may leave or take turns.
    """

    def __init__(self, id: str, **kwargs: Any):
        super().__init__(id, **kwargs)
        spec = self.pool.env_spec
        if not spec.agents or spec.has_absent_agents:
            self.close()
            raise ValueError(f"id: expected an environment whose agents all act in every step, got {id!r}")
        groups = [group for group in spec.agents.values() for _ in range(group.count)]
        self.observation_space = spaces.Tuple([space_of(group.observation) for group in groups])
        self.action_space = spaces.Tuple([space_of(group.action) for group in groups])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode."""
        obs, info = super().reset(seed=seed, options=options)
        return obs, self._own(info)

    def step(self, action: Sequence[Any]) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Steps the environment with one action per agent."""
        spec = self.pool.env_spec
        if not isinstance(action, Sequence | np.ndarray) or len(action) != spec.num_agents:
            raise ValueError(f"actions: expected one action for each of {', '.join(spec.agent_names)}, got "
                             f"{shown(action)}")
        each, groups = iter(zip(spec.agent_names, action, strict=True)), {}
        for name, group in spec.agents.items():
            own = [next(each) for _ in range(group.count)]
            parts = group.action if isinstance(group.action, Mapping) else {None: group.action}
            rows = {key: np.stack([action_of(part, *given, key) for given in own]) for key, part in parts.items()}
            groups[name] = rows.get(None, rows)
        obs, _, terminated, truncated, info = super().step(groups if len(groups) > 1 else groups.popitem()[1])
        rewards = [reward for columns in info["agents"].values() for reward in columns["reward"].tolist()]
        return obs, rewards, terminated, truncated, self._own(info)

    def _own(self, info: dict[str, Any]) -> dict[str, Any]:
        return {name: info[name] for name in self.pool.env_spec.info}

    def _row(self, obs: Any) -> Any:
        return tuple({name: part[0] for name, part in each.items()} if isinstance(each, dict) else each[0]
                     for each in self.pool.by_agent(obs).values())


def make_vector(cypool_id: str, **kwargs: Any) -> GymnasiumPool:
    """Makes a pool, for `gymnasium.make_vec("cypool/...")`."""
    pool: GymnasiumPool = cypool.make(cypool_id, "gymnasium", **kwargs)
    return pool


def _first(info: dict[str, Any]) -> dict[str, Any]:
    """Returns the infos of row 0."""
    # statistics have a mask, and are nested
    return {key: _first(values) if isinstance(values, dict) else values[0]
            for key, values in info.items() if key != "_episode"}
