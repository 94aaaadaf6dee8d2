"""The newest weights of the policy, and which worker gets them with its next call."""
from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypool.cluster.policies import Policy, evaluated, weights_of
from cypool.cluster.statistics import Statistics, nbytes
from cypool.cluster.sync import Sync
from cypool.cluster.topology import WorkerRecord
from cypool.spec import EnvSpec


class WeightSync:
    """The published weights, and which of them a worker receives.

    Args:
        spec: The environment's.
        policy: The policy, or None; it is copied.
        sync: When a worker takes newer weights.
        statistics: Counts bytes.
        envs_per_worker: Environments of each worker.

    Attributes:
        version: The version of the newest weights; 0: the workers' initial ones.
        policy: The copy, with the newest weights.
        learner_decides: Whether the learner, not the worker, asks `sync`.
    """

    def __init__(self, spec: EnvSpec, policy: Policy | None, sync: Sync, statistics: Statistics,
                 envs_per_worker: int):
        # copies: the caller may train its own in the meantime
        self.policy = copy.deepcopy(policy)
        self.learner_decides = sync.where == "learner"
        self.version = 0
        self._spec, self._sync, self._statistics, self._envs_per_worker = spec, sync, statistics, envs_per_worker
        self._shapes = {} if policy is None else {name: array.shape for name, array in weights_of(policy).items()}
        # Ray's reference to them, their bytes, and the nodes that have them
        self._ref: Any = None
        self._size = 0
        self._on_nodes: set[str | None] = set()

    def publish(self, source: Any, ray: Any) -> int:
        """Makes these weights the newest and returns their version; see `ClusterEnv.publish`."""
        assert self.policy is not None
        weights = weights_of(source)
        shapes = {name: array.shape for name, array in weights.items()}
        if shapes != self._shapes:
            raise ValueError(f"weights: expected {self._shapes}, got {shapes}")
        self.policy.set_weights(weights)
        self._ref, self._size = ray.put(weights), nbytes(weights)
        self.version += 1
        self._on_nodes = set()
        self._statistics.counts["bytes_published"] += self._size
        return self.version

    def next_for(self, record: WorkerRecord) -> tuple[int, Any, float]:
        """Returns the data for a worker's call in which it uses its policy.

        Returns:
            The version and Ray's reference to the weights, or 0 and None where none are due; and the divergence, NaN if
            it was not looked at.
        """
        kl = math.nan
        if record.sent == self.version:
            return 0, None, kl
        if self.learner_decides:
            def drift() -> float | None:
                nonlocal kl
                if record.sample is None:
                    return None
                version, obs, params = record.sample
                if version != record.sent:
                    # newer weights are on their way to it already
                    return 0.0
                assert self.policy is not None
                new, _ = evaluated(self.policy, self._spec.pack(obs), len(params))
                kl = float(self.policy.distribution.kl(params, new).mean())
                return kl

            if not self._sync.due(self.version - record.sent, drift):
                return 0, None, kl
        record.sent = self.version
        if record.node not in self._on_nodes:
            self._on_nodes.add(record.node)
            self._statistics.counts["bytes_pulled"] += self._size
        return self.version, self._ref, kl

    def keep_sample(self, record: WorkerRecord, obs: list[NDArray[Any]], params: NDArray[np.float32]) -> None:
        """Keeps some of the observations that a worker saw, if the strategy wants them.

        Args:
            record: The worker's.
            obs: Parts (T, envs, ...) of the observations of its policy.
            params: The policy's output.
        """
        if self.learner_decides and hasattr(self._sync, "sample"):
            rows = max(1, self._sync.sample // self._envs_per_worker)
            steps = np.unique(np.linspace(0, len(params) - 1, rows).round().astype(int))
            record.sample = record.used, [_flat(part[steps]) for part in obs], _flat(params[steps])

    def close(self) -> None:
        """Drops the references to the object store."""
        self._ref = None


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    return np.array(array).reshape(-1, *array.shape[2:])
