"""The Gymnasium API with observations or rewards normalized by running statistics."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from cypool.api.env_ids import ids_of
from cypool.api.gymnasium import GymnasiumPool
from cypool.api.rollouts import RolloutBuffers
from cypool.engine.engine import moments_of, normalized
from cypool.spec import Array
from cypool.util.arguments import check_array, check_bool, check_float, shown

if TYPE_CHECKING:
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
        count: Number of rows, plus the 0.0001 of a row of mean 0 and variance 1 that it starts with.
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
        raise ValueError("expected finite means and variances, with variances of at least 0")
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
                raise ValueError(f"normalize_obs: expected False for {spec.id}, which observes {spec.observation}")
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
            ValueError: They belong to other observations, or to a pool that normalizes something else.
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

    def normalized(self, obs: Any, reward: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
        """Returns observations and rewards, with any leading axes, normalized by the current statistics."""
        if self._obs is not None:
            obs = self._normal(obs)
        if self._return is not None:
            reward = (reward / np.sqrt(self._return.var + self.epsilon)).astype(reward.dtype)
        return obs, reward

    @contextmanager
    def hold_statistics(self) -> Iterator[None]:
        """Freezes the statistics of observations in the body of `with`, and adds all observations at its end.

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


class NormalizedPool(Normalizing, GymnasiumPool):
    """A `GymnasiumPool` with observations of mean 0 and variance 1, or rewards whose discounted sum has variance 1.

    Like Gymnasium's vector wrappers NormalizeObservation and NormalizeReward, but for any autoreset mode, asynchronous
    pools and partial resets: returns are tracked per environment, and rows of a reset do not count. Results are equal
    up to rounding, as statistics here are in double precision.

    `step`, `recv` and `reset` add each batch to the statistics before they normalize it, and so does `rollout` with the
    rewards of each step. A rollout normalizes observations, also for its policy, by the statistics from before the
    rollout, and adds them at its end, in the order of steps and environments: a loop of `step` within
    `hold_statistics()` has bit-identical results. With `observe`, it only adds the observations that it keeps.

    Normalized observations are float32, including `final_obs`. Returns in `info["episode"]` are not normalized.

    Args:
        pool, spec, autoreset_mode: As for `GymnasiumPool`.
        obs: Whether to normalize observations, which must be an array.
        reward: Whether to normalize rewards.
    """

    fills_out = False

    def __init__(self, pool: Pool, spec: EnvSpec, autoreset_mode: str | AutoresetMode, obs: bool, reward: bool):
        seen = self._begin_statistics(spec, pool.num_envs, obs, reward)
        super().__init__(pool, seen, autoreset_mode)
        self._batch_spec = spec if obs else seen
        if obs:
            # what was returned last of each environment, which a rollout begins with
            self._shown = np.zeros((self.num_envs, *seen.observations[0][1].shape), np.float32)

    def step(self, actions: Any, env_id: ArrayLike | None = None, out: Any = None) -> Batch:
        if out is not None:
            raise ValueError("out: expected None in a pool that normalizes")
        ids = ids_of(env_id)
        result: Batch = self._received(self._pool.step, self._read_actions(actions, ids), ids, None)
        return result

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

    def _to_checkpoint(self) -> dict[str, Any]:
        if self._held is not None:
            raise RuntimeError("expected no checkpoint within hold_statistics(), as its observations are not in the "
                               "statistics yet")
        return {**super()._to_checkpoint(), "statistics": self.normalization(), "returns": self._returns.copy(),
                "gamma": float(self.gamma), "epsilon": float(self.epsilon), "frozen": bool(self.frozen),
                "shown": None if self._obs is None else self._shown.copy()}

    def _from_checkpoint(self, saved: dict[str, Any]) -> Callable[[], Any]:
        load, taken = super()._from_checkpoint(saved), self._statistics_in(saved["statistics"])
        returns = np.array(saved["returns"])
        gamma, epsilon = (check_float(name, saved[name], -1e300, 1e300) for name in ("gamma", "epsilon"))
        frozen = check_bool("frozen", saved["frozen"])
        if returns.shape != self._returns.shape or returns.dtype != np.float64:
            raise ValueError(f"expected {self.num_envs} returns, got {returns.dtype} of shape {returns.shape}")
        last = saved["shown"]
        if self._obs is not None:
            last = check_array("shown", last, f"float32 of shape {self._shown.shape}")
            if last.shape != self._shown.shape or last.dtype != np.float32:
                raise ValueError(f"expected observations, float32 of shape {self._shown.shape}, got {last.dtype} of "
                                 f"shape {last.shape}")

        def take() -> Any:
            for moments, mean, var, count in taken:
                moments.mean, moments.var, moments.count = mean, var, count
            self.gamma, self.epsilon, self.frozen = gamma, epsilon, frozen
            loaded = load()
            self._returns[:] = returns
            if self._obs is None:
                return loaded
            # those of a rollout are older than its statistics
            self._shown[:] = last
            return last.copy(), loaded[1]

        return take

    def _copy(self, sources: EnvIds, targets: EnvIds) -> None:
        super()._copy(sources, targets)
        self._returns[targets] = self._returns[sources]
        if self._obs is not None:
            self._shown[targets] = self._shown[sources]

    def _normal_for_policy(self) -> tuple[EnvSpec, Floats, Floats, NDArray[np.float32]] | None:
        return None if self._obs is None else (self._env_spec, *self._scale(), self._shown.copy())

    def _of_rollout(self, made: RolloutBuffers, out: RolloutBuffers | None) -> RolloutBuffers:
        if self._return is not None:
            self._normalize_rewards(made.reward, made.terminated, made.truncated, made.valid, self.all_env_ids)
        if self._obs is None:
            return made
        with self.hold_statistics():
            return self._seen_rollout(made, out)

    def _seen_rollout(self, made: RolloutBuffers, out: RolloutBuffers | None) -> RolloutBuffers:
        """Returns a rollout with normalized observations, and adds them to the statistics."""
        rows = made.next_obs
        if self.stays_at_end and len(rows) == len(made):
            # of those that stay where their episodes ended no step brings an observation
            going = np.ones((len(rows), self.num_envs), np.bool_)
            np.logical_not(np.maximum.accumulate(made.terminated | made.truncated)[:-1], out=going[1:])
            self._take(rows[going])
        else:
            self._take(rows.reshape(-1, *rows.shape[2:]))
        scale, shown = self._scale(), out
        obs = normalized(made._all_obs, *scale)
        # it was normalized when it was returned
        obs[0] = self._shown
        self._shown[:] = obs[-1]
        if shown is None:
            shown = RolloutBuffers.from_arrays(self._env_spec, obs, made.reward, made.terminated, made.truncated)
        else:
            for target, source in zip(shown.arrays(), (obs, *made.arrays()[1:]), strict=True):
                target[...] = source
        shown.take_over(made, functools.partial(_seen_info, made, scale))
        return shown

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
            reward = self._normal_reward(reward, terminated, truncated, info["env_id"], self._pool.stepped())
        if self._obs is not None:
            self._take(obs)
            obs = self._normal(obs)
            self._shown[info["env_id"]] = obs
            self._normalize_finals(info)
        return obs, reward, terminated, truncated, info


def _seen_info(made: RolloutBuffers, scale: tuple[Floats, Floats]) -> dict[str, Any]:
    """Returns the infos of a rollout, with normalized last observations."""
    info = made.info
    if "final_obs" in info:
        info["final_obs"] = normalized(np.ascontiguousarray(info["final_obs"]), *scale)
    return info
