"""The classes of EnvPool's interface, except the one for dm_env, and the type of `spec`."""
from __future__ import annotations

import functools
import warnings
from collections import namedtuple
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np

from cypool.api.base import VectorAPI
from cypool.api.gym import GymPool, as_gym_space
from cypool.api.gymnasium import GymnasiumPool, space_of
from cypool.arguments.env_ids import ids_of, players_of
from cypool.compat.envpool_arrays import beside, int32, whole
from cypool.spec import Discrete
from cypool.util.arguments import check_array, check_bool, check_int

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cypool.util.typing import Batch, Seed


@functools.cache
def _config_type(*names: str) -> Any:
    # one for all pools: a Python without the GIL may keep classes for ever
    return namedtuple("Config", names)


class EnvSpec:
    """EnvPool's `spec`: the configuration, and observation and action specs.

    Args:
        env_spec: The `cypool.spec.EnvSpec`.
        config: Names and values of the configuration.

    Attributes:
        id: The task; may be assigned, like all attributes.
        config: A named tuple.
        reward_threshold: The return at which Gymnasium counts the task as solved, or None.
        observation_space, action_space: The spaces of a single environment.
        gymnasium_observation_space, gymnasium_action_space: The same.
    """

    def __init__(self, env_spec: Any, config: Any):
        self._env_spec = env_spec
        self.id = env_spec.id
        self.config = _config_type(*config)(**config)
        self.reward_threshold = config.get("reward_threshold")
        self.observation_space = self.gymnasium_observation_space = space_of(beside(env_spec.observation))
        self.action_space = self.gymnasium_action_space = space_of(env_spec.action)

    def observation_spec(self) -> Any:
        """Returns the dm_env specs of a single row: a named tuple of `env_id`, `players`, `obs` and the info."""
        from cypool.compat.envpool_dm_specs import state_spec
        return state_spec(self._env_spec, self.config.num_envs)

    def action_spec(self) -> Any:
        """Returns the dm_env spec of a single action."""
        from cypool.compat.envpool_dm_specs import dm_spec_of
        return dm_spec_of(self._env_spec.action, "action")

    def __repr__(self) -> str:
        return f"EnvSpec{str(self.config).removeprefix('Config')}"


