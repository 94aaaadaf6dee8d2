"""The workers of a cluster and their placement: Ray's actors, their placement group, their nodes."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypool.cluster import session
from cypool.cluster.worker import Worker
from cypool.engine import cpus

# CPUs that a worker reserves where there is nothing to reserve
TOKEN = 0.001


class WorkerRecord:
    """The learner's record of a worker.

    Attributes:
        incarnation: The name of its current incarnation; calls meant for a different one are not answered.
        pid: Its process id.
        node: The id of its node.
        restarts: Number of restarts.
        timeouts: Number of times that it was killed for taking too long.
        sent: The version of the weights that it received last.
        used: The version that chose its actions last.
        seen: The parts of the observation that it sent last.
        unanswered: Calls without an answer yet; some no longer have a waiting caller.
        sample: Version, observation parts and parameters, to see how far the policy has drifted.
    """

    incarnation: str | None = None
    pid: int | None = None
    node: str | None = None
    restarts = 0
    timeouts = 0
    sent = 0
    used = 0
    seen: list[NDArray[Any]] | None = None
    unanswered = 0
    sample: tuple[int, list[NDArray[Any]], NDArray[np.float32]] | None = None


class Topology:
    """The workers.

    Args:
        num_workers: Number of workers.
        start_timeout: Seconds that a cluster has to find a place for them.

    Attributes:
        ray: The module.
        lost_errors: The exceptions of `ray.get` for an answer that will never come.
        workers: Their actors; empty after they have ended.
        records: One `WorkerRecord` each.

    Raises:
        ImportError: Ray is not installed.
    """

    def __init__(self, num_workers: int, start_timeout: float):
        self.ray = session.ray_or_explain()
        from ray.exceptions import ObjectLostError, RayActorError

        self.lost_errors: tuple[type[Exception], ...] = RayActorError, ObjectLostError
        self.records = [WorkerRecord() for _ in range(num_workers)]
        self.workers: list[Any] = []
        self._group: Any = None
        self._num_workers, self._start_timeout = num_workers, start_timeout

    def share(self, address: str | None, wanted: float | None) -> float:
        """Returns the number of CPUs that a worker gets.

        Args:
            address: As in `ClusterEnv`.
            wanted: The number that the user requests; None: an equal share if Ray is started here, otherwise 1.
        """
        if wanted is not None:
            return wanted
        return max(1, cpus.available() // self._num_workers) if session.starts_here(address) else 1

    def connect(self, address: str | None, ray_init: dict[str, Any], share: float) -> float:
        """Connects to Ray, and returns the number of CPUs that a worker reserves there.

        Raises:
            TimeoutError: Nothing answers at the address.
        """
        # a Ray that we started has no other users: its CPUs are assigned already, and workers may be more than CPUs
        return TOKEN if session.enter(address, ray_init, self._start_timeout) else share

    def place(self, share: float, placement: str) -> None:
        """Creates the actors, each where `share` CPUs are free.

        Raises:
            TimeoutError: The cluster has no room for them.
        """
        from ray.util.placement_group import placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        self._group = placement_group([{"CPU": share}] * self._num_workers, placement)
        if not self._group.wait(self._start_timeout):
            raise TimeoutError(
                f"num_workers: expected a cluster with {share:g} free CPUs for each of {self._num_workers} workers "
                f"(placement {placement}), but only {self.ray.available_resources().get('CPU', 0):g} of its "
                f"{self.ray.cluster_resources().get('CPU', 0):g} CPUs are free after {self._start_timeout:g} s")
        # a worker's settings come with its first call: arguments of the constructor can be lost before a restart
        actor = self.ray.remote(num_cpus=share, max_restarts=-1)(Worker)
        for w in range(self._num_workers):
            place = PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=w)
            self.workers.append(actor.options(scheduling_strategy=place).remote())

    def find_nodes(self) -> None:
        """Records which node each worker is on."""
        nodes = self.ray.util.placement_group_table(self._group)["bundles_to_node_id"]
        for w, record in enumerate(self.records):
            record.node = nodes[w]

    def kill(self, w: int) -> None:
        """Ends a worker's process; Ray starts another one."""
        self.ray.kill(self.workers[w], no_restart=False)

    def close(self) -> None:
        """Ends the workers, and Ray if it was started for them."""
        try:
            # Ray's own end, at exit, was ours too
            if self.ray.is_initialized():
                for worker in self.workers:
                    self.ray.kill(worker)
                # it ends with the connection, and a head that does not answer is asked for a minute
                if self._group is not None and not session.ends_with_one_less():
                    self.ray.util.remove_placement_group(self._group)
        finally:
            self.workers, self._group = [], None
            session.leave()
