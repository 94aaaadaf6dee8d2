"""The Gymnasium API with observations or rewards normalized, by statistics that are kept as it goes."""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from cypool.api.env_ids import ids_of
from cypool.api.gymnasium import GymnasiumPool
from cypool.spec import Array
from cypool.util.arguments import check_bool, check_float, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from cypool.engine.engine import Pool
    from cypool.spec import EnvSpec
    from cypool.state import State
    from cypool.util.typing import Batch, Bools, EnvIds, Floats, Seed


class Moments:
    """Mean and variance of all rows so far, in double precision.

    Args:
        shape: Shape of a row.

    Attributes:
        mean, var: float64, `shape`.
        count: How many rows, and a ten-thousandth of one of mean 0 and variance 1 with which it begins.
    """

    def __init__(self, shape: tuple[int, ...]):
        self.mean = np.zeros(shape)
        self.var = np.ones(shape)
        self.count = 1e-4

    def update(self, rows: NDArray[Any]) -> None:
        """Takes rows in: shape (k, *shape)."""
        if not len(rows):
            return
        mean, var, count = rows.mean(0, np.float64), rows.var(0, np.float64), len(rows)
        total = self.count + count
        apart = mean - self.mean
        self.mean = self.mean + apart * (count / total)
        self.var = (self.var * self.count + var * count + apart**2 * (self.count * count / total)) / total
        self.count = total


def _checked(given: Any, shape: tuple[int, ...]) -> Any:
    """Returns mean, variance and count of statistics, as numbers that rows can be normalized with."""
    mean, var = np.array(given["mean"], np.float64), np.array(given["var"], np.float64)
    if mean.shape != shape or var.shape != shape:
        raise ValueError(f"expected mean and var of shape {shape}, got {mean.shape} and {var.shape}")
    if not (np.isfinite(mean).all() and np.isfinite(var).all() and (var >= 0).all()):
        raise ValueError("expected finite means and variances, these not below 0")
    return mean, var, check_float("count", given["count"], 1e-9, 1e300)


