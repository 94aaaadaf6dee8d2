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
    "AsyncVector": ("Gymnasium AsyncVectorEnv",),
    "NumPy": ("Gymnasium's NumPy env",),
    "ALE": ("ALE AtariVectorEnv sync", "ALE AtariVectorEnv async"),
    "rollout": ("mujoco.rollout",),
    "batch": ("mujoco.batch",),
    "EnvPool": ("EnvPool sync", "EnvPool async"),
}

TEXT = """# Measurements

<!-- search: speed -->

Each row compares cypool, on {threads} threads, with other libraries that provide the same environment. Runs were
interleaved. [The full results](../../docs_tools/measurements.json) also cover one thread and `SyncVectorEnv`.

```
{command}
python docs_tools/make_measurements.py
```

- The columns "sync" and "async" show cypool's frames per second; in Atari and Doom, one step is four frames.
  Asynchronous pools return half of their environments at a time.
- The other columns show cypool's speedup: synchronous / asynchronous if the library has both modes, otherwise
  synchronous. Python loops and AsyncVectorEnv ran at most four environments per thread.
- Values are medians. "rollout" and "batch" are `mujoco.rollout` and `mujoco.batch`, which compute no observations or
  rewards.

{table}

{failures}{machine}
"""


def shown(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def page(report: dict[str, Any]) -> str:
    """Returns the page of a report: the rows with the most threads."""
    lines = ["| " + " | ".join(["id", "envs", "sync", "async", *PEERS]) + " |",
             "| --- |" + " --: |" * (3 + len(PEERS))]
    failures: list[str] = []
    threads = max(row["threads"] for row in report["rows"])
    for row in (row for row in report["rows"] if row["threads"] == threads):
        speeds = {result["candidate"]: result["frames_per_second"][1] for result in row["results"]}
        cells = [f"`{row['env']}`", f"{row['num_envs']:,}"]
        cells += [f"{speeds[name]:,.0f}" if name in speeds else "-" for name in ("cypool sync", "cypool async")]
        for names in PEERS.values():
            cells.append(" / ".join(
                "failed" if name in row["failed"] else
                shown(speeds["cypool async" if name.endswith(" async") else "cypool sync"] / speeds[name])
                for name in names if name in speeds or name in row["failed"]) or "-")
        lines.append("| " + " | ".join(cells) + " |")
        # once for both modes of a library, with the first sentence of its error
        reasons = {name.removesuffix(" sync").removesuffix(" async"): reason.partition(". ")[0]
                   for name, reason in row["failed"].items()}
        failures += [f"- {name} in `{row['env']}`: {reason}." for name, reason in reasons.items()]
    if failures:
        failures = ["The following could not be measured:", "",
                    *(textwrap.fill(failure, 120, subsequent_indent="  ") for failure in failures), "", ""]
    machine = report["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    where = f"{machine['cpu']}, {machine['cpus_usable']} of {machine['cpus']} CPUs; {versions}."
    return TEXT.format(command=report["command"], threads=threads, table="\n".join(lines),
                       failures="\n".join(failures), machine=textwrap.fill(where, 120))


def main() -> None:
    file = sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs_tools" / "measurements.json"
    PAGE.write_text(page(json.loads(Path(file).read_text())))


if __name__ == "__main__":
    main()
