"""The classic Gym API: the API of Gym before 0.26, which scripts for EnvPool 0.4 to 0.6 expect."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cypool.api.base import VectorAPI
from cypool.api.gymnasium import metadata_of, spaces_of
from cypool.api.infos import add_info
from cypool.arguments.env_ids import players_of
from cypool.util.arguments import seeds_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cypool.engine.engine import Pool
    from cypool.spec import EnvSpec
    from cypool.state import State
    from cypool.util.typing import Batch, Bools, EnvIds, Seed


def as_gym_space(space: Any) -> Any:
    """Returns a Gymnasium space as a Gym space if the program has imported Gym; otherwise unchanged.

    Programs for Gym check whether a space is, say, a `gym.spaces.Discrete`.
    """
    theirs = getattr(sys.modules.get("gym"), "spaces", None)
    if theirs is None:
        return space
    if isinstance(space, spaces.Discrete):
        return theirs.Discrete(int(space.n))
    if isinstance(space, spaces.Dict):
        return theirs.Dict({key: as_gym_space(part) for key, part in space.items()})
    if isinstance(space, spaces.Tuple):
        return theirs.Tuple([as_gym_space(part) for part in space])
    if isinstance(space, spaces.MultiBinary):
        return theirs.MultiBinary(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return theirs.MultiDiscrete(space.nvec, dtype=space.dtype.type)
    return theirs.Box(space.low, space.high, dtype=space.dtype.type)


class GymPool(VectorAPI):
    """A batch of environments with the classic API: `reset` returns only observations, `step` four values.

    `step` and `recv` return a batch: a tuple (observation, reward, done, info):

    * observation: (batch_size, ...) array, or a dict or tuple of them.
    * reward: float32, (batch_size,).
    * done: bool, (batch_size,): the episode has ended, terminated or truncated.
    * info: Arrays of `batch_size` rows: `env_id` int32, `elapsed_step` int32, `TimeLimit.truncated` bool (the episode
      was truncated, not terminated) and the environment's own; `players` as in `GymnasiumPool`.

    Autoreset is always NEXT_STEP: the step after `done` ignores the action and starts an episode, with reward 0.

    For the rows of a batch, and the other attributes, see `VectorAPI`. Attributes may be assigned, but `num_envs`,
    `batch_size`, `is_async` and `all_env_ids` only accept their current values.

    It is not a subclass of `gym.Env`, because Gym need not be installed. The spaces are Gym's if it is already
    imported, otherwise Gymnasium's.

    Args:
        pool: The engine's pool. The API owns it.
        spec: The spec of the environments.
        autoreset_mode: "NextStep".

    Attributes:
        observation_space, action_space: The spaces of a single environment, as in EnvPool.
        single_observation_space, single_action_space: The same.
        is_vector_env: True.

    Thread safety: one thread at a time.
    """

    def __init__(self, pool: Pool, spec: EnvSpec, autoreset_mode: str):
        if len(spec.agents) > 1 or spec.has_absent_agents:
            raise ValueError(f"env_type: expected 'gymnasium', got 'gym': {spec.id} has several kinds of agents, or "
                             "agents that leave; for PettingZoo's API, use cypool.parallel_env")
        super().__init__(pool, spec)
        self.observation_space, self.action_space = map(as_gym_space, spaces_of(spec))
        self.single_observation_space, self.single_action_space = self.observation_space, self.action_space
        self.is_vector_env = True
        # Gym's wrappers read these two of any environment
        self.metadata = metadata_of(spec)
        self.reward_range = (-np.inf, np.inf)
        self._next_seeds: list[int | None] = [None] * pool.num_envs

    def seed(self, seed: Seed = None) -> None:
        """Seeds environments at their next `reset`, as in Gym before 0.26; `reset(seed=...)` takes precedence.

        Args:
            seed: As in `async_reset`, for all environments.

        Raises:
            TypeError, ValueError: The seed is invalid.
        """
        seeds = seeds_of(seed, self._pool.num_envs, self.env_spec.max_seed)
        self._next_seeds = [None] * self._pool.num_envs if seeds is None else seeds

    def _start(self, ids: EnvIds | None, seed: Seed, mask: Bools | None = None,
               options: Any = None) -> None:
        which = range(self._pool.num_envs) if ids is None else ids.tolist()
        if seed is None and all(0 <= i < self._pool.num_envs for i in which):
            seed = [self._next_seeds[i] for i in which]
        super()._start(ids, seed, mask, options)
        for i in which:
            self._next_seeds[i] = None

    def step(self, action: Any, env_id: ArrayLike | None = None) -> Any:
        """Steps environments and waits for a batch: `send`, then `recv`."""
        return super().step(action, env_id)

    def send(self, action: Any, env_id: ArrayLike | None = None) -> None:
        """Sends actions to environments, without waiting; see `VectorAPI.send`."""
        super().send(action, env_id)

    def reset(self, env_id: ArrayLike | None = None, *, seed: Seed = None) -> Any:
        """Starts new episodes.

        Args:
            env_id, seed: As in `async_reset`.

        Returns:
            The observations of all environments, or of those in `env_id`; in an asynchronous pool, of the first batch.
        """
        return super().reset(env_id, seed=seed)[0]

    def load(self, state: State, env_id: ArrayLike | None = None) -> Any:
        """Restores environments to a saved state; returns their observations. See `VectorAPI.load`."""
        return super().load(state, env_id)[0]

    def _format_batch(self, batch: Batch) -> tuple[Any, NDArray[np.float32], Bools, dict[str, Any]]:
        obs, reward, terminated, truncated, info = batch
        for row, own, _ in info.pop("extra_infos", ()):
            add_info(info, own, row, len(reward))
        if self._env_spec.num_players > 1:
            info["players"] = players_of(self._env_spec, info["env_id"])
        info["TimeLimit.truncated"] = truncated & ~terminated
        return obs, reward.astype(np.float32), terminated | truncated, info
