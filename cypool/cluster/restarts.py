"""Starts workers, initially and after their process has died."""
from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from cypool.cluster.policies import Policy
from cypool.cluster.sync import Sync
from cypool.cluster.topology import Topology
from cypool.cluster.worker import Lost


class Starter:
    """Starts and restarts workers.

    Args:
        topology: The workers.
        recipe: Arguments of `cypool.make`, or of `cypool.from_factories`, for every worker.
        factories: A function for each row that makes an environment, or None.
        seeds: A seed for each row.
        policy: Chooses actions on the workers, or None.
        sync: How workers decide about new weights themselves; None: the learner decides.
        infos: Names of infos that rollouts carry.
        imports: Modules that workers import first.
        start_timeout: Seconds that a start may take.
    """

    def __init__(self, topology: Topology, recipe: dict[str, Any], factories: Sequence[Any] | None,
                 seeds: Sequence[int], policy: Policy | None, sync: Sync | None, infos: tuple[str, ...],
                 imports: tuple[str, ...], start_timeout: float):
        self._topology, self._recipe, self._factories, self._seeds = topology, recipe, factories, seeds
        self._policy, self._arguments = topology.ray.put(policy), (sync, infos, imports)
        self._envs_per_worker = len(seeds) // len(topology.records)
        self.start_timeout = start_timeout

    def start_all(self, until: float) -> None:
        """Starts all workers, and waits for them until this time of `time.monotonic`.

        Raises:
            TimeoutError: A worker does not start in time.
            RuntimeError: A worker could not be started.
        """
        refs = [self.start(w) for w in range(len(self._topology.workers))]
        for w, ref in enumerate(refs):
            self._await_started(w, ref, until)
        self._topology.find_nodes()

    def start(self, w: int) -> Any:
        """Starts a worker's environments; returns Ray's reference to its answer."""
        rows = slice(w * self._envs_per_worker, (w + 1) * self._envs_per_worker)
        recipe = {**self._recipe, "seed": self._seeds[rows]}
        if self._factories is not None:
            recipe["factories"] = self._factories[rows]
        # Ray repeats this one call by itself until there is a process again
        return self._topology.workers[w].start.options(max_task_retries=-1).remote(
            recipe, self._policy, *self._arguments)

    def restarted(self, w: int, ref: Any) -> Lost | None:
        """Records that a worker was restarted.

        Args:
            w: The worker.
            ref: The result of `start`, whose answer has arrived.

        Returns:
            The state from which the worker continues, or None if it had no call.
        """
        record = self._topology.records[w]
        self._await_started(w, ref, time.monotonic())
        self._topology.find_nodes()
        record.restarts += 1
        record.sent = record.used = record.unanswered = 0
        record.sample = None
        if record.seen is None:
            return None
        entropy = np.random.SeedSequence([self._seeds[w * self._envs_per_worker], record.restarts])
        # 30 bits: every family takes them
        return record.seen, (entropy.generate_state(self._envs_per_worker) >> 2).tolist()

    def _await_started(self, w: int, ref: Any, until: float) -> None:
        """Waits until a worker has started, and records its incarnation and process id."""
        ray, record = self._topology.ray, self._topology.records[w]
        try:
            record.incarnation, record.pid = ray.get(ref, timeout=max(0.0, until - time.monotonic()))
        except ray.exceptions.GetTimeoutError:
            raise TimeoutError(f"worker {w} did not start within {self.start_timeout:g} s") from None
        except (ray.exceptions.RayActorError, ray.exceptions.RayTaskError) as error:
            raise RuntimeError(f"worker {w} could not be started: {error}") from error
