"""rl_games: a pool as its vector environment. See docs/how_to/training_libraries.md."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.adapters import make_same_step, require, same_step, synchronous

if TYPE_CHECKING:
    from cypool.util.typing import Seed

require("rl_games.common.ivecenv", "rl-games", "1.6.5", "3")

from rl_games.common import env_configurations, vecenv  # noqa: E402
from rl_games.common.ivecenv import IVecEnv  # noqa: E402


def register() -> None:
    """Registers `env_name: cypool` with rl_games.

    `env_config` then takes the `id` of the environment and arguments of `cypool.make`, except `env_type`, `batch_size`,
    `autoreset_mode`, and `num_envs`, which `num_actors` sets.
    """
    vecenv.register("CYPOOL", lambda name, num_actors, **kwargs: make(num_envs=num_actors, **kwargs))
    env_configurations.register("cypool", {"vecenv_type": "CYPOOL", "env_creator": lambda **kwargs: make(**kwargs)})


def make(id: str, **kwargs: Any) -> RlGamesVecEnv:
    """Makes a batch of environments as an `RlGamesVecEnv`; takes `num_envs` and the arguments that `register` lists."""
    return RlGamesVecEnv(make_same_step(id, "rl_games", **{"episode_statistics": True, **kwargs}))


class RlGamesVecEnv(IVecEnv):
    """A pool as an `IVecEnv` of rl_games.

    Its infos contain `time_outs` (bool, (num_envs,)), which rl_games uses for bootstrapping; with `episode_statistics`,
    also `scores` (the return of the last finished episode, not clipped); and the environment's own infos except
    `lives`, which rl_games would mistake for the end of a game. Gymnasium's infos, which are dicts, are left out.

    Args:
        pool: A synchronous pool from `cypool.make(..., autoreset_mode="SameStep")`, which the `RlGamesVecEnv` owns.

    Attributes:
        pool: The argument.
        observation_space, action_space: The spaces of one environment.
    """

    def __init__(self, pool: Any):
        self.pool = synchronous(same_step(pool))
        # infos here are arrays: those of Gymnasium's environments are left out
        pool.keeps_extra_infos = True
        self.observation_space = pool.single_observation_space
        self.action_space = pool.single_action_space
        self._scores = np.zeros(pool.num_envs)

    def reset(self) -> Any:
        return self.pool.reset()[0]

    def step(self, actions: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.pool.step(actions)
        infos = {name: info[name] for name in self.pool.env_spec.info if name != "lives"}
        infos["time_outs"] = truncated & ~terminated
        if "episode" in info:
            ended = info["_episode"]
            self._scores[ended] = info["episode"]["r"][ended]
        if self.pool.recipe["episode_statistics"]:
            infos["scores"] = self._scores
        return obs, reward.astype(np.float32), terminated | truncated, infos

    def get_env_info(self) -> dict[str, Any]:
        return {"observation_space": self.observation_space, "action_space": self.action_space}

    def seed(self, seed: Seed) -> None:
        self.pool.reset(seed=seed)

    def close(self) -> None:
        self.pool.close()
