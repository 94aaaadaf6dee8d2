"""gymnasium-robotics itself: the reference for `cypool.testing.check_parity`."""
from __future__ import annotations

import types
import warnings
from typing import Any

import numpy as np


def load() -> Any:
    """Returns the package, registered with Gymnasium and able to run with this MuJoCo.

    Since mujoco 3.12, its enumerations no longer equal NumPy's integers, so an assertion of the package fails for
    Fetch, hands and the kitchen. With older versions, the package is unchanged.
    """
    import gymnasium
    import mujoco

    logger: Any = gymnasium.logger
    level = logger.min_level
    # importing it says that a version has changed
    logger.min_level = logger.ERROR + 1
    try:
        import gymnasium_robotics
        from gymnasium_robotics.utils import mujoco_utils
    finally:
        logger.min_level = level
    gymnasium.register_envs(gymnasium_robotics)
    if mujoco_utils.mujoco is mujoco and mujoco.mjtJoint.mjJNT_HINGE != np.int32(mujoco.mjtJoint.mjJNT_HINGE):
        names = {name: getattr(mujoco, name) for name in dir(mujoco) if not name.startswith("__")}
        members = mujoco.mjtJoint.__members__.items()
        mujoco_utils.mujoco = types.SimpleNamespace(
            **{**names, "mjtJoint": types.SimpleNamespace(**{name: int(value) for name, value in members})})
    return gymnasium_robotics


def make(id: str, **options: Any) -> Any:
    """Returns the environment of an id, without Gymnasium's checking wrappers, with the options that both have."""
    import gymnasium

    load()
    options = {name: value for name, value in options.items() if name not in ("action_dtype", "touch_get_obs")
               or (name == "touch_get_obs" and value is not None)}
    for name in ("maze_map", "tasks_to_complete"):
        if name in options:
            options[name] = [list(each) if name == "maze_map" else each for each in options[name]]
    with warnings.catch_warnings():
        # that there is a newer version of the environment
        warnings.simplefilter("ignore")
        env: Any = gymnasium.make(id, disable_env_checker=True, **options)
    return plain(env)


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns a batch of gymnasium-robotics environments, and its name and version."""
    from gymnasium.vector import SyncVectorEnv

    id = ours.env_spec.id
    version = load().__version__

    theirs = SyncVectorEnv([lambda: make(id, **options)] * ours.num_envs,
                           autoreset_mode=ours.metadata["autoreset_mode"])
    return theirs, f"{id} of gymnasium-robotics {version}"


def bits(tasks: Any) -> np.int32:
    """Returns the names of kitchen tasks as bits."""
    from cypool.envs.robotics.robotics import KITCHEN_TASKS

    return np.int32(sum(1 << list(KITCHEN_TASKS).index(task) for task in tasks))


def plain(env: Any) -> Any:
    """Returns a wrapper that returns cypool's types: the kitchen's goals as arrays, and its lists as bits."""
    import gymnasium

    class Wrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
        def __init__(self, env: Any):
            super().__init__(env)
            spaces = getattr(env.observation_space, "spaces", {})
            if isinstance(spaces.get("achieved_goal"), gymnasium.spaces.Dict):
                size = sum(space.shape[0] for space in spaces["achieved_goal"].values())
                goal = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
                self.observation_space = gymnasium.spaces.Dict(
                    achieved_goal=goal, desired_goal=goal, observation=spaces["observation"])

        def reset(self, **given: Any) -> Any:
            obs, info = self.env.reset(**given)
            return self._flat(obs), self._plain(info)

        def step(self, action: Any) -> Any:
            obs, reward, terminated, truncated, info = self.env.step(action)
            return self._flat(obs), reward, terminated, truncated, self._plain(info)

        @property  # type: ignore[misc]
        def np_random(self) -> Any:
            # the one that the kitchen's episodes draw from
            inner: Any = self.unwrapped
            return getattr(inner, "robot_env", inner).np_random

        def _flat(self, obs: Any) -> Any:
            if not isinstance(obs, dict):
                return obs
            # in the order in which tasks were given
            inner: Any = self.unwrapped
            return {name: np.concatenate([part[task] for task in inner.goal])
                    if isinstance(part, dict) else part for name, part in obs.items()}

        def _plain(self, info: Any) -> Any:
            return {name: bits(value) if isinstance(value, list) else bool(value) if name == "success" else value
                    for name, value in info.items()}

    return Wrapper(env)
