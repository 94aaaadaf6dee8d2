"""PufferLib: a pool as its `PufferEnv`. See docs/how_to/training_libraries.md."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from cypool.adapters import make_same_step, require, same_step, synchronous
from cypool.api.gymnasium import space_of
from cypool.util.arguments import check_int

if TYPE_CHECKING:
    from cypool.api.gymnasium import GymnasiumPool

# no extra can name it: it asks for NumPy and Gymnasium in versions that are too old for cypool
require("pufferlib", "pufferlib", "3.0.0", "4", install="pip install --no-deps --no-build-isolation pufferlib")

from pufferlib import PufferEnv  # noqa: E402


def make(id: str, buf: dict[str, Any] | None = None, seed: int | None = None, **kwargs: Any) -> PoolPufferEnv:
    """Makes a batch of environments as a `PoolPufferEnv`, also for `pufferlib.vector.make`.

    Args:
        id: As in `cypool.make`.
        buf: As in `PoolPufferEnv`.
        seed: As in `PoolPufferEnv.reset`; the default for the first reset.
        **kwargs: As in `cypool.make`, except `env_type`, `batch_size` and `autoreset_mode`. `episode_statistics` is
            True by default, because PufferLib logs them.
    """
    pool = make_same_step(id, "PufferLib", **{"episode_statistics": True, **kwargs})
    try:
        return PoolPufferEnv(pool, buf, seed)
    except BaseException:
        pool.close()
        raise


class PoolPufferEnv(PufferEnv):
    """A pool as a `PufferEnv`: environments write observations and flags directly to PufferLib's buffers.

    A new episode starts in the same step that ends the previous one, as in PufferLib's own environments. With
    `episode_statistics`, the infos of a step that ends episodes are a list with one dict: `episode_return` (not
    clipped) and `episode_length`, lists with one item per finished episode, which PufferLib averages.

    With several agents, the rows are the agents of environment 0, then those of environment 1, and so on, also for
    rewards, flags and statistics.

    Args:
        env: A synchronous pool from `cypool.make(..., autoreset_mode="SameStep")`, which the `PufferEnv` owns. Its
            observations are arrays; its actions are arrays or numbers. Agents form one group, and none leaves early.
        buf: PufferLib's buffers for this environment; None: new ones.
        seed: As in `reset`; the default for the first reset.

    Raises:
        TypeError, ValueError: `env` is not such a pool.

    Attributes:
        pool: The argument `env`.
        num_agents: Number of rows: one per environment, or per agent.
        render_mode: The pool's render mode.
    """

    single_action_space: Any

    def __init__(self, env: GymnasiumPool, buf: dict[str, Any] | None = None, seed: int | None = None):
        spec = synchronous(same_step(env, several_agents=True)).env_spec
        if len(spec.agents) > 1 or spec.has_absent_agents:
            raise ValueError(f"env: expected one group of agents that never leave early, got {spec.id} with "
                             f"{list(spec.agents)}")
        described: Any
        self._group, described = next(iter(spec.agents.items()), ("", spec))
        observation, action = space_of(described.observation), space_of(described.action)
        if not isinstance(observation, gymnasium.spaces.Box) or not isinstance(
                action, gymnasium.spaces.Box | gymnasium.spaces.Discrete):
            raise TypeError("env: expected an array as the observation, and an array or a number as the action, got "
                            f"{observation} and {action}")
        # infos of Gymnasium's environments have no place here
        env.keeps_extra_infos = True
        self.pool = env
        self.render_mode = env.render_mode
        self.single_observation_space, self.single_action_space = observation, action
        self.num_agents = env.num_envs * (described.count if self._group else 1)
        self._seed = seed
        super().__init__(buf)
        # each environment's part of PufferLib's memory
        space: Any = env.single_observation_space
        self._obs = self.observations.reshape(env.num_envs, *space.shape)
        self._ended, self._cut = self.terminals, self.truncations
        if self._group:
            self._ended, self._cut = np.zeros((2, env.num_envs), np.bool_)
        # a pool has rewards in double precision
        self._out = (self._obs, np.zeros(env.num_envs), self._ended, self._cut) if env.fills_out else None

    def reset(self, seed: int | None = None) -> tuple[Any, list[dict[str, Any]]]:
        """Starts new episodes.

        Args:
            seed: Environment i gets `seed * num_envs + i`: PufferLib creates several `PufferEnv`s with consecutive
                seeds, and all environments need different ones. With None, the random streams continue.
        """
        seed, self._seed = self._seed if seed is None else seed, None
        count = self.pool.num_envs
        if seed is not None:
            seed = check_int("seed", seed, 0, 2**64 - 1)
        seeds = None if seed is None else [seed * count + i for i in range(count)]
        self._obs[...] = self.pool.reset(seed=seeds)[0]
        self.rewards[:], self.terminals[:], self.truncations[:], self.masks[:] = 0, False, False, True
        return self.observations, []

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, list[dict[str, Any]]]:
        """Steps all environments; returns PufferLib's buffers, now filled, and the infos."""
        if self._group:
            actions = np.reshape(actions, (self.pool.num_envs, -1, *self.single_action_space.shape))
        obs, reward, terminated, truncated, info = self.pool.step(actions, out=self._out)
        if self._out is None:
            self._obs[...], self._ended[:], self._cut[:] = obs, terminated, truncated
        if self._group:
            columns = info["agents"][self._group]
            reward, terminated, truncated = (columns[name] for name in ("reward", "terminated", "truncated"))
            self.terminals[:], self.truncations[:] = terminated.reshape(-1), truncated.reshape(-1)
        self.rewards[:] = reward.reshape(-1)
        return self.observations, self.rewards, self.terminals, self.truncations, self._infos(info)

    def _infos(self, info: dict[str, Any]) -> list[dict[str, Any]]:
        if "episode" not in info:
            return []
        episode, ended = info["episode"], info["_episode"]
        if self._group:
            episode = episode["agents"][self._group]
        return [{"episode_return": episode["r"][ended].reshape(-1).tolist(),
                 "episode_length": episode["l"][ended].reshape(-1).tolist()}]

    def render(self) -> Any:
        """Returns a picture of environment 0, uint8, (height, width, 3)."""
        return self.pool.render([0])[0]

    def close(self) -> None:
        """Closes the pool."""
        self.pool.close()
