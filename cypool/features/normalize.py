"""Running statistics of observations and rewards, and their normalization."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cypool.engine.engine import moments_of, normalized
from cypool.spec import Array
from cypool.util.arguments import check_float, shown

if TYPE_CHECKING:
    from cypool.spec import EnvSpec
    from cypool.util.typing import Bools, EnvIds, Floats


class Moments:
    """Mean and variance of all rows so far, in double precision.

    Args:
        shape: Shape of a row.

    Attributes:
        mean, var: float64, `shape`.
        count: Number of rows, plus 0.0001: statistics start with that fraction of a row of mean 0 and variance 1.
    """

    def __init__(self, shape: tuple[int, ...]):
        self.mean = np.zeros(shape)
        self.var = np.ones(shape)
        self.count = 1e-4

    def update(self, rows: NDArray[Any]) -> None:
        """Adds rows of shape (k, *shape)."""
        if len(rows):
            self.merge(*moments_of(np.ascontiguousarray(rows)), len(rows))

    def merge(self, mean: NDArray[np.float64], var: NDArray[np.float64], count: float) -> None:
        """Adds rows by their mean, variance and number: exact up to rounding."""
        total = self.count + count
        apart = mean - self.mean
        self.mean = self.mean + apart * (count / total)
        self.var = (self.var * self.count + var * count + apart**2 * (self.count * count / total)) / total
        self.count = total


def _checked(given: Any, shape: tuple[int, ...]) -> Any:
    """Returns checked mean, variance and count of statistics, for normalizing rows."""
    mean, var = (np.array(given[name], np.float64, order="C") for name in ("mean", "var"))
    if mean.shape != shape or var.shape != shape:
        raise ValueError(f"expected mean and var of shape {shape}, got {mean.shape} and {var.shape}")
    if not (np.isfinite(mean).all() and np.isfinite(var).all() and (var >= 0).all()):
        raise ValueError("expected finite means and finite, nonnegative variances")
    return mean, var, check_float("count", given["count"], 1e-9, 1e300)


class Normalizing:
    """Statistics of observations and rewards, and their normalization.

    Attributes:
        gamma: The discount for the sum of rewards, by default 0.99; may be assigned.
        epsilon: Added to variances before division, by default 1e-8; may be assigned.
        frozen: Whether statistics stop changing, as in an evaluation; by default False; may be assigned.
    """

    gamma, epsilon, frozen = 0.99, 1e-8, False
    # None where nothing is normalized; methods that use them are not called then
    _obs: Any = None
    _return: Any = None
    # observations that `hold_statistics` holds back; None: it holds none
    _held: list[NDArray[Any]] | None = None
    _same_step: bool

    def _begin_statistics(self, spec: EnvSpec, num_envs: int, obs: bool, reward: bool) -> EnvSpec:
        """Starts the statistics of environments; returns their spec with normalized observations.

        Raises:
            ValueError: The environments cannot be normalized.
        """
        if (obs or reward) and spec.agents:
            raise ValueError(f"normalize_obs, normalize_reward: expected False for {spec.id}, which has several agents")
        if obs:
            if not isinstance(spec.observation, Array) or spec.observation.dtype in (np.float16, np.longdouble):
                raise ValueError(f"normalize_obs: expected False for {spec.id} with observation {spec.observation}")
            self._obs = Moments(spec.observation.shape)
            spec = replace(spec, observation=Array(spec.observation.shape, np.float32))
        self._return = Moments(()) if reward else None
        self._returns = np.zeros(num_envs)
        return spec

    def normalization(self) -> dict[str, Any]:
        """Returns the statistics: a dict of `obs` and `reward`, each None or a dict of `mean`, `var` and `count`."""
        return {name: moments and {"mean": moments.mean.copy(), "var": moments.var.copy(), "count": moments.count}
                for name, moments in (("obs", self._obs), ("reward", self._return))}

    def load_normalization(self, statistics: dict[str, Any]) -> None:
        """Restores the result of `normalization`.

        Raises:
            ValueError: The statistics are for different observations, or from a pool that normalizes something else.
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
            normalized = f"normalize_obs={self._obs is not None} and normalize_reward={self._return is not None}"
            raise ValueError(f"statistics: expected the statistics of a pool with {normalized}, got "
                             f"{shown(statistics)}: {type(error).__name__}: {error}") from error
        return taken

    def normalized(self, obs: Any, reward: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
        """Returns observations and rewards, with any leading axes, normalized with the current statistics."""
        if self._obs is not None:
            obs = self._normal(obs)
        if self._return is not None:
            reward = (reward / np.sqrt(self._return.var + self.epsilon)).astype(reward.dtype)
        return obs, reward

    @contextmanager
    def hold_statistics(self) -> Iterator[None]:
        """Freezes the statistics of observations in the body of `with`, and adds the body's observations at the end.

        Rewards, which policies do not see, are added as usual.
        """
        if self._held is not None:
            yield
            return
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            if held:
                self._obs.update(held[0] if len(held) == 1 else np.concatenate(held))

    def _take(self, obs: NDArray[Any]) -> None:
        """Adds observations to the statistics, now or at the end of `hold_statistics`."""
        if self.frozen:
            return
        if self._held is None:
            self._obs.update(obs)
        else:
            self._held.append(obs)

    def _scale(self) -> tuple[Floats, Floats]:
        """Returns the mean and the divisor for observations."""
        return self._obs.mean, np.sqrt(self._obs.var + self.epsilon)

    def _normal(self, obs: Any) -> Any:
        return normalized(np.ascontiguousarray(obs), *self._scale()) if len(obs) else np.zeros(obs.shape, np.float32)

    def _normalize_rewards(self, reward: Floats, terminated: Bools, truncated: Bools, valid: Any, ids: EnvIds) -> None:
        """Normalizes the rewards of a rollout of these environments, step by step."""
        for t, row in enumerate(reward):
            row[:] = self._normal_reward(row, terminated[t], truncated[t], ids, valid[t])

    def _normalize_finals(self, info: dict[str, Any]) -> None:
        """Normalizes the last observations of episodes that ended in a step."""
        for row in np.flatnonzero(info.get("_final_obs", ())):
            info["final_obs"][row] = self._normal(info["final_obs"][row][None])[0]

    def _normal_reward(self, reward: Floats, terminated: Bools, truncated: Bools, ids: EnvIds, steps: Bools) -> Floats:
        # rows of a reset, or of no step at all, have no reward
        moved = ids[steps]
        self._returns[moved] = self._returns[moved] * self.gamma * ~terminated[steps] + reward[steps]
        if not self.frozen:
            self._return.update(self._returns[moved])
        if self._same_step:
            self._returns[ids[terminated | truncated]] = 0
        result: Floats = reward / np.sqrt(self._return.var + self.epsilon)
        return result
