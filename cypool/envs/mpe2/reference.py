"""mpe2's parallel environments as a vector environment of Gymnasium's, with groups of agents as arrays."""
from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv
from gymnasium.vector.utils import batch_space

from cypool.envs.mpe2.pictures import VERSION, make_env, need_mpe2

COLUMNS = ("reward", "terminated", "truncated")


class Reference(gymnasium.Env[Any, Any]):
    """A parallel environment, in which all agents of a group are one array.

    Args:
        module: mpe2's name of it.
        options: Our options of it.
        max_episode_steps: Truncates episodes after this number of steps.
        render_mode: As in mpe2.
    """

    def __init__(self, module: str, options: dict[str, Any], max_episode_steps: int, render_mode: str | None = None):
        self.env = make_env(module, "parallel_env", options, render_mode)
        self.limit, self.steps = max_episode_steps, 0
        self.groups: dict[str, list[str]] = {}
        for agent in self.env.possible_agents:
            self.groups.setdefault(agent.rpartition("_")[0], []).append(agent)
        self.observation_space = self._space(self.env.observation_space)
        self.action_space = self._space(self.env.action_space)
        # of the last step
        self.columns: dict[str, dict[str, Any]] = {}
        self.forget()

    def _space(self, of_agent: Any) -> gymnasium.Space[Any]:
        spaces = {}
        for group, agents in self.groups.items():
            space = of_agent(agents[0])
            if any(of_agent(agent) != space for agent in agents):
                raise ValueError(f"{group}: expected agents with the same spaces, got {list(map(of_agent, agents))}")
            spaces[group] = batch_space(space, len(agents))
        return gymnasium.spaces.Dict(spaces) if len(spaces) > 1 else spaces.popitem()[1]

    def forget(self) -> None:
        """Makes the columns those of a row without a step."""
        self.columns = {group: {"reward": np.zeros(len(agents)), "terminated": np.zeros(len(agents), np.bool_),
                                "truncated": np.zeros(len(agents), np.bool_)} for group, agents in self.groups.items()}

    def _stacked(self, obs: dict[str, Any]) -> Any:
        stacked = {group: np.stack([obs[agent] for agent in agents]) for group, agents in self.groups.items()}
        return stacked if len(stacked) > 1 else stacked.popitem()[1]

    @property  # type: ignore[misc]
    def np_random(self) -> np.random.Generator:
        """mpe2's stream."""
        generator: np.random.Generator = self.env.unwrapped.np_random
        return generator

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        obs, _ = self.env.reset(seed=seed)
        self.steps = 0
        return self._stacked(obs), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Steps all agents."""
        of_groups = action if len(self.groups) > 1 else dict.fromkeys(self.groups, action)
        actions = {agent: of_groups[group][k]
                   for group, agents in self.groups.items() for k, agent in enumerate(agents)}
        obs, *values, _ = self.env.step(actions)
        self.steps += 1
        terminated, truncated = all(values[1].values()), any(values[2].values()) or self.steps >= self.limit
        reward = 0.0
        for group, agents in self.groups.items():
            for k, agent in enumerate(agents):
                # one after the other: Python's sum is more exact
                reward += values[0][agent]
                for name, of_agents in zip(COLUMNS, values, strict=True):
                    self.columns[group][name][k] = of_agents[agent]
            self.columns[group]["truncated"] |= truncated & ~self.columns[group]["terminated"]
        return self._stacked(obs), reward, terminated, truncated, {}

    def render(self) -> Any:
        """Returns mpe2's picture."""
        return self.env.render()


class References(SyncVectorEnv):
    """A batch of these, whose infos have the columns of groups, as cypool's have them.

    Args:
        module, options, max_episode_steps: As in `Reference`.
        num_envs: How many.
        autoreset_mode: As in `SyncVectorEnv`.
    """

    def __init__(self, module: str, options: dict[str, Any], max_episode_steps: int, num_envs: int,
                 autoreset_mode: Any):
        super().__init__([lambda: Reference(module, options, max_episode_steps)] * num_envs,
                         autoreset_mode=autoreset_mode)

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

    def streams(self, rows: list[Any]) -> list[tuple[Any, Any]]:
        """Returns the streams from which treasures come back: in our saved rows, and mpe2's."""
        pairs = []
        for row, env in zip(rows, self.envs, strict=True):
            world: Any = env.env.unwrapped.world  # type: ignore[attr-defined]
            if hasattr(world, "_np_random"):
                pairs.append((row["own"][1], world.np_random.bit_generator.state))
        return pairs

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
        return {**info, "agents": agents, "_agents": all_rows}


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns mpe2's environments as a vector environment with groups, and their name and version."""
    need_mpe2("check_parity")
    spec = ours.env_spec
    module = spec.id.removeprefix("mpe2/").replace("-", "_")
    theirs = References(module, spec.options, spec.max_episode_steps, ours.num_envs, ours.metadata["autoreset_mode"])
    return theirs, f"{module} of mpe2 {VERSION}"
