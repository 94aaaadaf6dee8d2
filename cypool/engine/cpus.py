"""Which CPUs there are for threads, and how many threads may keep busy."""
import math
import os
from collections.abc import Iterable
from pathlib import Path

from cypool.arguments import check_int


def available():
    """Returns the number of CPUs this process may use: its affinity, or its cgroup's quota if less."""
    cpus = len(os.sched_getaffinity(0))
    quota = _quota()
    return cpus if quota is None else max(1, min(cpus, math.ceil(quota)))


def affinity(wish, num_threads):
    """Returns for each thread the set of CPUs it may run on, or None for no preference.

    Args:
        wish: None; a sequence of CPU numbers, dealt out in turn, one to a thread; or "numa": threads are spread evenly
            over the memory nodes, and each may run on any CPU of its node. With one node that is None.
        num_threads: How many threads there are.

    Raises:
        TypeError: It is something else.
        ValueError: A CPU is none of this process's, or there is none.
    """
    if wish is None:
        return None
    own = os.sched_getaffinity(0)
    if isinstance(wish, str):
        if wish != "numa":
            raise ValueError(f"thread_affinity: expected 'numa' or a sequence of CPU numbers, got {wish!r}")
        nodes = [node & own for node in numa_nodes() if node & own]
        return [nodes[k * len(nodes) // num_threads] for k in range(num_threads)] if len(nodes) > 1 else None
    if not isinstance(wish, Iterable):
        raise TypeError(f"thread_affinity: expected 'numa' or a sequence of CPU numbers, got {wish!r}")
    wanted = [check_int("thread_affinity", cpu, 0, 2**16) for cpu in wish]
    if not wanted or not own.issuperset(wanted):
        raise ValueError(f"thread_affinity: expected some of this process's CPUs {sorted(own)}, got {wanted}")
    return [{wanted[k % len(wanted)]} for k in range(num_threads)]


def numa_nodes(folder=Path("/sys/devices/system/node")):
    """Returns the set of CPUs of each memory node; a machine that does not tell has none."""
    nodes = []
    for path in sorted(folder.glob("node[0-9]*/cpulist"), key=lambda path: int(path.parent.name[4:])):
        cpus = set()
        for part in path.read_text().strip().split(","):
            # a node may have memory and no CPU
            if part:
                first, _, last = part.partition("-")
                cpus.update(range(int(first), int(last or first) + 1))
        nodes.append(cpus)
    return nodes


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
