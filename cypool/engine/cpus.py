"""The CPUs available to threads, and the number of threads that can be busy."""
from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from cypool.util.arguments import check_int, check_list, shown


def available() -> int:
    """Returns the number of CPUs this process may use: its affinity, or its control groups' quota if less."""
    cpus = len(os.sched_getaffinity(0))
    quota = quota_of_groups()
    return cpus if quota is None else max(1, min(cpus, math.ceil(quota)))


def affinity(requested: Any, num_threads: int) -> list[set[int]] | None:
    """Returns for each thread the set of CPUs it may run on, or None for no preference.

    Args:
        requested: None; a sequence of CPU numbers, given to the threads in turn; or "numa": threads are spread evenly
            over the memory nodes, and each may run on any CPU of its node. With one node that is None.
        num_threads: Number of threads.

    Raises:
        TypeError: `requested` has another type.
        ValueError: A CPU does not belong to this process, or the sequence is empty.
    """
    if requested is None:
        return None
    own = os.sched_getaffinity(0)
    if isinstance(requested, str):
        if requested != "numa":
            raise ValueError(f"thread_affinity: expected 'numa' or a sequence of CPU numbers, got {shown(requested)}")
        nodes = [node & own for node in numa_nodes() if node & own]
        return [nodes[k * len(nodes) // num_threads] for k in range(num_threads)] if len(nodes) > 1 else None
    requested = check_list("thread_affinity", requested, "'numa' or a sequence of CPU numbers")
    wanted = [check_int("thread_affinity", cpu, 0, 2**16) for cpu in requested]
    if not wanted or not own.issuperset(wanted):
        raise ValueError(f"thread_affinity: expected a subset of this process's CPUs {sorted(own)}, got {wanted}")
    return [{wanted[k % len(wanted)]} for k in range(num_threads)]


def numa_nodes(folder: Path = Path("/sys/devices/system/node")) -> list[set[int]]:
    """Returns the set of CPUs of each memory node; empty if the machine does not report them."""
    nodes = []
    for path in sorted(folder.glob("node[0-9]*/cpulist"), key=lambda path: int(path.parent.name[4:])):
        cpus: set[int] = set()
        for part in path.read_text().strip().split(","):
            # a node may have memory and no CPU
            if part:
                first, _, last = part.partition("-")
                cpus.update(range(int(first), int(last or first) + 1))
        nodes.append(cpus)
    return nodes


def quota_of_groups(proc: Path = Path("/proc/self")) -> float | None:
    """Returns how many CPUs the quotas of this process's control groups allow, or None for no limit.

    A quota applies to all groups below it, so the smallest one of the process's own group and those above counts.
    """
    quotas: list[float] = []
    for folder, mount in _cgroups(proc):
        # a group's limit may be anywhere up to the mount point; groups above that cannot be seen
        for group in (folder, *folder.parents):
            quotas += filter(None, (_quota_v2(group), _quota_v1(group)))
            if group == mount:
                break
    return min(quotas, default=None)


def _cgroups(proc: Path) -> Iterator[tuple[Path, Path]]:
    """Yields (folder of the process's group, mount point) for each hierarchy with the CPU controller."""
    try:
        groups = {}
        for line in (proc / "cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            # version 2 names no controllers
            for controller in controllers.split(",") if controllers else ["version 2"]:
                groups[controller] = PurePosixPath(group)
        for line in (proc / "mountinfo").read_text().splitlines():
            # the root of the mount, its place, and behind a dash the type and its options
            place, _, kind = line.partition(" - ")
            kind, _, options = kind.split(" ", 2)
            if kind == "cgroup2":
                path = groups.get("version 2")
            elif kind == "cgroup" and "cpu" in options.split(","):
                path = groups.get("cpu")
            else:
                continue
            root, mount = (_unescape(word) for word in place.split(" ")[3:5])
            # a container may see a part of the hierarchy, and the process be elsewhere
            below = path.relative_to(root) if path is not None and path.is_relative_to(root) else PurePosixPath("..")
            yield Path(mount, "" if ".." in below.parts else below), Path(mount)
    except (OSError, ValueError):
        # without /proc, or with another form of it, nothing is known
        return


def _quota_v2(group: Path) -> float | None:
    try:
        limit, period = (group / "cpu.max").read_text().split()
        return None if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _quota_v1(group: Path) -> float | None:
    try:
        limit = int((group / "cpu.cfs_quota_us").read_text())
        return None if limit <= 0 else limit / int((group / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _unescape(word: str) -> str:
    """Decodes a path of mountinfo, where spaces and the like are octal."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), word)
