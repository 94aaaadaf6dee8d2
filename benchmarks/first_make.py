"""Measures how long the first `cypool.make` of each family takes, and how much of that is importing packages.

    python benchmarks/first_make.py
    python benchmarks/first_make.py dm_control/walker-walk-v0 --num-envs 64 --num-threads 2

Each figure is the median over several new processes that do nothing else, in milliseconds of wall time. Importing the
package that a family needs is measured separately; the second `make` of the same id shows the effect of caches. The
last columns are for a process that has already imported cypool, Gymnasium and the family.
"""
import json
import statistics
import subprocess
import sys

from measuring import CASES, heading, parser, row

from cypool.registration.registry import entry_of

IDS = {id: package for cases in CASES.values() for id, package in cases.first_make.items()}
PROGRAM = """
import json, sys, time
times = [time.perf_counter()]
import cypool
id, options, before = json.loads(sys.argv[1])
for each in before:
    __import__(each)
times.append(time.perf_counter())
for _ in range(2):
    cypool.make(id, **options)
    times.append(time.perf_counter())
print([1000 * (b - a) for a, b in zip(times, times[1:])])
"""


def times(id, options, *before):
    """Returns the milliseconds of the imports, the first `make` and the second."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps([id, options, before])], capture_output=True,
                          text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    arguments = parser(__doc__, num_envs=1, num_threads=None).parse_args()
    options = {"num_envs": arguments.num_envs, "num_threads": arguments.num_threads}
    heading("id", "first `make`", "import alone", "of", "second `make`", "all imports", "first `make` after them")
    for id in arguments.patterns or IDS:
        package, module = IDS.get(id, ""), entry_of(id).entry_point.partition(":")[0]
        found = [(times(id, options), times(id, options, *filter(None, [package])),
                  times(id, options, "cypool.api.gymnasium", module)) for _ in range(arguments.rounds)]
        bare, first, second, alone, imports, after = (
            statistics.median(each[k][j] for each in found)
            for k, j in ((0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1)))
        row(f"`{id}`", f"{first:.0f} ms", f"{alone - bare:.0f} ms" if package else "-", package, f"{second:.1f} ms",
            f"{imports:.0f} ms", f"{after:.0f} ms")


if __name__ == "__main__":
    main()
