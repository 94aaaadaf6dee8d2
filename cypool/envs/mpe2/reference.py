"""mpe2's parallel environments as a vector environment of Gymnasium's, with groups of agents as arrays."""
from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space

from cypool.envs.common.group_references import COLUMNS, GroupReference, GroupReferences
from cypool.envs.mpe2.pictures import VERSION, make_env, need_mpe2


class Reference(GroupReference):
    """A parallel environment, in which all agents of a group are one array.

    Args:
        module: mpe2's name of it.
        options: Our options of it.
        max_episode_steps: Truncates episodes after this number of steps.
        render_mode: As in mpe2.
    """

    def __init__(self, module: str, options: dict[str, Any], max_episode_steps: int, render_mode: str | None = None):
        self.env = make_env(module, "parallel_env", options, render_mode)
        self.agents: dict[str, list[str]] = {}
        for agent in self.env.possible_agents:
            self.agents.setdefault(agent.rpartition("_")[0], []).append(agent)
        self.observation_space = self._space(self.env.observation_space)
        self.action_space = self._space(self.env.action_space)
        super().__init__({group: len(agents) for group, agents in self.agents.items()}, max_episode_steps)

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
        of_groups = action if len(self.agents) > 1 else dict.fromkeys(self.agents, action)
        actions = {agent: of_groups[group][k]
                   for group, agents in self.agents.items() for k, agent in enumerate(agents)}
        obs, *values, _ = self.env.step(actions)
        for group, agents in self.agents.items():
            for k, agent in enumerate(agents):
                for name, of_agents in zip(COLUMNS, values, strict=True):
                    self.columns[group][name][k] = of_agents[agent]
        return self._stacked(obs), *self.finish(all(values[1].values()), any(values[2].values())), {}

    def render(self) -> Any:
        """Returns mpe2's picture."""
        return self.env.render()


class References(GroupReferences):
    """A batch of these.

    Args:
        module, options, max_episode_steps: As in `Reference`.
        num_envs, autoreset_mode: As in `GroupReferences`.
    """

    def __init__(self, module: str, options: dict[str, Any], max_episode_steps: int, num_envs: int,
                 autoreset_mode: Any):
        super().__init__(lambda: Reference(module, options, max_episode_steps), num_envs, autoreset_mode)

    def streams(self, rows: list[Any]) -> list[tuple[Any, Any]]:
        """Returns the streams from which treasures come back: in our saved rows, and mpe2's."""
        pairs = []
        for row, env in zip(rows, self.envs, strict=True):
            world: Any = env.env.unwrapped.world  # type: ignore[attr-defined]
            if hasattr(world, "_np_random"):
                pairs.append((row["own"][1], world.np_random.bit_generator.state))
        return pairs


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns mpe2's environments as a vector environment with groups, and their name and version."""
    need_mpe2("check_parity")
    spec = ours.env_spec
    module = spec.id.removeprefix("mpe2/").replace("-", "_")
    theirs = References(module, spec.options, spec.max_episode_steps, ours.num_envs, ours.metadata["autoreset_mode"])
    return theirs, f"{module} of mpe2 {VERSION}"
