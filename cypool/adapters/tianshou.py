"""Tianshou: a pool as its vector environment, and a factory for its high-level API. See docs/adapters.md."""
import numpy as np

import cypool
from cypool.adapters import require, same_step
from cypool.adapters.firsts import Firsts
from cypool.adapters.single import SingleEnv
from cypool.faces.face import ids_of

require("tianshou", "tianshou", "2", "3")

from tianshou.data import Batch  # noqa: E402
from tianshou.env import BaseVectorEnv  # noqa: E402
from tianshou.highlevel.env import EnvFactory, EnvMode, VectorEnvType  # noqa: E402


def make(id, infos=None, **kwargs):
    """Makes a batch of environments as a `PoolVectorEnv`.

    Args:
        id: An id of `cypool.list_all_envs()`.
        infos: As for `PoolVectorEnv`.
        **kwargs: As for `cypool.make`, except `env_type` and `autoreset_mode`.
    """
    return PoolVectorEnv(cypool.make(id, "gymnasium", autoreset_mode="SameStep", **kwargs), infos)


class Infos(Batch):
    """Infos of k environments: arrays, which give a dict for a row only when somebody goes through the rows.

    Tianshou's collectors take an array of dicts and make a `Batch` of arrays of it, over and over; this is one already.
    """

    # what collectors look at before they go through the rows
    dtype = np.dtype(object)

    def nonzero(self):
        """Returns the rows that hold something: all."""
        return (np.arange(len(self)),)

    def __iter__(self):
        for k in range(len(self)):
            yield {key: values[k] for key, values in self.items()}

    def __len__(self):
        return len(self.env_id)

    def __getitem__(self, index):
        if isinstance(index, str | int | np.integer):
            return super().__getitem__(index)
        return _infos({key: values[index] for key, values in self.items()})

    def __copy__(self):
        # rows are assigned in the copy, and the original is in a buffer by then
        return _infos({key: values.copy() for key, values in self.items()})

    def __setitem__(self, index, value):
        # collectors assign no rows at all, too
        if not isinstance(index, np.ndarray) or index.size:
            super().__setitem__(index, value)


def _infos(arrays):
    infos = Infos()
    infos.__dict__.update(arrays)
    return infos


