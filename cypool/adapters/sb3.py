"""Stable-Baselines3: a pool as its `VecEnv`. See docs/adapters.md."""
import numpy as np

import cypool
from cypool.adapters import require, same_step, synchronous
from cypool.envs.hosted.spaces import assign, attribute_of, call_method, class_name, wrapper_classes

require("stable_baselines3", "stable-baselines3", "2.7", "3")

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
    the environment's infos, `env_id`, `elapsed_step` and `TimeLimit.truncated`; where an episode ended also
    `terminal_observation`, and with `episode_statistics` `episode`, as SB3's `Monitor` gives it, unless the environment
    has one itself. Where an episode ended the infos are those of its last step; those of the first one of the next are
    in `reset_infos`.

    Environments of Gymnasium answer `get_attr`, `set_attr`, `env_method` and `env_is_wrapped` where they are, as those
    of SB3's `SubprocVecEnv` do. For cypool's own there is no Python object for each environment: `get_attr` reads
    attributes of the pool, `set_attr` and `env_method` raise AttributeError.

    Args:
        env: What `cypool.make(..., autoreset_mode="SameStep")` returns; synchronous. The `VecEnv` owns it.

    Attributes:
        pool: `env`.
    """

    def __init__(self, env):
        self.pool = synchronous(same_step(env))
        self._has_statistics = env.recipe["episode_statistics"]
        self._is_hosted = env._pool.tells
        # each row has the keys that its environment gave it, and no other
        env.leaves_told = True
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self):
        options = self._options[0]
        if any(self._options) and not (self._is_hosted and self._options == [options] * self.num_envs):
            wanted = "the same for all environments" if self._is_hosted else "none"
            raise ValueError(f"options: expected {wanted}, got {self._options}")
        # seeds are for one reset
        obs, info = self.pool.reset(seed=self._seeds, options=options or None)
        self._reset_seeds()
        self._reset_options()
        told = info.pop("told", ())
        self.reset_infos = _rows(info)
        for row, own, _ in told:
            self.reset_infos[row].update(own)
        return obs

    def step_async(self, actions):
        self.pool.send(actions)

    def step_wait(self):
        obs, reward, terminated, truncated, info = self.pool.recv()
        done = terminated | truncated
        told = info.pop("told", ())
        final_obs, final_info = info.pop("final_obs", None), info.pop("final_info", {})
        # one of cypool's environments has none of its own
        episode = info.pop("episode", None)
        for mask in ("_final_obs", "_final_info", "_episode"):
            info.pop(mask, None)
        infos = _rows(info)
        for row, own, _ in told:
            infos[row].update(own)
        ended = np.flatnonzero(done).tolist()
        for i in ended:
            self.reset_infos[i] = infos[i]
            infos[i] = {"env_id": i, **{key: _plain(values[i]) for key, values in final_info.items() if key[0] != "_"}}
        for row, _, final in told:
            infos[row].update(final or {})
        for row, is_cut in zip(infos, (truncated & ~terminated).tolist(), strict=True):
            row["TimeLimit.truncated"] = is_cut
        for i in ended:
            infos[i]["terminal_observation"] = final_obs[i]
            if episode is not None:
                infos[i].setdefault("episode", {key: values[i].item() for key, values in episode.items()})
        return obs, reward.astype(np.float32), done, infos

    def close(self):
        self.pool.close()

    def get_attr(self, attr_name, indices=None):
        if self._is_hosted:
            return self._ask(indices, attribute_of, attr_name)
        return [getattr(self.pool, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name, value, indices=None):
        if not self._is_hosted:
            raise AttributeError(f"set_attr: environments of a pool have no attributes to assign, got {attr_name!r}")
        self._ask(indices, assign, attr_name, value)

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        if not self._is_hosted:
            raise AttributeError(f"env_method: environments of a pool have no methods to call, got {method_name!r}")
        return self._ask(indices, call_method, method_name, *method_args, **method_kwargs)

    def env_is_wrapped(self, wrapper_class, indices=None):
        """Whether environments are wrapped; so they are by `Monitor` if the engine's statistics take its place."""
        if self._has_statistics and issubclass(wrapper_class, Monitor):
            return [True for _ in self._get_indices(indices)]
        if not self._is_hosted:
            return [False for _ in self._get_indices(indices)]
        return [class_name(wrapper_class) in names for names in self._ask(indices, wrapper_classes)]

    def _ask(self, indices, function, *args, **kwargs):
        ids = np.array(list(self._get_indices(indices)), np.int32)
        return self.pool._pool.ask(ids, function, *args, **kwargs)

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