class NormalizedPool(GymnasiumPool):
    """A `GymnasiumPool` with observations of mean 0 and variance 1, or rewards whose discounted sum has variance 1.

    As Gymnasium's vector wrappers NormalizeObservation and NormalizeReward, in any autoreset mode, and asynchronously
    and with resets of some environments, too: returns are kept by environment, and rows of a reset count for none.
    Results are equal up to rounding: statistics here are in double precision.

    Normalized observations are float32, `final_obs` included. `info["episode"]` has returns that are not normalized.

    Args:
        pool, spec, autoreset_mode: As for `GymnasiumPool`.
        obs: Whether observations are normalized; they have to be an array.
        reward: Whether rewards are.

    Attributes:
        gamma: The discount of the sum of rewards, 0.99; may be assigned.
        epsilon: Is added to variances before division, 1e-8; may be assigned.
        frozen: Whether statistics stay as they are, as in an evaluation; False, may be assigned.
    """

    fills_out = False

    def __init__(self, pool: Pool, spec: EnvSpec, autoreset_mode: str | AutoresetMode, obs: bool, reward: bool):
        if spec.agents:
            raise ValueError(f"normalize_obs, normalize_reward: expected False for {spec.id}, where several agents act")
        if obs:
            if not isinstance(spec.observation, Array):
                raise ValueError(f"normalize_obs: expected False for {spec.id}, which observes {spec.observation}")
            spec = replace(spec, observation=Array(spec.observation.shape, np.float32))
        super().__init__(pool, spec, autoreset_mode)
        self.gamma, self.epsilon, self.frozen = 0.99, 1e-8, False
        # None where nothing is normalized; methods that use them are not called then
        self._obs: Any = None
        if obs:
            assert isinstance(spec.observation, Array)
            self._obs = Moments(spec.observation.shape)
        self._return: Any = Moments(()) if reward else None
        self._returns = np.zeros(self.num_envs)

    def normalization(self) -> dict[str, Any]:
        """Returns the statistics: a dict of `obs` and `reward`, each None or a dict of `mean`, `var` and `count`."""
        return {name: moments and {"mean": moments.mean.copy(), "var": moments.var.copy(), "count": moments.count}
                for name, moments in (("obs", self._obs), ("reward", self._return))}

    def load_normalization(self, statistics: dict[str, Any]) -> None:
        """Continues from the result of `normalization`.

        Raises:
            ValueError: They are of other observations, or of a pool that normalizes something else.
        """
        for moments, mean, var, count in self._statistics_in(statistics):
            moments.mean, moments.var, moments.count = mean, var, count

    def _statistics_in(self, statistics: Any) -> list[tuple[Any, ...]]:
        """Returns (moments, mean, variance, count) of all statistics, checked; see `load_normalization`."""
        taken = []
        try:
            for name, moments in (("obs", self._obs), ("reward", self._return)):
                given = statistics[name]
                if (given is None) != (moments is None):
                    raise ValueError(f"{name}: expected {'None' if moments is None else 'a dict'}")
                if moments is not None:
                    taken.append((moments, *_checked(given, moments.mean.shape)))
        except Exception as error:
            raise ValueError(f"statistics: expected them as {self.normalization()}, got {shown(statistics)}: "
                             f"{type(error).__name__}: {error}") from error
        return taken

    def step(self, actions: Any, env_id: ArrayLike | None = None, out: Any = None) -> Batch:
        if out is not None:
            raise ValueError("out: expected none in a pool that normalizes")
        ids = ids_of(env_id)
        result: Batch = self._received(self._pool.step, self._read_actions(actions, ids), ids, None)
        return result

    def _to_checkpoint(self) -> dict[str, Any]:
        return {**super()._to_checkpoint(), "statistics": self.normalization(), "returns": self._returns.copy(),
                "gamma": float(self.gamma), "epsilon": float(self.epsilon), "frozen": bool(self.frozen)}

    def _from_checkpoint(self, saved: dict[str, Any]) -> Callable[[], Any]:
        load, taken = super()._from_checkpoint(saved), self._statistics_in(saved["statistics"])
        returns = np.array(saved["returns"])
        gamma, epsilon = (check_float(name, saved[name], -1e300, 1e300) for name in ("gamma", "epsilon"))
        frozen = check_bool("frozen", saved["frozen"])
        if returns.shape != self._returns.shape or returns.dtype != np.float64:
            raise ValueError(f"expected {self.num_envs} returns, got {returns.dtype} of shape {returns.shape}")

        def take() -> Any:
            for moments, mean, var, count in taken:
                moments.mean, moments.var, moments.count = mean, var, count
            self.gamma, self.epsilon, self.frozen = gamma, epsilon, frozen
            loaded = load()
            self._returns[:] = returns
            return loaded

        return take

    def load(self, state: State, env_id: ArrayLike | None = None) -> Any:
        frozen = self.frozen
        try:
            # these observations were counted when they were made
            self.frozen = True
            return super().load(state, env_id)
        finally:
            self.frozen = frozen

    def _load(self, state: State, env_id: ArrayLike | None) -> Batch:
        batch = super()._load(state, env_id)
        # a state does not have them
        self._returns[batch[-1]["env_id"]] = 0
        return batch

    def _copy(self, sources: EnvIds, targets: EnvIds) -> None:
        super()._copy(sources, targets)
        self._returns[targets] = self._returns[sources]

    def rollout_buffers(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError("rollout_buffers: expected a pool that does not normalize")

    def rollout(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError("rollout: expected a pool that does not normalize")

    def _start(self, ids: EnvIds | None, seed: Seed, mask: Bools | None = None,
               options: Any = None) -> None:
        super()._start(ids, seed, mask, options)
        reset: Any = ids if mask is None else mask
        if reset is None:
            reset = slice(None)
        self._returns[reset] = 0

    def _format_batch(self, batch: Batch) -> Batch:
        obs, reward, terminated, truncated, info = super()._format_batch(batch)
        # a batch without rows comes from no pool
        if self._return is not None and len(reward):
            reward = self._normal_reward(reward, terminated, truncated, info["env_id"])
        if self._obs is not None:
            if not self.frozen:
                self._obs.update(obs)
            obs = self._normal(obs)
            if "_final_obs" in info:
                for row in np.flatnonzero(info["_final_obs"]):
                    info["final_obs"][row] = self._normal(info["final_obs"][row])
        return obs, reward, terminated, truncated, info

    def _normal(self, obs: Any) -> Any:
        return ((obs - self._obs.mean) / np.sqrt(self._obs.var + self.epsilon)).astype(np.float32)

    def _normal_reward(self, reward: Floats, terminated: Bools, truncated: Bools, ids: EnvIds) -> Floats:
        # rows of a reset, or of no step at all, have no reward
        steps = self._pool.stepped()
        moved = ids[steps]
        self._returns[moved] = self._returns[moved] * self.gamma * ~terminated[steps] + reward[steps]
        if not self.frozen:
            self._return.update(self._returns[moved])
        if self._same_step:
            self._returns[ids[terminated | truncated]] = 0
        result: Floats = reward / np.sqrt(self._return.var + self.epsilon)
        return result

