"""dm_control itself as a Gymnasium-style vector environment: the reference for `cypool.testing.check_parity`."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv

from cypool.envs.dm_control.models import domain_module
from cypool.envs.dm_control.tasks import DOMAINS
from cypool.util.arguments import shown

# options that are arguments of the task's function, of control.Environment, and of the wrapper for pixels
_TASK = ("time_limit", "fully_observable")
_ENVIRONMENT = ("control_timestep", "n_sub_steps", "legacy_step", "flat_observation")
# those that say how results are stored
_OWN = ("action_repeat", "action_dtype", "pixels_only", "from_pixels", "width", "height", "camera_id", "camera_name")


def load(domain: str, task: str, seed: int, **options: Any) -> Any:
    """Returns dm_control's environment of a task, which takes the seed as `random`, and the options that it has, too.

    Raises:
        ValueError: dm_control has no such option.
    """
    from dm_control import suite
    from dm_control.rl import control
    from dm_control.suite.wrappers import pixels

    _repair()
    for name in options:
        if name not in (*_TASK, *_ENVIRONMENT, *_OWN):
            raise ValueError(f"{name}: not an option of the reference, dm_control")
    if domain == "quadruped" and not options.get("from_pixels"):
        # its reset makes an OpenGL context, for pictures that are not used
        domain_module(domain).Physics.contexts = None
    given = {name: value for name, value in options.items() if name in _TASK and value is not None}
    env: Any = suite.load(domain, task, task_kwargs={"random": seed, **given})
    changes = {name: value for name, value in options.items() if name in _ENVIRONMENT and value is not None}
    if changes:
        # the functions of most tasks do not take a control_timestep of the user's
        if not {"control_timestep", "n_sub_steps"} & changes.keys():
            changes["n_sub_steps"] = env._n_sub_steps
        limit = given.get("time_limit", DOMAINS[domain].time_limit)
        env = control.Environment(env.physics, env.task, limit, **changes)
    if options.get("from_pixels"):
        camera = options.get("camera_name")
        if camera is None:
            camera = -1 if options.get("camera_id") is None else options["camera_id"]
        env = pixels.Wrapper(env, options.get("pixels_only", True), {
            "width": options.get("width", 320), "height": options.get("height", 240), "camera_id": camera})
    return Repeated(env, options["action_repeat"]) if options.get("action_repeat", 1) > 1 else env


def _repair() -> None:
    """Lets dm_control run with a newer MuJoCo, although it looks for all fields of the version it was made for.

    dm_control 1.0.50 was made for MuJoCo 3.17; 4.0, for example, has no `flex_vertedge`.
    """
    import mujoco
    from dm_control.mujoco.wrapper.mjbindings import sizes

    for struct, cls in (("mjmodel", mujoco.MjModel), ("mjdata", mujoco.MjData)):
        fields = sizes.array_sizes[struct]
        for name in [name for name in fields if not hasattr(cls, name)]:
            del fields[name]


class Repeated:
    """A dm_control environment that repeats each action and sums the rewards, as DrQ's wrapper does."""

    def __init__(self, env: Any, times: int):
        self._env, self._times = env, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

    def step(self, action: Any) -> Any:
        """Steps until the last repetition, or until the episode ends."""
        reward = 0.0
        for _ in range(self._times):
            result = self._env.step(action)
            if result.first():
                return result
            reward += result.reward
            if result.last():
                break
        return result._replace(reward=reward)


def loop(id: str, num_envs: int, **options: Any) -> tuple[Any, Callable[[Any], int]]:
    """Returns the action space, and a function that steps environments one by one, for `cypool bench`."""
    domain, task = next((name, task) for name, domain in DOMAINS.items() for task in domain.tasks
                        if _is_of(id, name, task))
    envs = [load(domain, task, k) for k in range(num_envs)]
    for env in envs:
        env.reset()

    def step(actions: Any) -> int:
        # after its last step, an environment resets by itself
        for env, action in zip(envs, actions, strict=True):
            env.step(action)
        return num_envs

    spec = envs[0].action_spec()
    return gymnasium.spaces.Box(spec.minimum.astype(np.float32), spec.maximum.astype(np.float32)), step


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns a batch of dm_control environments with Gymnasium's API, and its name and version.

    Raises:
        ValueError: dm_control has no such option.
    """
    from importlib.metadata import version

    path, task = ours.env_spec.id, ours.env_spec.options["task"]
    domain = next(name for name in DOMAINS if _is_of(path, name, task))
    options = {name: value for name, value in options.items() if name != "task"}
    if "max_episode_steps" in options:
        raise ValueError("max_episode_steps: expected no argument (dm_control uses time_limit), got "
                         f"{shown(options['max_episode_steps'])}")
    theirs = References([partial(_make, ours, domain, task, seed + k, options) for k in range(ours.num_envs)],
                        autoreset_mode=ours.metadata["autoreset_mode"])
    return theirs, f"{domain}-{task} of dm_control {version('dm_control')}"


def _make(ours: Any, domain: str, task: str, seed: int, options: dict[str, Any]) -> Any:
    return Reference(load(domain, task, seed, **options), ours)


def _is_of(id: str, domain: str, task: str) -> bool:
    from cypool.envs.dm_control.tasks import envpool_id

    return task in DOMAINS[domain].tasks and id in (f"dm_control/{domain}-{task}-v0", envpool_id(domain, task))


class Reference(gymnasium.Env[Any, Any]):
    """A dm_control environment with Gymnasium's API and the spaces of our pool."""

    def __init__(self, env: Any, ours: Any):
        self.dm = env
        self.observation_space, self.action_space = ours.single_observation_space, ours.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode; the seed was set at creation."""
        return self._observed(self.dm.reset()), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Steps; the discount at the end of an episode is 0 or 1."""
        result = self.dm.step(action.astype(np.float64))
        ended = result.last()
        return self._observed(result), result.reward, ended and result.discount == 0, ended and result.discount == 1, {}

    def close(self) -> None:
        """Closes it."""
        self.dm.close()

    def _observed(self, result: Any) -> Any:
        is_dict = isinstance(self.observation_space, gymnasium.spaces.Dict)
        return result.observation if is_dict else result.observation["observations"]


class References(SyncVectorEnv):
    """A batch of these environments."""

    # no Generators: see `streams`
    np_random: Any = None

    def choose(self, actions: Any) -> Any:
        """Scales random actions so that they do not make the simulation unstable: lqr's actions have no limits."""
        space: Any = self.single_action_space
        return actions / 1e10 if space.high.max() >= 1e10 else actions

    def streams(self, rows: list[Any]) -> list[tuple[Any, Any]]:
        """Returns the position of each environment's random stream, in our saved row and in dm_control."""
        pairs = []
        for row, env in zip(rows, self.envs, strict=True):
            _, key, pos, has_spare, spare = env.dm.task.random.get_state()  # type: ignore[attr-defined]
            pairs.append((row["own"][4][:4], (key.astype("<u4").tobytes(), pos, bool(has_spare), spare)))
        return pairs
