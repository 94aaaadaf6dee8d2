"""Tianshou: a pool as its vector environment, and a factory for it. See docs/how_to/training_libraries.md."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cypool.adapters import make_same_step, require, same_step
from cypool.adapters.reset_cache import ResetCache
from cypool.adapters.single import SingleEnv
from cypool.arguments.env_ids import ids_of
from cypool.hosting.spaces import assign, attribute_of

if TYPE_CHECKING:
    from cypool.api.gymnasium import GymnasiumPool

require("tianshou", "tianshou", "2.0.1", "3")

from tianshou.data import Batch  # noqa: E402
from tianshou.env import BaseVectorEnv  # noqa: E402
from tianshou.highlevel.env import EnvFactory, EnvMode, VectorEnvType  # noqa: E402


def make(id: str, infos: Sequence[str] | None = None, **kwargs: Any) -> PoolVectorEnv:
    """Makes a batch of environments as a `PoolVectorEnv`.

    Args:
        id: As in `cypool.make`.
        infos: As in `PoolVectorEnv`.
        **kwargs: As in `cypool.make`, except `env_type` and `autoreset_mode`.
    """
    return PoolVectorEnv(make_same_step(id, "Tianshou", **kwargs), infos)


class Infos(Batch):
    """Infos of k environments as arrays; creates a dict for a row only when a caller iterates over the rows.

    Tianshou's collectors repeatedly convert an array of dicts to a `Batch` of arrays; this class already is one.
    """

    # collectors look at this before they iterate over the rows
    dtype = np.dtype(object)

    def nonzero(self) -> tuple[NDArray[np.int64], ...]:
        """Returns the rows that hold values: all of them."""
        return (np.arange(len(self)),)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for k in range(len(self)):
            yield {key: values[k] for key, values in self.items()}

    def __len__(self) -> int:
        return len(self.env_id)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str | int | np.integer):
            return super().__getitem__(index)
        return _infos({key: values[index] for key, values in self.items()})

    def __copy__(self) -> Infos:
        # rows are assigned in the copy, and the original is in a buffer by then
        return _infos({key: values.copy() for key, values in self.items()})

    def __setitem__(self, index: Any, value: Any) -> None:
        # collectors assign no rows at all, too
        if not isinstance(index, np.ndarray) or index.size:
            super().__setitem__(index, value)


def _extra_infos_by_env(info: dict[str, Any], final: bool = False) -> dict[int, Any]:
    """Returns by env id the infos of Gymnasium's environments, with the last observation of an episode if `final`."""
    ids = info["env_id"].tolist()
    return {ids[row]: last if final else own for row, own, last in info.get("extra_infos", ())}


def _infos(arrays: dict[str, Any]) -> Infos:
    infos = Infos()
    infos.__dict__.update(arrays)
    return infos