class EnvPool:
    """The common part of EnvPool's classes: mixed into an API, it gives that API EnvPool's arguments and results.

    Args:
        pool: The engine. The API owns it.
        env_spec: The spec of the environments.
        config: Names and values of the configuration.

    Attributes:
        spec: The `EnvSpec`.
        config: The configuration as a dict.
        recipe: A copy of the arguments of `make`; pickle and deepcopy use them.
        is_async, num_envs, all_env_ids: See `cypool.api.base.VectorAPI`.

    Thread safety: one thread at a time.
    """

    has_reset_mask = False
    # what `render` draws; set, as the recipe is, by the code that makes the pool
    _render: dict[str, int]

    def __init__(self, pool: Any, env_spec: Any, config: Any):
        super().__init__(pool, env_spec, "NextStep")
        self.spec = EnvSpec(env_spec, config)
        self.config = config

    def _without_info(self, batch: Any) -> Any:
        """Returns the part of `step`'s result that `reset` returns."""
        return batch

    def _with_players(self, info: dict[str, Any]) -> dict[str, Any]:
        """Returns info with EnvPool's entries for players; most environments have one player."""
        return {**info, "players": players_of(self.env_spec, info["env_id"])}

    def reset(self, env_id: ArrayLike | None = None, *, seed: Seed = None,
              options: dict[str, Any] | None = None) -> Any:
        """Starts new episodes and waits for a batch.

        Args:
            env_id: Integers, shape (k,), which may be empty: the environments to reset; all by default.
            seed: See `cypool.api.base.VectorAPI.async_reset`; EnvPool ignores it.
            options: `{"reset_mask": mask}`, bools of shape (num_envs,), selects environments, like `env_id`.

        Returns:
            The rows of those environments; in an asynchronous pool, the first batch. For Gymnasium, observation and
            info; with `legacy`, the observation; for dm, a time step.
        """
        if options:
            if not isinstance(options, Mapping):
                raise TypeError(f"options: expected a dict or None, got {options!r}")
            if set(options) != {"reset_mask"}:
                raise ValueError(f"options: expected only reset_mask, got {sorted(options)}")
            mask = np.asarray(options["reset_mask"], np.bool_)
            if mask.shape != (self.num_envs,) or not mask.any() or env_id is not None:
                raise ValueError(f"reset_mask: expected shape ({self.num_envs},) with at least one True, and no "
                                 f"env_id, got {mask}")
            env_id = np.flatnonzero(mask)
        ids = ids_of(env_id)
        if ids is not None and not ids.size:
            return self._without_info(self._format_batch(self._empty_batch()))
        self.async_reset(ids, seed=seed)
        return self.recv(reset=True)

    def send(self, action: Any, env_id: ArrayLike | None = None) -> None:
        """Sends actions to environments, without waiting.

        Environments that were never reset are reset instead, and their actions are ignored.

        Args:
            action: Shape (k, *action shape), or a dict of `action` and `env_id`. For discrete actions, an array of
                bools, or of whole numbers as floats, is also accepted.
            env_id: Integers, shape (k,). By default, all environments; in an asynchronous pool, those of the last
                received batch.
        """
        action, env_id = self._unpacked(action, env_id)
        if not self._start_instead(action, env_id):
            super().send(action, env_id)

    def recv(self, reset: bool = False, return_info: bool = True, *, timeout: float | None = None) -> Any:
        """Waits for a batch.

        Args:
            reset: Whether to return only what `reset` returns, instead of the result of `step`.
            return_info: Ignored, as in EnvPool.
            timeout: Maximum seconds to wait; by default unlimited.
        """
        # before there is a batch that an error would lose
        reset = check_bool("reset", reset)
        batch = super().recv(timeout)
        return self._without_info(batch) if reset else batch

    def step(self, action: Any, env_id: ArrayLike | None = None) -> Any:
        """Steps environments and waits for a batch: `send`, then `recv`."""
        if self._pool.num_unstarted:
            self.send(action, env_id)
            return self.recv()
        # not the API's own step, which may leave out _format_batch
        return VectorAPI.step(cast(VectorAPI, self), *self._unpacked(action, env_id))

    def _unpacked(self, action: Any, env_id: Any) -> tuple[Any, Any]:
        """Returns actions and ids, which may both be in a dict; separate ids take precedence."""
        # of several groups of agents, actions are a dict themselves
        described = self.env_spec.action
        is_action = isinstance(described, Mapping) and isinstance(action, dict) and action.keys() == described.keys()
        if isinstance(action, dict) and not is_action:
            if "action" not in action or action.keys() - {"action", "env_id", "players", "players.env_id"}:
                raise ValueError(f"action: expected a dict with 'action' and 'env_id', got one with {sorted(action)}")
            env_id = action.get("env_id") if env_id is None else env_id
            action = action["action"]
        if isinstance(action, np.ndarray) and action.dtype.kind in "fb" and isinstance(self.env_spec.action, Discrete):
            # a view of one number may say that it has millions of rows
            if action.size > self.num_envs:
                raise ValueError(f"actions: expected at most {self.num_envs} rows, got shape {action.shape}")
            action = whole(action)
        return action, env_id

    def render(self, env_ids: Any = None, camera_id: int | None = None) -> Any:
        """Draws environments: see `cypool.api.base.VectorAPI.render`.

        Args:
            env_ids: An integer or several; by default the `render_env_id` passed to `make`.
            camera_id: None, or the `render_camera_id` passed to `make`; ignored without cameras.
        """
        camera, width, height = (self._render[f"render_{name}"] for name in ("camera_id", "width", "height"))
        given = camera if camera_id is None else check_int("camera_id", camera_id, -1, 2**31 - 1)
        if given != camera and "camera_id" in self.env_spec.options:
            raise ValueError(f"camera_id: expected None or {camera} (the render_camera_id passed to make), got {given}")
        ids = check_array("env_id", self._render["render_env_id"] if env_ids is None else env_ids,
                          "an integer or a sequence of integers")
        frames = VectorAPI.render(cast(VectorAPI, self), np.atleast_1d(ids))
        rows, columns = frames.shape[1:3]
        if height > 0 and height != rows:
            frames = frames[:, np.arange(height) * rows // height]
        if width > 0 and width != columns:
            frames = frames[:, :, np.arange(width) * columns // width]
        return frames

    def seed(self, seed: Seed = None) -> None:
        """Only warns, as in EnvPool."""
        warnings.warn("seed() does nothing: pass seed to make() or to reset()", stacklevel=2)


class GymnasiumEnvPool(EnvPool, GymnasiumPool, gymnasium.Env):
    """A batch of environments as EnvPool presents it to Gymnasium users.

    `step` and `recv` return a batch: a tuple (observation, reward, terminated, truncated, info) as in
    `cypool.api.gymnasium.GymnasiumPool`, but `reward` is float32 and `info` has `players`, a dict of `env_id`.

    It is a `gymnasium.vector.VectorEnv`, whose autoreset mode is NEXT_STEP, and a `gymnasium.Env`.

    Args:
        pool, env_spec, config: See `EnvPool`.

    Attributes:
        observation_space, action_space: The spaces of a single environment, unlike Gymnasium's.
        single_observation_space, single_action_space: The same.
        is_vector_env: True.
        spec, config: See `EnvPool`.

    Thread safety: one thread at a time.
    """

    def __init__(self, pool: Any, env_spec: Any, config: Any):
        super().__init__(pool, env_spec, config)
        self.observation_space = self.single_observation_space = self.spec.observation_space
        self.action_space = self.single_action_space
        self.is_vector_env = True

    def _format_batch(self, batch: Batch) -> Any:
        obs, reward, terminated, truncated, info = super()._format_batch(batch)
        obs = int32(obs, self.env_spec.observation)
        return obs, reward.astype(np.float32), terminated, truncated, self._with_players(info)

    def _without_info(self, batch: Any) -> Any:
        return batch[0], batch[4]


class LegacyEnvPool(EnvPool, GymPool):
    """A batch of environments as EnvPool 0.4 to 0.6 presented it to Gym users: see `cypool.api.gym.GymPool`.

    Args:
        pool, env_spec, config: See `EnvPool`.

    Thread safety: one thread at a time.
    """

    def __init__(self, pool: Any, env_spec: Any, config: Any):
        super().__init__(pool, env_spec, config)
        self.observation_space = self.single_observation_space = as_gym_space(self.spec.observation_space)

    def _format_batch(self, batch: Batch) -> Any:
        obs, reward, done, info = super()._format_batch(batch)
        return int32(obs, self.env_spec.observation), reward, done, self._with_players(info)

    def _without_info(self, batch: Any) -> Any:
        return batch[0]
