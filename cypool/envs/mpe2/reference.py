"""mpe2's parallel environments as a Gymnasium vector environment, with groups of agents as arrays."""
from __future__ import annotations

from typing import Any

from cypool.envs.mpe2.pictures import VERSION, make_env, module_of, need_mpe2
from cypool.envs.shared.packages.group_references import GroupReferences, ParallelReference


class Reference(ParallelReference):
    """A parallel environment with our options, in which each group of agents is one array."""

    def __init__(self, module: str, options: dict[str, Any], max_episode_steps: int, render_mode: str | None = None):
        env = make_env(module, "parallel_env", options, render_mode)
        agents: dict[str, list[str]] = {}
        for agent in env.possible_agents:
            agents.setdefault(agent.rpartition("_")[0], []).append(agent)
        super().__init__(env, agents, max_episode_steps)

    def render(self) -> Any:
        """Returns mpe2's picture."""
        return self.env.render()


class References(GroupReferences):
    """A batch of these environments."""

    def __init__(self, module: str, options: dict[str, Any], max_episode_steps: int, num_envs: int,
                 autoreset_mode: Any):
        super().__init__(lambda: Reference(module, options, max_episode_steps), num_envs, autoreset_mode)

    def streams(self, rows: list[Any]) -> list[tuple[Any, Any]]:
        """Returns the streams from which treasures respawn, from our saved rows and from mpe2."""
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
    module = module_of(spec.id)
    theirs = References(module, spec.options, spec.max_episode_steps, ours.num_envs, ours.metadata["autoreset_mode"])
    return theirs, f"{module} of mpe2 {VERSION}"
