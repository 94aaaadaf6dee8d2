"""The Gymnasium API with observations or rewards normalized by running statistics."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode

from cypool.api.gymnasium import GymnasiumPool
from cypool.arguments.env_ids import ids_of
from cypool.engine.engine import normalized
from cypool.features.normalize import Normalizing
from cypool.features.rollouts import RolloutBuffers
from cypool.util.arguments import check_array, check_bool, check_float

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from cypool.engine.engine import Pool
    from cypool.spec import EnvSpec
    from cypool.state import State
    from cypool.util.typing import Batch, Bools, EnvIds, Floats, Seed


class NormalizedPool(Normalizing, GymnasiumPool):
    """A `GymnasiumPool` with observations of mean 0 and variance 1, or rewards whose discounted sum has variance 1.

    Works like Gymnasium's vector wrappers NormalizeObservation and NormalizeReward, but with any autoreset mode,
    asynchronous pools and partial resets: returns are tracked per environment, and reset rows do not count. Results
    match up to rounding, because statistics here are in double precision.

    `step`, `recv` and `reset` add each batch to the statistics before they normalize it; `rollout` does the same with
    the rewards of each step. A rollout normalizes observations, also for its policy, with the statistics from before
    the rollout, and adds them to the statistics at its end, in the order of steps and environments: a loop of `step`
    within `hold_statistics()` gives bit-identical results. With `observe`, it only adds the observations that it keeps.

    Normalized observations are float32, including `final_obs`. Returns in `info["episode"]` are not normalized.

    Args:
        pool, spec, autoreset_mode: As in `GymnasiumPool`.
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
            raise ValueError("out: expected None in a pool with normalization")
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
            raise RuntimeError("a checkpoint cannot be saved within hold_statistics(), because the statistics do not "
                               "include the held observations yet")
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
                raise ValueError(f"expected float32 observations of shape {self._shown.shape}, got {last.dtype} of "
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
