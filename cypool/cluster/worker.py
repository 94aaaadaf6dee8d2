"""The worker's side: a pool, and the policy that chooses its actions. It does not use Ray."""
from __future__ import annotations

import copy
import os
import sys
import uuid
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import cypool
from cypool.cluster.policies import evaluated
from cypool.cluster.rollout import within_bounds
from cypool.engine.engine import moments_of, normalized
from cypool.errors import EnvError
from cypool.spec import Discrete

if TYPE_CHECKING:
    from cypool.cluster.policies import Policy
    from cypool.cluster.sync import Sync
    from cypool.util.typing import Bools

# lets a worker continue for a process that died: the last observation parts, and new seeds
Lost = tuple[list[NDArray[Any]], list[int]]
# mean and standard deviation that observations are normalized with; None: they are not
Scale = tuple[NDArray[np.float64], NDArray[np.float64]] | None
# the fields of a rollout with a value for each step and environment, but for observation, action and parameters
FLAGS = {"reward": np.float64, "terminated": np.bool_, "truncated": np.bool_, "valid": np.bool_}


class Worker:
    """Some environments of a cluster, and its copy of the policy.

    `start` begins an incarnation, and another one after a restart: a process does not know the one before it. Each
    call names the incarnation it is meant for. A worker of another incarnation answers None.
    """

    _incarnation: str | None = None
    # Any, as calls that use them come only where there is a policy
    _policy: Any
    _newer: Any
    # of the observations that the policy sees in this call
    _scale: Scale = None

    def start(self, recipe: dict[str, Any], policy: Policy | None, sync: Sync | None = None, infos: Sequence[str] = (),
              imports: Sequence[str] = ()) -> tuple[str, int]:
        """Makes the environments.

        Args:
            recipe: Arguments of `cypool.make`, or of `cypool.from_factories`; `seed` is a list.
            policy: See policies.py; None: the learner always sends the actions. Its weights are version 0.
            sync: How it decides about new weights itself; None: the learner decides.
            infos: Names of infos that rollouts carry.
            imports: Modules to import first: those that register environments.

        Returns:
            The name of this incarnation, and the process id.
        """
        for module in imports:
            import_module(module)
        self._pool = cypool.from_factories(**recipe) if "factories" in recipe else cypool.make(**recipe)
        self._spec = self._pool.env_spec
        self._num_envs = self._pool.num_envs
        self._same_step = recipe["autoreset_mode"] == "SameStep"
        if policy is not None and "torch" in sys.modules:
            # by default it takes all CPUs, or those that Ray has reserved
            sys.modules["torch"].set_num_threads(max(1, self._pool.num_threads))
        self._sync, self._infos = sync, infos
        # an object from the object store is read-only
        self._policy, self._version = copy.deepcopy(policy), 0
        # weights that came, but are not taken yet
        self._newer, self._newer_version = copy.deepcopy(policy) if sync else None, 0
        self._rng = np.random.default_rng(recipe["seed"])
        # values to report before the environments step again
        self._first_reports: list[Any] = []
        self._buffers: dict[Any, NDArray[Any]] = {}
        self._buffers_steps = 0
        self._incarnation = uuid.uuid4().hex
        return self._incarnation, os.getpid()

    def reset(self, incarnation: str | None, seeds: list[Any] | None = None) -> dict[str, Any] | None:
        """Starts new episodes.

        Args:
            incarnation: The receiver of the call.
            seeds: A list; if there is one for each environment, it also seeds the draws of the policy. None: random
                streams continue.

        Returns:
            A dict: "obs", the parts of the observation, and "info".
        """
        if incarnation != self._incarnation:
            return None
        if seeds is not None and None not in seeds:
            self._rng = np.random.default_rng(seeds)
        obs, info = self._pool.reset(seed=seeds)
        self._first_reports.clear()
        self._obs, self._over = obs, np.zeros(self._num_envs, np.bool_)
        return {"obs": self._spec.unpack(obs), "info": info}

    def step(self, incarnation: str | None, actions: Any, version: int = 0, weights: Any = None,
             lost: Lost | None = None, scale: Scale = None) -> dict[str, Any] | None:
        """Steps all environments.

        Args:
            actions: (num_envs, *action shape); None: the policy chooses.
            incarnation, version, weights, lost, scale: As in `rollout`; only the policy sees normalized observations.

        Returns:
            A dict: "obs", the parts of the observation, "reward", "terminated", "truncated", "valid", "info"; if the
            policy chose also "chosen", its output, "version" and "kl".
        """
        if incarnation != self._incarnation:
            return None
        self._begin(lost)
        self._scale = scale
        chosen = {}
        if actions is None:
            kl = self._take(version, weights)
            params, others = evaluated(self._policy, self._seen(self._obs), self._num_envs)
            drawn = self._policy.distribution.sample(params, self._rng)
            actions = within_bounds(self._spec.action, drawn)
            log_prob = self._policy.distribution.logp(params, drawn).astype(np.float32)
            raw = {} if isinstance(self._spec.action, Discrete) else {"raw_action": drawn}
            chosen = {"chosen": {"action": actions, **raw, "params": params, "log_prob": log_prob, **others},
                      "version": self._version, "kl": kl}
        valid = np.zeros(self._num_envs, np.bool_) if self._first_reports else ~self._over
        obs, reward, terminated, truncated, info = self._advance(actions)
        return {"obs": self._spec.unpack(obs), "reward": reward, "terminated": terminated, "truncated": truncated,
                "valid": valid, "info": info, **chosen}

    def rollout(self, incarnation: str | None, num_steps: int, version: int = 0, weights: Any = None,
                lost: Lost | None = None, scale: Scale = None) -> dict[str, Any] | None:
        """Steps all environments `num_steps` times with the policy's actions.

        Args:
            incarnation: The receiver of the call.
            num_steps: T.
            version, weights: Newer weights for the worker, or None.
            lost: (observation parts, seeds) if it continues for a process that died: the last observations.
            scale: The statistics for normalizing observations, including those before the first step.

        Returns:
            A dict: "arrays", for `assembled`, which are valid until the next call; "final", a list of steps,
            environments and observation parts, or None; "episodes", a dict or None; "version"; "kl", NaN if there was
            no comparison. With a scale also "seen", the last observations as the environments made them, and "moments",
            mean, variance and number of those after the steps. None if it was restarted.
        """
        if incarnation != self._incarnation:
            return None
        self._begin(lost)
        self._scale = scale
        kl = self._take(version, weights)
        policy, arrays = self._policy, self._buffers_for(num_steps)
        obs = [array for (kind, _), array in arrays.items() if kind == "obs"]
        flags = [arrays["step", name] for name in ("reward", "terminated", "truncated")]
        valid, finals, episodes = arrays["step", "valid"], [], []
        for array, part in zip(obs, self._spec.unpack(self._obs), strict=True):
            array[0] = part
        for t in range(num_steps):
            params, others = evaluated(policy, self._seen(self._spec.pack([array[t] for array in obs])), self._num_envs)
            actions = policy.distribution.sample(params, self._rng)
            for key, value in ((("step", "params"), params), (("step", "raw_action"), actions),
                               *((("extra", name), value) for name, value in others.items())):
                self._store(arrays, key, t, value)
            valid[t] = False if self._first_reports else ~self._over
            _, _, _, _, info = self._advance(within_bounds(self._spec.action, actions), (
                self._spec.pack([array[t + 1] for array in obs]), *(array[t] for array in flags)))
            for name in self._infos:
                self._store(arrays, ("info", name), t, info[name])
            if "_final_obs" in info:
                finals.append((t, *self._rows(info["final_obs"], info["_final_obs"])))
            if "_episode" in info:
                episodes.append((t, np.flatnonzero(info["_episode"]), info["episode"]))
        flat = arrays["step", "params"].reshape(-1, policy.distribution.num_parameters)
        drawn = arrays["step", "raw_action"]
        arrays["step", "log_prob"] = policy.distribution.logp(flat, drawn.reshape(-1, *drawn.shape[2:])).astype(
            np.float32).reshape(num_steps, -1)
        answer: dict[str, Any] = {"arrays": arrays, "final": _stacked(finals), "episodes": _listed(episodes),
                                  "version": self._version, "kl": kl}
        if scale is not None:
            # one array, as others are not normalized
            (raw,) = obs
            rows = raw[1:].reshape(-1, *raw.shape[2:])
            answer |= {"arrays": {**arrays, ("obs", 0): normalized(raw, *scale)}, "seen": [raw[-1]],
                       "moments": (*moments_of(rows), len(rows))}
            if finals:
                answer["final"][2] = normalized(answer["final"][2], *scale)
        return answer

    def _begin(self, lost: Lost | None) -> None:
        """Continues for a process that died."""
        if lost is None:
            return
        parts, seeds = lost
        # shared arrays are read-only
        seen = self._spec.pack([np.array(part) for part in parts])
        self._rng = np.random.default_rng(seeds)
        none, ended, nothing = (np.full(self._num_envs, x) for x in (False, True, 0.0))
        self._obs, self._over = seen, none
        fresh, info = self._pool.reset(seed=seeds)
        if self._same_step:
            final = np.full(self._num_envs, None, object)
            for i in range(self._num_envs):
                final[i] = self._spec.pack([part[i] for part in parts])
            ending = {"final_obs": final, "_final_obs": ended, "final_info": {}, "_final_info": ended}
            self._first_reports = [(fresh, nothing, none, ended, {**info, **ending})]
        else:
            blank = _blank(info) | {name: info[name] for name in ("env_id", "players") if name in info}
            self._first_reports = [(seen, nothing, none, ended, blank), (fresh, nothing, none, none, info)]

    def _take(self, version: int, weights: Any) -> float:
        """Takes new weights if they are due; returns the divergence, NaN if it was not looked at."""
        kl = np.nan
        if self._sync is None:
            if weights is not None:
                self._policy.set_weights(weights)
                self._version = version
            return kl
        if weights is not None:
            self._newer.set_weights(weights)
            self._newer_version = version

        def drift() -> float:
            nonlocal kl
            seen = self._seen(self._obs)
            old, new = (evaluated(policy, seen, self._num_envs)[0] for policy in (self._policy, self._newer))
            kl = float(self._policy.distribution.kl(old, new).mean())
            return kl

        lag = self._newer_version - self._version
        if lag > 0 and self._sync.due(lag, drift):
            self._policy, self._newer = self._newer, self._policy
            self._version = self._newer_version
        return kl

    def _advance(self, actions: Any, out: Any = None) -> Any:
        if self._first_reports:
            batch = self._first_reports.pop(0)
            if out is not None:
                for target, source in zip([*self._spec.unpack(out[0]), *out[1:]],
                                          [*self._spec.unpack(batch[0]), *batch[1:4]], strict=True):
                    target[...] = source
                batch = *out, batch[4]
        else:
            try:
                batch = self._pool.step(actions, out=out)
            except EnvError as error:
                self._see(error.batch)
                raise
        self._see(batch)
        return batch

    def _seen(self, obs: Any) -> Any:
        """Returns observations as the policy sees them."""
        return obs if self._scale is None else normalized(np.ascontiguousarray(obs), *self._scale)

    def _see(self, batch: Any) -> None:
        self._obs, _, terminated, truncated, _ = batch
        if not self._same_step:
            self._over = terminated | truncated

    def _buffers_for(self, num_steps: int) -> dict[Any, NDArray[Any]]:
        """Returns arrays for `num_steps` steps: those of the last rollout if it was as long, as Ray has copied them."""
        if num_steps != self._buffers_steps:
            lead = num_steps, self._num_envs
            parts = [part for _, part in self._spec.observations]
            self._buffers = {("obs", k): np.zeros((num_steps + 1, self._num_envs, *part.shape), part.dtype)
                             for k, part in enumerate(parts)}
            # the last observation may be a row of the old ones, and is copied before that row is written
            self._buffers |= {("step", name): np.zeros(lead, dtype) for name, dtype in FLAGS.items()}
            self._buffers_steps = num_steps
        return self._buffers

    def _store(self, arrays: dict[Any, NDArray[Any]], key: tuple[str, str], t: int, value: Any) -> None:
        if key not in arrays:
            arrays[key] = np.zeros((self._buffers_steps, *value.shape), value.dtype)
        arrays[key][t] = value

    def _rows(self, final_obs: Any, mask: Bools) -> tuple[NDArray[np.int64], list[NDArray[Any]]]:
        """Returns which environments ended, and the parts of their last observations."""
        envs = np.flatnonzero(mask)
        seen = [self._spec.unpack(final_obs[i]) for i in envs]
        return envs, [np.stack(parts) for parts in zip(*seen, strict=True)]


def _blank(info: dict[str, Any]) -> dict[str, Any]:
    """Returns infos of the same shapes, all zero or None."""
    return {name: _blank(each) if isinstance(each, dict) else
            np.full(each.shape, None, object) if each.dtype == object else np.zeros_like(each)
            for name, each in info.items()}


def _stacked(finals: list[Any]) -> list[NDArray[Any]] | None:
    if not finals:
        return None
    steps = np.concatenate([np.full(len(envs), t) for t, envs, _ in finals])
    parts = zip(*(parts for _, _, parts in finals), strict=True)
    return [steps, np.concatenate([envs for _, envs, _ in finals]), *(np.concatenate(part) for part in parts)]


def _listed(episodes: list[Any]) -> dict[str, NDArray[Any]] | None:
    if not episodes:
        return None
    listed = {name: np.concatenate([episode[name][envs] for _, envs, episode in episodes]) for name in ("r", "l", "t")}
    return {**listed, "step": np.concatenate([np.full(len(envs), t) for t, envs, _ in episodes]),
            "env": np.concatenate([envs for _, envs, _ in episodes])}
