"""lbforaging itself as a Gymnasium vector environment, with all players in one array."""
from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np

from cypool.envs.shared.packages.group_references import GroupReferences, TupleReference
from cypool.spec import EnvSpec
from cypool.util.packages import require_version

VERSION = "2.0.0"


def make_env(spec: EnvSpec) -> Any:
    """Returns an lbforaging environment with our options."""
    own: Any = spec.agents["agent"].observation
    space = gymnasium.spaces.Box(own.low, own.high, own.shape, np.float32)
    # of packages that it imports
    with warnings.catch_warnings(action="ignore"):
        from lbforaging.foraging.environment import ForagingEnv

    class Reference(ForagingEnv):  # type: ignore[misc]
        def _get_observation_space(self) -> Any:
            # it gives the space of grids a wrong shape, and exchanges the bounds of rows and columns
            return space if self._grid_observation or self.rows != self.cols else super()._get_observation_space()

        def spawn_players(self, *levels: Any) -> None:
            if is_fresh:
                for player in self.players:
                    player.position = None
            super().spawn_players(*levels)

        def step(self, actions: Any) -> Any:
            obs, rewards, ended, _, info = super().step(actions)
            truncated = bool(ended and truncates and self.field.any())
            return obs, rewards, bool(ended) and not truncated, truncated, info

    given = dict(spec.options)
    truncates, given["normalize_reward"] = given.pop("truncate"), given.pop("unit_reward")
    is_fresh = given.pop("fresh_world")
    return Reference(max_episode_steps=given.pop("time_limit"), **given)


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns lbforaging's environments as a vector environment with a group of agents, and their name and version."""
    require_version("check_parity needs", "lbforaging", (VERSION,), 'pip install "cypool[lbf]"')
    spec = ours.env_spec
    theirs = GroupReferences(lambda: TupleReference(make_env(spec), spec.max_episode_steps),
                             ours.num_envs, ours.metadata["autoreset_mode"])
    return theirs, f"lbforaging {VERSION}"