class PoolVectorEnv(BaseVectorEnv):
    """A pool as a `BaseVectorEnv` of Tianshou.

    Tianshou resets what has ended itself. The pool has the first observation of the next episode by then: `reset` of
    environments whose episode just ended returns that, without another step of anything.

    Args:
        pool: What `cypool.make(..., autoreset_mode="SameStep")` returns; asynchronous for an `AsyncCollector`. The
            `PoolVectorEnv` owns it.
        infos: Names of the infos that Tianshou gets, `env_id` besides. By default the environment's own. Each costs
            time in every step, and memory in the replay buffer.

    Raises:
        TypeError, ValueError: `pool` is no such pool, observes a tuple, or has no such info.

    Attributes:
        pool: `pool`.
        waiting_id: The environments that are in flight.
    """

    def __init__(self, pool, infos=None):
        self.pool = pool = same_step(pool)
        spec = pool.env_spec
        if isinstance(spec.observation, tuple):
            raise TypeError(f"pool: expected an array or a dict as observation, got {spec.observation}")
        self._infos = list(spec.info) if infos is None else list(infos)
        for name in self._infos:
            if name not in spec.info and name != "elapsed_step":
                raise ValueError(f"infos: expected names of {['elapsed_step', *spec.info]}, got {name!r}")
        self.env_num = pool.num_envs
        self.wait_num = pool.batch_size
        self.is_async = pool.is_async
        self.is_closed = False
        self._waiting = np.zeros(self.env_num, np.bool_)
        self._firsts = Firsts(pool, self._infos)

    @property
    def waiting_id(self):
        return np.flatnonzero(self._waiting).tolist()

    def get_env_attr(self, key, id=None):
        """Returns a list with an attribute of the pool for each environment; of spaces those of one environment."""
        name = f"single_{key}" if key in ("action_space", "observation_space") else key
        return [getattr(self.pool, name)] * len(self._wrap_id(id))

    def set_env_attr(self, key, value, id=None):
        raise AttributeError(f"set_env_attr: environments of a pool have no attributes to assign, got {key!r}")

    def reset(self, env_id=None, **kwargs):
        """Starts new episodes, of all environments by default.

        Args:
            env_id: An int, or integers of shape (k,).
            **kwargs: `seed`, `options`, as for `cypool.faces.gymnasium.GymnasiumPool.reset`.

        Returns:
            Observations, and `Infos`.
        """
        if env_id is None:
            self._waiting[:] = False
            self._firsts.forget()
            obs, info = self.pool.reset(**kwargs)
            # an asynchronous pool brings a batch at a time
            while len(info["env_id"]) < self.env_num:
                obs, info = self._and_the_rest(obs, info)
            return self._laid_out(obs), self._chosen(info)
        ids = ids_of(np.atleast_1d(env_id))
        if not kwargs and self._firsts.have(ids):
            obs, info = self._firsts.take(ids)
            return self._laid_out(obs), _infos(info)
        if self._waiting.any():
            raise RuntimeError(f"reset: environments {self.waiting_id} are in flight")
        self._firsts.forget(ids)
        obs, info = self.pool.reset(ids, **kwargs)
        return self._laid_out(obs), self._chosen(info)

    def step(self, action, id=None):
        """Steps environments, all by default.

        Args:
            action: Shape (k, ...). None in an asynchronous pool: only waits.
            id: An int, or integers of shape (k,).

        Returns:
            Observation, reward (float64), terminated, truncated, and `Infos`. Rows of an asynchronous pool are those
            that `env_id` there names.
        """
        if action is None:
            batch = self.pool.recv()
        else:
            ids = None if id is None else ids_of(np.atleast_1d(id))
            named = slice(None) if ids is None else ids
            self._firsts.forget(named)
            if self.is_async:
                self._waiting[named] = True
                self.pool.send(action, self.pool.all_env_ids if ids is None else ids)
                batch = self.pool.recv()
            else:
                batch = self.pool.step(action, ids)
        obs, reward, terminated, truncated, info = batch
        if self.is_async:
            self._waiting[info["env_id"]] = False
        if "_final_obs" in info:
            self._firsts.keep(obs, info)
        return self._laid_out(obs), reward, terminated, truncated, self._chosen(info)

    def seed(self, seed=None):
        """Seeds all environments, and resets them as Tianshou's own do; returns a list of one list per environment."""
        self._waiting[:] = False
        self._firsts.forget()
        seeds = [seed + i for i in range(self.env_num)] if isinstance(seed, int) else seed
        self.pool.reset(seed=seeds)
        if seeds is not None and seeds[0] is not None:
            self.pool.single_action_space.seed(seeds[0])
        return [[s] for s in seeds or [None] * self.env_num]

    def render(self, **kwargs):
        return list(self.pool.render())

    def close(self):
        self.pool.close()
        self.is_closed = True

    def _and_the_rest(self, obs, info):
        more, _, _, _, more_info = self.pool.recv()
        spec = self.pool.env_spec
        ids = np.concatenate([info["env_id"], more_info["env_id"]])
        order = np.argsort(ids) if len(ids) == self.env_num else slice(None)
        parts = zip(spec.parted(obs), spec.parted(more), strict=True)
        return (spec.joined([np.concatenate(pair)[order] for pair in parts]),
                {key: np.concatenate([values, more_info[key]])[order] for key, values in info.items()})

    def _laid_out(self, obs):
        return Batch(obs) if isinstance(obs, dict) else obs

    def _chosen(self, info):
        return _infos({"env_id": info["env_id"], **{key: info[key] for key in self._infos}})


class PoolEnvFactory(EnvFactory):
    """Makes pools for the experiments of Tianshou's high-level API.

    Args:
        task: An id of `cypool.list_all_envs()`.
        test: Arguments that differ for test and watch, such as `{"episodic_life": False}`.
        infos: As for `PoolVectorEnv`.
        **kwargs: As for `make`, except `num_envs` and `seed`, which the experiment says.
    """

    def __init__(self, task, *, test=None, infos=None, **kwargs):
        super().__init__(VectorEnvType.DUMMY)
        self.task = task
        self.infos = infos
        self.kwargs = kwargs
        self.test = test or {}

    def _arguments(self, mode):
        return self.kwargs if mode == EnvMode.TRAINING else {**self.kwargs, **self.test}

    def _create_env(self, mode):
        return SingleEnv(self.task, **self._arguments(mode))

    def create_venv(self, num_envs, mode, seed=None):
        """Makes a `PoolVectorEnv`; see Tianshou's `EnvFactory`."""
        seed = self._next_seed(self._create_rng(seed)) // 2
        return make(self.task, self.infos, num_envs=num_envs, seed=seed, **self._arguments(mode))
