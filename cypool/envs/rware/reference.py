"""rware itself as a Gymnasium vector environment, with all agents in one array."""
from __future__ import annotations

import warnings
from typing import Any

from cypool.envs.shared.packages.group_references import GroupReferences, TupleReference
from cypool.spec import EnvSpec
from cypool.util.packages import require_version

VERSION = "2.0.0"


def make_env(spec: EnvSpec) -> Any:
    """Returns an rware environment with our options."""
    # of packages that it imports
    with warnings.catch_warnings(action="ignore"):
        from rware.warehouse import ImageLayer, ObservationType, RewardType, Warehouse

    class Reference(Warehouse):  # type: ignore[misc]
        def step(self, actions: Any) -> Any:
            obs, rewards, ended, _, info = super().step(actions)
            return obs, rewards, ended and not truncates, ended and truncates, info

    given = dict(spec.options)
    truncates = given.pop("truncate")
    given["reward_type"] = RewardType[given["reward_type"].upper()]
    given["observation_type"] = ObservationType[given["observation_type"].upper()]
    given["image_observation_layers"] = [ImageLayer[name.upper()] for name in given["image_observation_layers"]]
    # of bounds that it gives as float64
    with warnings.catch_warnings(action="ignore"):
        return Reference(**given)


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns rware's environments as a vector environment with a group of agents, and their name and version."""
    require_version("check_parity needs", "rware", (VERSION,), 'pip install "cypool[rware]"')
    spec = ours.env_spec
    theirs = GroupReferences(lambda: TupleReference(make_env(spec), spec.max_episode_steps),
                             ours.num_envs, ours.metadata["autoreset_mode"])
    return theirs, f"rware {VERSION}"
