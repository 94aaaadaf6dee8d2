"""Stable-Baselines3: a pool as its `VecEnv`. See docs/adapters.md."""
import numpy as np

import cypool
from cypool.adapters import require, same_step, synchronous

require("stable_baselines3", "stable-baselines3", "2.4", "3")

from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import VecEnv  # noqa: E402


def make(id, **kwargs):
    """Makes a batch of environments as a `PoolVecEnv`.

    Args:
        id: An id of `cypool.list_all_envs()`.
        **kwargs: As for `cypool.make`, except `env_type`, `batch_size` and `autoreset_mode`, which SB3 leaves no choice
            of. `episode_statistics` is True by default: SB3 logs them.
    """
    return PoolVecEnv(cypool.make(id, "gymnasium", autoreset_mode="SameStep",
                                  **{"episode_statistics": True, **kwargs}))


class PoolVecEnv(VecEnv):
    """A pool as a `VecEnv` of Stable-Baselines3.

    `step` returns observation, reward (float32, (num_envs,)), done (bool, (num_envs,)) and a list of dicts. Each holds
    the environment's infos, `TimeLimit.truncated` where an episode ended, `terminal_observation`, and with
    `episode_statistics` also `episode`, as SB3's `Monitor` gives it. Where an episode ended the infos are those of its
    last step; those of the first one of the next are in `reset_infos`.

    There is no Python object for each environment: `get_attr` reads attributes of the pool, `set_attr` and
    `env_method` raise AttributeError.

    Args:
        env: What `cypool.make(..., autoreset_mode="SameStep")` returns; synchronous. The `VecEnv` owns it.

    Attributes:
        pool: `env`.
    """

    def __init__(self, env):
        self.pool = synchronous(same_step(env))
        self._has_statistics = env.recipe["episode_statistics"]
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self):
        if any(self._options):
            raise ValueError(f"options: expected none, got {self._options}")
        # seeds are for one reset
        obs, info = self.pool.reset(seed=self._seeds)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = _rows(info)
        return obs

    def step_async(self, actions):
        self.pool.send(actions)

    def step_wait(self):
        obs, reward, terminated, truncated, info = self.pool.recv()
        done = terminated | truncated
        if not done.any():
            return obs, reward.astype(np.float32), done, _rows(info)
        final_obs, final_info = info.pop("final_obs"), info.pop("final_info")
        episode = info.pop("episode", None)
        for mask in ("_final_obs", "_final_info", "_episode"):
            info.pop(mask, None)
        infos = _rows(info)
        for i in np.flatnonzero(done).tolist():
            self.reset_infos[i] = infos[i]
            infos[i] = {"env_id": i, "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                        "terminal_observation": final_obs[i]}
            infos[i].update((key, _plain(values[i])) for key, values in final_info.items() if key[0] != "_")
            if episode is not None:
                infos[i]["episode"] = {key: values[i].item() for key, values in episode.items()}
        return obs, reward.astype(np.float32), done, infos

    def close(self):
        self.pool.close()

    def get_attr(self, attr_name, indices=None):
        return [getattr(self.pool, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name, value, indices=None):
        raise AttributeError(f"set_attr: environments of a pool have no attributes to assign, got {attr_name!r}")

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        raise AttributeError(f"env_method: environments of a pool have no methods to call, got {method_name!r}")

    def env_is_wrapped(self, wrapper_class, indices=None):
        """Whether environments are wrapped: by `Monitor`, whose infos come from the engine's statistics."""
        monitored = self._has_statistics and issubclass(wrapper_class, Monitor)
        return [monitored for _ in self._get_indices(indices)]

    def get_images(self):
        return self.pool.render()


def _plain(value):
    return value.item() if value.ndim == 0 else value


def _rows(info):
    """Returns a dict of arrays as a list of dicts."""
    # numbers become Python's own, arrays stay rows
    columns = [values.tolist() if values.ndim == 1 else values for values in info.values()]
    keys = list(info)
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
