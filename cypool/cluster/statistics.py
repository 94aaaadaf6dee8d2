"""Statistics of a cluster, for `ClusterEnv.stats`."""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from cypool.cluster.topology import WorkerRecord

# of the histogram of divergences: three to a factor of ten
KL_EDGES = np.array([0, *np.logspace(-6, 1, 22), np.inf])


class Statistics:
    """Counts of calls, steps and bytes, and histograms of lags and divergences.

    Attributes:
        counts: By the names of `ClusterEnv.stats`.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._lags: Counter[int] = Counter()
        self._kls = np.zeros(len(KL_EDGES) - 1, np.int64)

    def record_policy(self, record: WorkerRecord, version: int, newest: int, kl: float) -> None:
        """Counts a call in which a worker used its policy.

        Args:
            record: The worker's; its version is updated.
            version: The version of the weights that it used.
            newest: The newest version.
            kl: The divergence that was found; NaN if there was no comparison.
        """
        self.counts["calls"] += 1
        self.counts["syncs"] += version != record.used
        record.used = version
        self._lags[newest - version] += 1
        if not math.isnan(kl):
            # the last one has infinity too
            self._kls[np.clip(np.searchsorted(KL_EDGES, kl, "right") - 1, 0, len(self._kls) - 1)] += 1

    def as_dict(self, newest: int, records: Sequence[WorkerRecord]) -> dict[str, Any]:
        """Returns the result of `ClusterEnv.stats`."""
        counts = {name: self.counts[name] for name in ("calls", "steps", "syncs", "bytes_published", "bytes_pulled",
                                                       "bytes_received")}
        return {"version": newest, "worker_versions": [record.used for record in records], **counts,
                "kl": {"edges": KL_EDGES.copy(), "counts": self._kls.copy()}, "lag": dict(sorted(self._lags.items())),
                "restarts": [record.restarts for record in records],
                "timeouts": [record.timeouts for record in records], "pids": [record.pid for record in records]}


def nbytes(value: Any) -> int:
    """Returns the bytes of all arrays in dicts, lists and tuples."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return int(getattr(value, "nbytes", 0))
    return sum(map(nbytes, value))
