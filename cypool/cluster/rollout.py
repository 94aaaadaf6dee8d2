"""The result of a rollout, and how to join the parts that workers send."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cypool.spec import Discrete

if TYPE_CHECKING:
    from cypool.spec import EnvSpec
    from cypool.util.typing import Floats


@dataclass
class Rollout:
    """T steps of N environments, in rows ordered by (worker, env).

    Row t belongs to step t, and fields have the same names as in the `RolloutBuffers` of a pool. If observations are
    dicts or tuples, `obs`, `next_obs`, `last_obs` and `final_obs` are dicts or tuples of arrays.

    Attributes:
        obs: (T, N, ...): the observation from which `action[t]` was chosen.
        next_obs: (T, N, ...): the observation after step t: the same memory, shifted by one row.
        last_obs: (N, ...): the observation after the last step, for bootstrapping.
        action: (T, N, ...): the action that the environment received.
        raw_action: (T, N, ...): the numbers drawn, before clipping to the action's bounds; None for Discrete actions.
        params: float32, (T, N, num_parameters): parameters of the distribution of the action.
        log_prob: float32, (T, N): the log probability, or log density, of the draw.
        value: The policy's output "value", (T, N, ...); None if it has none.
        reward: float64, (T, N).
        terminated: bool, (T, N): whether step t ended the episode by a rule of the environment.
        truncated: bool, (T, N): whether step t ended the episode otherwise, for example at the step limit.
        valid: bool, (T, N): False if row t is not a transition: in the step after an end (NextStep), which ignores its
            action, and in the one or two steps in which a lost worker's environments restart.
        extras: The rest of the policy's output, (T, N, ...) each, "value" included.
        info: The requested infos of step t, (T, N, ...) each.
        final_step: int64, (k,): with "SameStep", the steps that ended episodes, in order; otherwise empty.
        final_env: int64, (k,): the environments of these episodes.
        final_obs: (k, ...): the last observations of these episodes; None if there are none.
        episodes: With `episode_statistics`: a dict of arrays (k,), in the order of steps: "r", the return, "l", the
            length, "t", the seconds, "step" and "env".
        version: int64, (N,): the version of the weights that chose the actions; 0 is the workers' initial policy.
        kl: float64, (N,): the divergence measured in this call; NaN if it was not measured.
        worker: The worker of a rollout in a stream; None: all workers.
        buffers: The memory to reuse, for `rollout(T, out=...)`.
    """

    obs: Any
    next_obs: Any
    last_obs: Any
    action: NDArray[Any]
    raw_action: NDArray[Any] | None
    params: NDArray[Any]
    log_prob: NDArray[Any]
    value: NDArray[Any] | None
    reward: NDArray[Any]
    terminated: NDArray[Any]
    truncated: NDArray[Any]
    valid: NDArray[Any]
    extras: dict[str, Any]
    info: dict[str, Any]
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


def assembled(spec: EnvSpec, buffers: dict[Any, NDArray[Any]], ends: Sequence[Any],
              version: NDArray[np.int64], kl: Floats, worker: int | None = None) -> Rollout:
    """Returns a `Rollout` over arrays.

    Args:
        spec: The `EnvSpec`.
        buffers: Arrays by (kind, name): ("obs", k) is the k-th part of the observations, with T + 1 rows.
        ends: For each worker in turn the index of its first environment, and its "final" and "episodes".
        version, kl: (N,).
        worker: As in `Rollout`.
    """
    def named(kind: str) -> dict[str, NDArray[Any]]:
        return {name: array for (each, name), array in buffers.items() if each == kind}

    obs = list(named("obs").values())
    arrays, extras = named("step"), named("extra")
    drawn = arrays.pop("raw_action")
    discrete = isinstance(spec.action, Discrete)
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
        obs=spec.pack([part[:-1] for part in obs]), next_obs=spec.pack([part[1:] for part in obs]),
        last_obs=spec.pack([part[-1] for part in obs]), action=within_bounds(spec.action, drawn),
        raw_action=None if discrete else drawn, value=extras.get("value"), **arrays, extras=extras, info=named("info"),
        final_step=final[0], final_env=final[1],
        final_obs=spec.pack(final[2:]) if parts else None,
        episodes={name: each[order] for name, each in episodes.items()} if episodes else None,
        version=version, kl=kl, worker=worker, buffers=buffers)


def within_bounds(action: Any, drawn: NDArray[Any]) -> NDArray[Any]:
    """Converts drawn actions to those that an environment gets."""
    if isinstance(action, Discrete):
        return drawn
    result: NDArray[Any] = np.clip(drawn, action.low, action.high).astype(action.dtype)
    return result


def joined_infos(infos: Sequence[dict[str, Any]], num_envs: int) -> dict[str, Any]:
    """Merges the infos of workers with `num_envs` rows each; keys that a worker lacks are zero, or None, there."""
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
