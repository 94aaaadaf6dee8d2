"""Calls to workers, and the stream of their answers in order of arrival; workers that died are restarted."""
from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cypool.cluster.restarts import Starter
from cypool.cluster.statistics import Statistics, nbytes
from cypool.cluster.topology import Topology
from cypool.cluster.weights import WeightSync
from cypool.cluster.worker import Lost, Scale

# a worker that dies so often in the same call will not get through it
ATTEMPTS = 3


class WorkerCall(NamedTuple):
    """A pending call to a worker."""

    ref: Any            # Ray's, to the answer
    worker: int
    number: int         # in the order of calls
    kl: float           # the divergence that the learner computed, or NaN


# called with a worker and None, or with the state from which a restarted worker continues
Submit = Callable[[int, Lost | None], WorkerCall]


class Streams:
    """Calls workers and yields their answers.

    Args:
        topology: The workers.
        starter: Restarts workers that died.
        weights: The weights for workers that use their policies.
        statistics: Counts calls and bytes.
        scale: Returns the statistics that normalize the observations of policies.
    """

    def __init__(self, topology: Topology, starter: Starter, weights: WeightSync, statistics: Statistics,
                 scale: Callable[[], Scale]):
        self._topology, self._starter, self._weights, self._statistics = topology, starter, weights, statistics
        self._scale = scale
        self._number = 0    # of the last call

    def call(self, w: int, method: str, *args: Any, kl: float = math.nan) -> WorkerCall:
        """Calls a method of a worker."""
        record = self._topology.records[w]
        record.unanswered += 1
        return self._numbered(getattr(self._topology.workers[w], method).remote(record.incarnation, *args), w, kl)

    def call_policy(self, w: int, method: str, argument: Any, lost: Lost | None) -> WorkerCall:
        """Calls a worker to use its policy, with newer weights if they are due."""
        version, weights, kl = self._weights.next_for(self._topology.records[w])
        return self.call(w, method, argument, version, weights, lost, self._scale(), kl=kl)

    def answers(self, submit: Submit, timeout: float, in_flight: int = 1,
                endless: bool = False) -> Iterator[tuple[int, Any]]:
        """Makes all workers do the same, and yields (worker, answer) in order of arrival.

        Args:
            submit: Called with a worker and None, or the state to continue from after a restart; returns the call.
            timeout: Seconds for one call of a worker; then it is killed and restarted.
            in_flight: Number of concurrent calls per worker.
            endless: Whether, when the next answer is asked for, another call takes the place of the last one.

        Raises:
            RuntimeError: A worker's environment or policy failed, or the worker died repeatedly.
            TimeoutError: A worker took too long repeatedly, or could not be restarted.
        """
        ray, topology, start_timeout = self._topology.ray, self._topology, self._starter.start_timeout
        records = topology.records
        queues: list[deque[WorkerCall]] = [deque() for _ in records]
        # when the oldest call of each has to be answered: a worker finishes abandoned calls first
        now = time.monotonic()
        due = [now + timeout * (1 + record.unanswered) for record in records]
        for _ in range(in_flight):
            for w, queue in enumerate(queues):
                queue.append(submit(w, None))
        # of those that are started again: how many calls are to be made once more
        restarting: dict[int, int] = {}
        failed: Counter[int] = Counter()

        def begin_again(w: int, is_late: bool) -> None:
            failed[w] += 1
            if failed[w] > ATTEMPTS and is_late:
                raise TimeoutError(f"worker {w} died or did not answer within {timeout:g} s, {failed[w]} times in the "
                                   "same call: does its environment or policy hang, or is timeout too short?")
            if failed[w] > ATTEMPTS:
                raise RuntimeError(f"worker {w} died {failed[w]} times in the same call: its environment or "
                                   "policy may be ending the process, or its node may be running out of memory")
            # its later calls were for the one that died as well
            restarting[w] = len(queues[w])
            queues[w].clear()
            queues[w].append(self._numbered(self._starter.start(w), w, math.nan))
            due[w] = time.monotonic() + start_timeout

        while any(queues):
            # the oldest first, so that no worker is passed over
            heads = {call.ref: call for call in sorted((q[0] for q in queues if q), key=lambda call: call.number)}
            late = min((call.worker for call in heads.values()), key=due.__getitem__)
            if time.monotonic() < due[late]:
                ready, _ = ray.wait(list(heads), num_returns=1, timeout=_seconds(due[late] - time.monotonic()))
                if not ready:
                    continue
            else:
                # others may be so fast that one of them is always ready; and an answer may still be on another node
                ready, _ = ray.wait([queues[late][0].ref], timeout=0, fetch_local=False)
                if not ready:
                    # for good: a process that is stopped takes notice of nothing else
                    topology.kill(late)
                    if late in restarting:
                        raise TimeoutError(f"worker {late} did not restart within "
                                           f"{start_timeout:g} s")
                    records[late].timeouts += 1
                    begin_again(late, is_late=True)
                    continue
            call = heads[ready[0]]
            w, queue = call.worker, queues[call.worker]
            if w in restarting:
                queue.popleft()
                lost = self._starter.restarted(w, call.ref)
                try:
                    for _ in range(restarting.pop(w)):
                        queue.append(submit(w, lost))
                        lost = None
                finally:
                    if lost is not None:
                        # it does not know where to continue: the next call starts it once more
                        records[w].incarnation = None
                due[w] = time.monotonic() + timeout
                continue
            records[w].unanswered = len(queue) - 1
            answer = self._answer(call, timeout)
            if answer is None:
                begin_again(w, is_late=False)
                continue
            queue.popleft()
            failed[w] = 0
            due[w] = time.monotonic() + timeout
            # only the caller that takes it holds memory of the object store
            given = [(w, answer)]
            del heads, ready, call, answer
            yield given.pop()
            if endless:
                if not queue:
                    due[w] = time.monotonic() + timeout
                queue.append(submit(w, None))

    def _numbered(self, ref: Any, w: int, kl: float) -> WorkerCall:
        self._number += 1
        return WorkerCall(ref, w, self._number, kl)

    def _answer(self, call: WorkerCall, timeout: float) -> dict[str, Any] | None:
        """Returns the answer of a worker; None if it died or was restarted."""
        ray = self._topology.ray
        try:
            answer: dict[str, Any] | None = ray.get(call.ref, timeout=_seconds(timeout))
        except (*self._topology.lost_errors, ray.exceptions.GetTimeoutError):
            return None
        except ray.exceptions.RayTaskError as error:
            raise RuntimeError(f"worker {call.worker}: {error.cause!r}") from error
        if answer is None:
            return None
        self._statistics.counts["bytes_received"] += nbytes(answer)
        if math.isnan(answer.get("kl", 0.0)):
            answer["kl"] = call.kl
        return answer


def _seconds(limit: float) -> float | None:
    """Converts seconds for Ray."""
    return None if limit == math.inf else max(0.0, limit)
