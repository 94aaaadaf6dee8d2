"""highway-env itself: the reference for `cypool.testing.check_parity`."""
from __future__ import annotations

import functools
import warnings
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space

from cypool.envs.highway.ids import ENVPOOL
from cypool.envs.highway.pictures import VERSION, need_highway_env
from cypool.envs.highway.specs import config_of
from cypool.envs.shared.packages.group_references import EnvReference, GroupReferences

# an intersection changes these for the whole process
_GENTLE = {"DISTANCE_WANTED": 10.0, "COMFORT_ACC_MAX": 3.0, "COMFORT_ACC_MIN": -5.0}
_HARSH = {"DISTANCE_WANTED": 7, "COMFORT_ACC_MAX": 6, "COMFORT_ACC_MIN": -3}
# without an argument `config`
_BARE = ("parking-ActionRepeat-v0", "parking-parked-v0", "lane-keeping-v0")


class Reference(EnvReference):
    """A highway-env environment, with an array for each group of agents, and infos as columns.

    Args:
        env: The environment.
        limit: Truncates episodes after this number of steps; None: never.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], limit: int | None):
        self.env, self.is_group = env, isinstance(env.action_space, gymnasium.spaces.Tuple)
        for name in ("observation_space", "action_space"):
            spaces: Any = getattr(env, name)
            setattr(self, name, batch_space(spaces[0], len(spaces)) if self.is_group else spaces)
        super().__init__({"agent": len(spaces)} if self.is_group else {}, limit)

    def render(self) -> Any:
        """Draws random numbers as the package does."""
        return self.env.render()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        obs, info = _call(self.env.reset, seed=seed, options=options)
        self.steps = 0
        return self._stacked(obs), self._flat(info, {"lane_change_reward": 0.0, "action_reward": 0.0})

    def step(self, action: Any) -> Any:
        """Steps all agents."""
        obs, reward, terminated, truncated, info = _call(self.env.step, tuple(action) if self.is_group else action)
        if isinstance(reward, tuple):
            # the wrapper has each agent's instead
            info = {**info, "agents_rewards": reward, "agents_terminated": terminated}
            inner: Any = self.env.unwrapped
            reward, terminated = inner._reward(None), inner._is_terminated()
        for columns in self.columns.values():
            columns["reward"][:] = info.get("agents_rewards", reward)
            columns["terminated"][:] = terminated
        _, terminated, truncated = self.finish(bool(terminated), bool(truncated))
        return self._stacked(obs), float(reward), terminated, truncated, self._flat(info, {})

    def _stacked(self, obs: Any) -> Any:
        return np.stack(obs) if self.is_group else obs

    def _flat(self, info: dict[str, Any], idle: dict[str, float]) -> dict[str, Any]:
        """Returns infos without `action` and with the rewards as columns; at reset, the rewards of idling."""
        rewards = info.get("rewards", {})
        flat = {key: value for key, value in info.items() if key not in ("rewards", "action")}
        flat |= {key: float(idle.get(key, value)) for key, value in rewards.items()}
        for key, dtype in (("agents_rewards", np.float64), ("agents_terminated", np.bool_)):
            if key in flat:
                flat[key] = np.array(flat[key], dtype)
        for key in flat.keys() & {"crashed", "is_success"}:
            flat[key] = bool(flat[key])
        return flat


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns highway-env's environments with the same id and options, and their name and version."""
    need_highway_env("check_parity")
    if "others_collide" in options:
        raise ValueError("others_collide: expected no argument, because highway-env has separate ids instead")
    spec = ours.env_spec
    id = ENVPOOL.get(spec.id, spec.id)
    make = functools.partial(_make, id, options, spec.max_episode_steps)
    theirs = GroupReferences(make, ours.num_envs, ours.metadata["autoreset_mode"])
    return theirs, f"{id} of highway-env {VERSION}"


def _make(id: str, options: dict[str, Any], limit: int | None) -> Reference:
    import highway_env  # noqa: F401

    config = config_of(options)
    # that there is a newer version
    with warnings.catch_warnings(action="ignore"):
        arguments: dict[str, Any] = {} if id in _BARE else {"config": config}
        env = gymnasium.make(id, disable_env_checker=True, max_episode_steps=-1, **arguments)
    inner: Any = env.unwrapped
    if id in _BARE:
        inner.config.update(config)
        inner.define_spaces()
    return Reference(env, limit)


def _call(method: Any, *arguments: Any, **more: Any) -> Any:
    """Calls a method of an environment with the drivers of its task."""
    from highway_env.envs import IntersectionEnv
    from highway_env.utils import class_from_path
    from highway_env.vehicle.behavior import IDMVehicle

    inner = method.__self__.unwrapped
    named = inner.config.get("other_vehicles_type")
    # an earlier crossing may have changed a class above the one that is named
    drivers = {IDMVehicle, class_from_path(named) if named else IDMVehicle}
    for name, value in (_HARSH if isinstance(inner, IntersectionEnv) else _GENTLE).items():
        for driver in drivers:
            setattr(driver, name, value)
    return method(*arguments, **more)
