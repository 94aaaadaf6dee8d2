"""Adds up the CPU time of a build's processes, and the time that the cache saved: a table by package."""

import contextlib
import threading
from collections import defaultdict
from pathlib import Path

_current = threading.local()


class Cost:
    """The cost of one job: CPU seconds by tool, and how many files were made and how many the cache had."""

    def __init__(self):
        self.seconds = defaultdict(float)
        self.made = self.cached = 0


@contextlib.contextmanager
def measure():
    """Yields the cost of the processes that this thread runs meanwhile."""
    _current.cost = cost = Cost()
    try:
        yield cost
    finally:
        _current.cost = None


def spend(tool, seconds):
    """Adds CPU time to the thread's job, if one is measured."""
    cost = getattr(_current, "cost", None)
    if cost is not None:
        cost.seconds[tool] += seconds


def count(made):
    """Counts a file that was made, or that the cache had."""
    cost = getattr(_current, "cost", None)
    if cost is not None:
        cost.made += made
        cost.cached += not made


def table(jobs, sizes):
    """Returns the table.

    Args:
        jobs: pairs (name of a module, or of a library in parentheses; its `Cost`).
        sizes: name of a module -> bytes of its file.
    """
    rows = defaultdict(lambda: [0.0, 0.0, 0.0, 0, 0, 0])
    for name, cost in jobs:
        row = rows[_group(name)]
        for k, tool in enumerate(("cython", "compile", "link")):
            row[k] += cost.seconds[tool]
        row[3] += cost.made
        row[4] += cost.cached
    for name, size in sizes.items():
        rows[_group(name)][5] += size
    lines = ["CPU seconds          Cython  compiler    linker      made    cached     KB"]
    total = [sum(column) for column in zip(*rows.values(), strict=True)]
    for name, row in [*sorted(rows.items(), key=lambda item: -sum(item[1][:3])), ("all", total)]:
        lines.append(f"{name:20} {row[0]:6.1f} {row[1]:9.1f} {row[2]:9.1f} {row[3]:9} {row[4]:9} {row[5] / 1000:6.0f}")
    return "\n".join(lines) + "\n"


def write(text):
    """Prints a table, which pip shows with -v, and keeps it in build/report.txt."""
    print(text, flush=True)
    with contextlib.suppress(OSError):
        Path("build", "report.txt").write_text(text)


def _group(name):
    """Returns the package that a module is counted with: a family, a folder of shared code, or one of cypool."""
    words = name.split(".")
    if words[1:3] == ["envs", "shared"]:
        return ".".join(words[2:4])
    return words[2] if words[1:2] == ["envs"] and len(words) > 2 else ".".join(words[1:2]) or name
