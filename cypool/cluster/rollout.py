"""The result of a rollout, and how the parts that workers send are joined."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cypool.spec import EnvSpec
    from cypool.util.typing import Floats


@dataclass
class Rollout:
    """T steps of N environments, in rows ordered by (worker, env).

    Where observations are dicts or tuples, `obs`, `next_obs` and `final_obs` are such of arrays.

    Attributes:
        obs: (T, N, ...): the observation of the policy before step t.
        next_obs: (N, ...): the observation after the last step, for bootstrapping.
        action: (T, N, ...): as drawn; an environment got it clipped to its bounds.
        params: float32, (T, N, num_parameters): of the distribution it was drawn from.
        logp: float32, (T, N): the action's log probability or density.
        reward: float64, (T, N).
        terminated, truncated: bool, (T, N): whether step t ended the episode.
        valid: bool, (T, N): False where row t is no transition: the step after an end (NextStep) ignores its action,
            and so do the one or two steps in which a lost worker's environments start again.
        extras: The rest of the policy's output, (T, N, ...) each.
        infos: The infos that were asked for, (T, N, ...) each: those of step t.
        final_step, final_env, final_obs: Where an episode ended, with "SameStep": int64 (k,), int64 (k,), (k, ...), in
            the order of steps. Empty, and None for the observations, if none ended or with "NextStep".
        episodes: With `episode_statistics`: a dict of arrays (k,), in the order of steps: "r", the return, "l", the
            length, "t", the seconds, "step" and "env".
        version: int64, (N,): of the weights that chose the actions; 0 is the policy the workers started with.
        kl: float64, (N,): the divergence that was found when the worker was last asked for its drift; NaN if it was not
            in this call.
        worker: Whose rollout it is, in a stream; None: it is of all.
        buffers: The arrays, for `rollout(T, out=...)`.
    """

    obs: Any
    next_obs: Any
    action: NDArray[Any]
    params: NDArray[Any]
    logp: NDArray[Any]
    reward: NDArray[Any]
    terminated: NDArray[Any]
    truncated: NDArray[Any]
    valid: NDArray[Any]
    extras: dict[str, Any]
    infos: dict[str, Any]
    final_step: NDArray[Any]
    final_env: NDArray[Any]
    final_obs: Any
    episodes: dict[str, Any] | None
    version: NDArray[Any]
    kl: NDArray[Any]
    worker: int | None = None
    buffers: dict[Any, NDArray[Any]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.reward)


def assembled(spec: EnvSpec, steps: int, buffers: dict[Any, NDArray[Any]], ends: Sequence[Any],
              version: NDArray[np.int64], kl: Floats, worker: int | None = None) -> Rollout:
    """Returns a `Rollout` over arrays.

    Args:
        spec: The `EnvSpec`.
        steps: T.
        buffers: Arrays by (kind, name): ("obs", k) is the k-th part of the observations, with T + 1 rows.
        ends: For each worker in turn the index of its first environment, and its "final" and "episodes".
        version, kl: (N,).
        worker: As in `Rollout`.
    """
    def named(kind: str) -> dict[str, NDArray[Any]]:
        return {name: array for (each, name), array in buffers.items() if each == kind}

    obs = list(named("obs").values())
    parts = [(first, part["final"]) for first, part in ends if part["final"] is not None]
    final = [np.concatenate([part[k] + first if k == 1 else part[k] for first, part in parts])
             for k in range(2 + len(obs))] if parts else [np.zeros(0, np.int64)] * 2
    order = np.lexsort(final[1::-1])
    final = [each[order] for each in final]
    listed = [{**part["episodes"], "env": part["episodes"]["env"] + first}
                for first, part in ends if part["episodes"] is not None]
    episodes: dict[str, NDArray[Any]] = {}
    if listed:
        episodes = {name: np.concatenate([each[name] for each in listed]) for name in listed[0]}
        order = np.lexsort((episodes["env"], episodes["step"]))
    return Rollout(
        obs=spec.pack([part[:steps] for part in obs]), next_obs=spec.pack([part[steps] for part in obs]),
        **named("step"), extras=named("extra"), infos=named("info"), final_step=final[0], final_env=final[1],
        final_obs=spec.pack(final[2:]) if parts else None,
        episodes={name: each[order] for name, each in episodes.items()} if episodes else None,
        version=version, kl=kl, worker=worker, buffers=buffers)


def joined_infos(infos: Sequence[dict[str, Any]], num_envs: int) -> dict[str, Any]:
    """Returns the infos of workers with `num_envs` rows each as one; a key that some lack is zero, or None, there."""
    joined: dict[str, Any] = {}
    for key in dict.fromkeys(key for info in infos for key in info):
        found = [info.get(key) for info in infos]
        some = next(each for each in found if each is not None)
        if isinstance(some, dict):
            joined[key] = joined_infos([each or {} for each in found], num_envs)
            continue
        blank = np.full(num_envs, None, object) if some.dtype == object else np.zeros_like(some)
        joined[key] = np.concatenate([blank if each is None else each for each in found])
    return joined