class PoolVectorEnv(BaseVectorEnv):
    """A pool as a `BaseVectorEnv` of Tianshou.

    Tianshou itself resets environments whose episode has ended. By then, the pool already has the first observation of
    the next episode, so `reset` returns it without stepping anything.

    If only some actions are legal, an observation is a `Batch` of `obs` and `mask`, which Tianshou's policies read.

    Args:
        pool: A pool from `cypool.make(..., autoreset_mode="SameStep")`, which the `PoolVectorEnv` owns; for an
            `AsyncCollector`, an asynchronous one.
        infos: The infos that Tianshou receives in addition to `env_id`; by default, the environment's own. Each info
            costs time in every step, and memory in the replay buffer. For Gymnasium environments, whose infos are
            dicts, Tianshou gets an array of dicts, as from its own vector environments.

    Raises:
        TypeError, ValueError: `pool` is not such a pool, its observation is a tuple, or it lacks one of these infos.

    Attributes:
        pool: The argument.
        waiting_id: The environments in flight.
    """

    def __init__(self, pool: GymnasiumPool, infos: Sequence[str] | None = None):
        self.pool = pool = same_step(pool)
        spec = pool.env_spec
        if isinstance(spec.observation, tuple):
            raise TypeError(f"pool: expected an array or a dict as the observation, got {spec.observation}")
        # environments of Gymnasium return any infos, and their names are not known before
        self._is_hosted = pool.keeps_extra_infos = pool._pool.is_hosted
        self._reported_names = None if infos is None else list(infos)
        self._infos = list(spec.info) if infos is None else list(infos)
        if self._is_hosted:
            self._infos = [name for name in self._infos if name == "elapsed_step"]
        for name in self._infos:
            if name not in spec.info and name != "elapsed_step":
                raise ValueError(f"infos: expected names from {['elapsed_step', *spec.info]}, got {name!r}")
        self._mask = ["action_mask"] if spec.illegal is not None and "action_mask" in spec.info else []
        self.env_num = pool.num_envs
        self.wait_num = pool.batch_size
        self.is_async = pool.is_async
        self.is_closed = False
        self._reset_cache = ResetCache(pool, [*self._infos, *self._mask])
        # the infos of Gymnasium's environments for the observations in it
        self._first_extra_infos: dict[int, Any] = {}

    @property
    def waiting_id(self) -> list[int]:
        result: list[int] = self.pool._pool.in_flight()
        return result

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:
        """Returns a list with a pool attribute for each environment; spaces are those of one environment.

        Gymnasium environments each have their own attributes.
        """
        if key in ("action_space", "observation_space"):
            return [getattr(self.pool, f"single_{key}")] * len(self._wrap_id(id))
        if self._is_hosted:
            return self.pool._pool.ask(ids_of(self._wrap_id(id)), attribute_of, key)
        return [getattr(self.pool, key)] * len(self._wrap_id(id))

    def set_env_attr(self, key: str, value: Any, id: Any = None) -> None:
        if self._is_hosted:
            self.pool._pool.ask(ids_of(self._wrap_id(id)), assign, key, value)
            return
        raise AttributeError(f"set_env_attr: cannot set {key!r}: a pool's environments have no settable attributes")

    def reset(self, env_id: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        """Starts new episodes, of all environments by default.

        Args:
            env_id: An int, or integers of shape (k,).
            **kwargs: `seed`, `options`, as for `cypool.api.gymnasium.GymnasiumPool.reset`.

        Returns:
            Observations, and `Infos`, or an array of dicts.
        """
        if env_id is None:
            return self._reset_all(**kwargs)
        ids = ids_of(np.atleast_1d(env_id))
        assert ids is not None
        if not kwargs and self._reset_cache.have(ids):
            obs, info = self._reset_cache.take(ids)
            return self._format_batch(obs, info), self._chosen(info, self._first_extra_infos)
        waiting = self.waiting_id
        if waiting:
            raise RuntimeError(f"reset: environments {waiting} are in flight")
        self._reset_cache.forget(ids)
        obs, info = self.pool.reset(ids, **kwargs)
        return self._format_batch(obs, info), self._chosen(info, _extra_infos_by_env(info))

    def step(self, action: Any, id: Any = None) -> tuple[Any, Any, Any, Any, Any]:
        """Steps environments, all by default.

        Args:
            action: Shape (k, ...). None, in an asynchronous pool, only waits.
            id: An int, or integers of shape (k,).

        Returns:
            Observation, reward (float64), terminated, truncated, and `Infos`, or an array of dicts. In an asynchronous
            pool, `env_id` in the infos identifies the rows.
        """
        if action is None:
            batch = self.pool.recv()
        else:
            ids = None if id is None else ids_of(np.atleast_1d(id))
            named = slice(None) if ids is None else ids
            self._reset_cache.forget(named)
            if self.is_async:
                self.pool.send(action, self.pool.all_env_ids if ids is None else ids)
                batch = self.pool.recv()
            else:
                batch = self.pool.step(action, ids)
        obs, reward, terminated, truncated, info = batch
        extra_infos = _extra_infos_by_env(info)
        if "_final_obs" in info:
            lasts = _extra_infos_by_env(info, final=True)
            for i in info["env_id"][info["_final_obs"]].tolist():
                self._first_extra_infos[i], extra_infos[i] = extra_infos.get(i), lasts.get(i)
            # last: a signal may raise in between
            self._reset_cache.keep(obs, info)
        return self._format_batch(obs, info), reward, terminated, truncated, self._chosen(info, extra_infos)

    def seed(self, seed: int | list[int] | None = None) -> list[list[int] | None]:
        """Seeds and resets all environments, as in Tianshou's classes; returns a list with one list per environment."""
        seeds: Any = [seed + i for i in range(self.env_num)] if isinstance(seed, int) else seed
        self._reset_all(seed=seeds)
        if seeds is not None and seeds[0] is not None:
            self.pool.single_action_space.seed(seeds[0])
        return [[s] for s in seeds or [None] * self.env_num]

    def render(self, **kwargs: Any) -> list[Any]:
        return list(self.pool.render())

    def close(self) -> None:
        self.pool.close()
        self.is_closed = True

    def _reset_all(self, **kwargs: Any) -> tuple[Any, Any]:
        """Resets all environments and waits for all of them, batch by batch in an asynchronous pool."""
        if self._reset_cache.is_resumed and not kwargs:
            obs, info = self._reset_cache.take(self.pool.all_env_ids)
            return self._format_batch(obs, info), self._chosen(info, {})
        self._reset_cache.forget()
        batches = [self.pool.reset(**kwargs)]
        while sum(len(info["env_id"]) for _, info in batches) < self.env_num:
            obs, _, _, _, info = self.pool.recv()
            batches.append((obs, info))
        extra_infos = {i: own for _, info in batches for i, own in _extra_infos_by_env(info).items()}
        if len(batches) == 1:
            obs, info = batches[0]
        else:
            spec = self.pool.env_spec
            order = np.argsort(np.concatenate([info["env_id"] for _, info in batches]))
            info = {key: np.concatenate([info[key] for _, info in batches])[order]
                    for key in ("env_id", *self._infos, *self._mask)}
            parts = zip(*(spec.unpack(obs) for obs, _ in batches), strict=True)
            obs = spec.pack([np.concatenate(part)[order] for part in parts])
        return self._format_batch(obs, info), self._chosen(info, extra_infos)

    def _resume(self, obs: Any, info: dict[str, Any]) -> Any:
        """Makes the next reset return these observations of a loaded checkpoint."""
        self._reset_cache.resume(obs, info)
        return obs, info

    def _format_batch(self, obs: Any, info: dict[str, Any]) -> Any:
        obs = Batch(obs) if isinstance(obs, dict) else obs
        return Batch(obs=obs, mask=info["action_mask"] != 0) if self._mask else obs

    def _chosen(self, info: dict[str, Any], extra_infos: Any) -> Any:
        arrays = {"env_id": info["env_id"], **{key: info[key] for key in self._infos}}
        if not self._is_hosted:
            return _infos(arrays)
        rows = np.empty(len(info["env_id"]), object)
        for k, i in enumerate(info["env_id"].tolist()):
            own = extra_infos.get(i) or {}
            if self._reported_names is not None:
                own = {key: own[key] for key in self._reported_names if key in own}
            rows[k] = {**own, **{key: values[k].item() for key, values in arrays.items()}}
        return rows


class PoolEnvFactory(EnvFactory):
    """Makes pools for experiments with Tianshou's high-level API.

    Args:
        task: An id of `cypool.list_all_envs()`.
        test: Arguments that differ for testing and watching, such as `{"episodic_life": False}`.
        infos: As in `PoolVectorEnv`.
        **kwargs: As in `make`, except `num_envs` and `seed`, which the experiment sets.
    """

    def __init__(self, task: str, *, test: dict[str, Any] | None = None, infos: Sequence[str] | None = None,
                 **kwargs: Any):
        super().__init__(VectorEnvType.DUMMY)
        self.task = task
        self.infos = infos
        self.kwargs = kwargs
        self.test = test or {}

    def _arguments(self, mode: Any) -> dict[str, Any]:
        return self.kwargs if mode == EnvMode.TRAINING else {**self.kwargs, **self.test}

    def _create_env(self, mode: Any) -> Any:
        return SingleEnv(self.task, **self._arguments(mode))

    def create_venv(self, num_envs: int, mode: Any, seed: int | None = None) -> PoolVectorEnv:
        """Makes a `PoolVectorEnv`; see Tianshou's `EnvFactory`."""
        seed = self._next_seed(self._create_rng(seed)) // 2
        return make(self.task, self.infos, num_envs=num_envs, seed=seed, **self._arguments(mode))
