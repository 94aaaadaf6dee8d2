"""Strategies for when workers take newer weights.

`due(lag, drift)` is called once for each call of a worker, while there are newer weights than the worker's. `lag`
is the number of versions that the worker is behind; `drift()` computes the mean KL divergence of the newest policy from
the worker's, KL(worker's || newest), both on the same observations, or None if there are none yet. `where` determines
the caller: the learner, which asks before it calls the worker and only sends weights that are taken; or the worker. To
compute the drift, a learner must keep observations; `sample` is their number, for strategies that need the drift.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from cypool.util.arguments import check_choice, check_float, check_int

# computes how far the policy has drifted; None if that is not known
Drift = Callable[[], float | None]


class Sync(Protocol):
    """A strategy for when a worker takes newer weights."""

    @property
    def where(self) -> str: ...

    def due(self, lag: int, drift: Drift) -> bool:
        """Returns whether a worker takes the newest weights now.

        Args:
            lag: The number of versions that the worker is behind, at least 1.
            drift: Computes the mean KL divergence of the newest policy from the worker's; None if unknown.
        """
        ...


class Always:
    """Each worker takes each version, unless a newer one has superseded it."""

    where = "learner"

    def due(self, lag: int, drift: Drift) -> bool:
        """Returns True."""
        return True


class Every:
    """A worker takes the newest version when it is `k` versions behind.

    Args:
        k: At least 1; 1 is the same as `Always`.
    """

    where = "learner"

    def __init__(self, k: int):
        self.k = check_int("k", k, 1, 2**31 - 1)

    def due(self, lag: int, drift: Drift) -> bool:
        """Returns whether the worker is `k` versions behind."""
        return lag >= self.k


class Never:
    """Workers keep their initial policy."""

    where = "learner"

    def due(self, lag: int, drift: Drift) -> bool:
        """Returns False."""
        return False


class APS:
    """Adaptive policy synchronization: a worker takes the newest version once the policy has drifted.

    The measure is the mean over environments of KL(worker's policy || newest policy) on the worker's observations; the
    learner compares with the worker's policy output at that time.

    Args:
        kl_threshold: Weights are due at this divergence or above. 0 is the same as `Always`, infinity as `Never`.
            Weights that make the divergence NaN are also due, and, for the learner, those whose drift is unknown
            because the worker has not used its policy yet.
        where: "learner": it evaluates the newest policy on `sample` observations of the worker's last rollout, and
            sends weights only when they are due. "worker": each version goes once to each node that has workers; a
            worker evaluates both policies on the observations of its environments, and discards or takes the new one.
        max_lag: Weights are also due when a worker is this number of versions behind.
        sample: The number of observations that the learner keeps for each worker; at least those of one step of all
            environments.

    Raises:
        TypeError, ValueError: A value has the wrong type or is out of range.
    """

    def __init__(self, kl_threshold: float, where: str = "learner", max_lag: int | None = None,
                 sample: int = 256):
        self.kl_threshold = check_float("kl_threshold", kl_threshold, 0, math.inf)
        self.where = check_choice("where", where, ("learner", "worker"))
        self.max_lag = None if max_lag is None else check_int("max_lag", max_lag, 1, 2**31 - 1)
        self.sample = check_int("sample", sample, 1, 2**31 - 1)

    def due(self, lag: int, drift: Drift) -> bool:
        """Returns whether the drift has reached the threshold, or the lag `max_lag`."""
        if self.max_lag is not None and lag >= self.max_lag:
            return True
        if self.kl_threshold == math.inf:
            return False
        kl = drift()
        # NaN is not below either
        return kl is None or not kl < self.kl_threshold
