"""Multi-agent reference packages as Gymnasium vector environments, with groups of agents as arrays."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv
from gymnasium.vector.utils import batch_space

COLUMNS = ("reward", "terminated", "truncated")


class GroupReference(gymnasium.Env[Any, Any]):
    """One environment, in which each group of agents is one array.

    A subclass sets the spaces, and steps the package's environment between `forget` and `finish`.

    Args:
        groups: The number of agents of each group, by name.
        max_episode_steps: Truncates episodes after this number of steps; None: never.
    """

    def __init__(self, groups: Mapping[str, int], max_episode_steps: int | None):
        self.groups = groups
        self.limit, self.steps = max_episode_steps, 0
        # of the last step
        self.columns: dict[str, dict[str, Any]] = {}
        self.forget()

    def forget(self) -> None:
        """Sets the columns to those of a row without a step."""
        self.columns = {group: {"reward": np.zeros(count), "terminated": np.zeros(count, np.bool_),
                                "truncated": np.zeros(count, np.bool_)} for group, count in self.groups.items()}

    def finish(self, terminated: bool, truncated: bool) -> tuple[float, bool, bool]:
        """Ends a step once its columns are written; returns the environment's reward and end flags."""
        self.steps += 1
        truncated = truncated or (self.limit is not None and self.steps >= self.limit)
        reward = 0.0
        for columns in self.columns.values():
            # one after the other: Python's sum is more exact
            for of_agent in columns["reward"]:
                reward += float(of_agent)
            columns["truncated"] |= truncated & ~columns["terminated"]
        return reward, terminated, truncated


class EnvReference(GroupReference):
    """A reference that wraps one of a package's environments, which a subclass sets as `env`."""

    env: Any

    @property  # type: ignore[misc]
    def np_random(self) -> np.random.Generator:
        """The package's stream."""
        generator: np.random.Generator = self.env.unwrapped.np_random
        return generator


class TupleReference(EnvReference):
    """A Gymnasium environment whose spaces are tuples with an item for each agent, all in one group `agent`."""

    def __init__(self, env: Any, max_episode_steps: int | None):
        self.env = env
        self.observation_space = batch_space(env.observation_space[0], len(env.observation_space))
        self.action_space = batch_space(env.action_space[0], len(env.action_space))
        super().__init__({"agent": len(env.action_space)}, max_episode_steps)

    def _stacked(self, obs: Any) -> Any:
        if isinstance(obs[0], dict):
            return {name: np.stack([each[name] for each in obs]) for name in obs[0]}
        return np.stack(obs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        obs, _ = self.env.reset(seed=seed)
        self.steps = 0
        return self._stacked(obs), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Steps all agents."""
        obs, rewards, terminated, truncated, _ = self.env.step(action.tolist())
        self.columns["agent"]["reward"][:] = rewards
        self.columns["agent"]["terminated"][:] = terminated
        return self._stacked(obs), *self.finish(bool(terminated), bool(truncated)), {}


class ParallelReference(EnvReference):
    """A PettingZoo parallel environment, in which each group of agents, given by their names, is one array."""

    def __init__(self, env: Any, agents: Mapping[str, Sequence[str]], max_episode_steps: int | None):
        self.env, self.agents = env, agents
        self.observation_space = self._space(env.observation_space)
        self.action_space = self._space(env.action_space)
        super().__init__({group: len(names) for group, names in agents.items()}, max_episode_steps)

    def _space(self, of_agent: Any) -> gymnasium.Space[Any]:
        spaces = {}
        for group, agents in self.agents.items():
            space = of_agent(agents[0])
            if any(of_agent(agent) != space for agent in agents):
                raise ValueError(f"{group}: expected agents with the same spaces, got {list(map(of_agent, agents))}")
            spaces[group] = batch_space(space, len(agents))
        return gymnasium.spaces.Dict(spaces) if len(spaces) > 1 else spaces.popitem()[1]

    def _stacked(self, obs: dict[str, Any]) -> Any:
        stacked = {group: np.stack([obs[agent] for agent in agents]) for group, agents in self.agents.items()}
        return stacked if len(stacked) > 1 else stacked.popitem()[1]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        obs, infos = self.env.reset(seed=seed)
        self.steps = 0
        return self._stacked(obs), self.info_of(infos)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Steps all agents."""
        of_groups = action if len(self.agents) > 1 else dict.fromkeys(self.agents, action)
        actions = {agent: of_groups[group][k]
                   for group, agents in self.agents.items() for k, agent in enumerate(agents)}
        obs, *values, infos = self.env.step(actions)
        for group, agents in self.agents.items():
            for k, agent in enumerate(agents):
                for name, of_agents in zip(COLUMNS, values, strict=True):
                    self.columns[group][name][k] = of_agents[agent]
        ends = self.finish(all(values[1].values()), any(values[2].values()))
        return self._stacked(obs), *ends, self.info_of(infos)

    def info_of(self, infos: Any) -> dict[str, Any]:
        """Returns the environment's info, made from those of its agents."""
        return {}


class GroupReferences(SyncVectorEnv):
    """A batch of environments with groups, whose infos have the groups' columns, as in cypool."""

    def __init__(self, make: Callable[[], GroupReference], num_envs: int, autoreset_mode: Any):
        super().__init__([make] * num_envs, autoreset_mode=autoreset_mode)

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        """Resets as `SyncVectorEnv` does."""
        self._forget()
        obs, info = super().reset(**arguments)
        return obs, self._with_columns(info)

    def step(self, actions: Any) -> Any:
        """Steps as `SyncVectorEnv` does."""
        # rows of resets have no step
        self._forget()
        *batch, info = super().step(actions)
        return *batch, self._with_columns(info)

    def _forget(self) -> None:
        for env in self.envs:
            env.forget()  # type: ignore[attr-defined]

    def _with_columns(self, info: dict[str, Any]) -> dict[str, Any]:
        all_rows = np.ones(self.num_envs, np.bool_)
        agents: dict[str, Any] = {}
        for group in self.envs[0].groups:  # type: ignore[attr-defined]
            agents[f"_{group}"] = all_rows
            agents[group] = {}
            columns = [env.columns[group] for env in self.envs]  # type: ignore[attr-defined]
            for name in COLUMNS:
                agents[group][name] = np.stack([each[name] for each in columns])
                agents[group][f"_{name}"] = all_rows
        return {**info, "agents": agents, "_agents": all_rows} if agents else info
