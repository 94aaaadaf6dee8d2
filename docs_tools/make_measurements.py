"""Makes docs/reference/measurements.md from the results of benchmarks/families.py.

    python docs_tools/make_measurements.py [docs_tools/measurements.json]
"""
from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "measurements.md"
# the heading of a column, and its candidates: an asynchronous one is compared with cypool's asynchronous pool
PEERS = {
    "Python loop": ("Python for-loop",),
    "SyncVector": ("Gymnasium SyncVectorEnv",),
    "AsyncVector": ("Gymnasium AsyncVectorEnv",),
    "NumPy": ("Gymnasium's NumPy env",),
    "ALE": ("ALE AtariVectorEnv sync", "ALE AtariVectorEnv async"),
    "rollout": ("mujoco.rollout",),
    "EnvPool": ("EnvPool sync", "EnvPool async"),
}

TEXT = """# Measurements

This page compares all families with all peers; those of a row took turns. The first command measured them, and the
second one made this page of the result. [Performance](../explanation/performance.md) explains the figures and has more
of them.

```
{command}
python docs_tools/make_measurements.py
```

- The columns "sync" and "async" have frames per second of cypool; a step of Atari or Doom has four frames. The
  asynchronous pools return half of their environments at a time.
- The other columns say how many times as fast as another library cypool is: synchronous / asynchronous where the
  library has both, else cypool's synchronous pool. Python loops and AsyncVectorEnv had at most four environments for
  each thread, as more do not make them faster.
- Values are medians. `-`: the library does not have this environment. "rollout" is `mujoco.rollout`, which makes no
  observations and no rewards.

{table}

{failures}{machine}
"""


def shown(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def page(report: dict[str, Any]) -> str:
    """Returns the page of a report."""
    lines = ["| " + " | ".join(["id", "envs", "threads", "sync", "async", *PEERS]) + " |",
             "| --- |" + " --: |" * (4 + len(PEERS))]
    failures: list[str] = []
    for row in report["rows"]:
        speeds = {result["candidate"]: result["frames_per_second"][1] for result in row["results"]}
        cells = [f"`{row['env']}`", f"{row['num_envs']:,}", str(row["threads"])]
        cells += [f"{speeds[name]:,.0f}" if name in speeds else "-" for name in ("cypool sync", "cypool async")]
        for names in PEERS.values():
            cells.append(" / ".join(
                "failed" if name in row["failed"] else
                shown(speeds["cypool async" if name.endswith(" async") else "cypool sync"] / speeds[name])
                for name in names if name in speeds or name in row["failed"]) or "-")
        lines.append("| " + " | ".join(cells) + " |")
        failures += [f"- {name} in `{row['env']}`, {row['threads']} threads: {reason}"
                     for name, reason in row["failed"].items()]
    if failures:
        failures = ["These could not be measured:", "", *failures, "", ""]
    machine = report["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    where = f"{machine['cpu']}, {machine['cpus_usable']} of {machine['cpus']} CPUs; {versions}."
    return TEXT.format(command=report["command"], table="\n".join(lines), failures="\n".join(failures),
                       machine=textwrap.fill(where, 120))


def main() -> None:
    file = sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs_tools" / "measurements.json"
    PAGE.write_text(page(json.loads(Path(file).read_text())))


if __name__ == "__main__":
    main()
