"""How many threads this process may keep busy."""
import math
import os
from pathlib import Path


def available():
    """Returns the number of CPUs this process may use: its affinity, or its cgroup's quota if less."""
    cpus = len(os.sched_getaffinity(0))
    quota = _quota()
    return cpus if quota is None else max(1, min(cpus, math.ceil(quota)))


def _quota():
    # version 2, then version 1; without a limit the file says so or is not there
    try:
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return None if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError):
        pass
    try:
        root = Path("/sys/fs/cgroup/cpu")
        limit = int((root / "cpu.cfs_quota_us").read_text())
        return None if limit <= 0 else limit / int((root / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError, ZeroDivisionError):
        return None
