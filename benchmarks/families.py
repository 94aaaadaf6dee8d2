"""Compares all families with all installed peers; docs/reference/measurements.md is made from the results.

    pip install ".[all,bench]" envpool==1.2.5
    python benchmarks/families.py --json docs_tools/measurements.json
    python docs_tools/make_measurements.py

Each row is an environment, a number of environments and a number of threads. Its synchronous and asynchronous
candidates take turns, as in `cypool bench`. An idle machine needs about ten minutes.
"""
import argparse
import json
import sys
from pathlib import Path

from measuring import CASES

from cypool.tools import benchmark

ROWS = [row for cases in CASES.values() for row in cases.measured]


def measure(args):
    """Returns the candidates, their samples, and the errors of peers that failed and are left out."""
    candidates, _ = benchmark.choose(args)
    failed = {}
    while True:
        try:
            return candidates, benchmark.measure(candidates, args), failed
        except benchmark.Failure as failure:
            name, _, reason = str(failure).partition(": ")
            peers = [candidate.name for candidate in candidates if candidate.peer]
            if name not in peers:
                raise
            failed[name] = reason.removesuffix(" (--verbose shows more; --peers can skip it)")
            print(f"{args.env}, {args.threads} threads: {name} failed: {failed[name]}", flush=True)
            candidates = [candidate for candidate in candidates if candidate.name != name]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", required=True, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a sample")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", metavar="ID", help="measure only these environments")
    settings = parser.parse_args()
    rows = []
    for id, num_envs in ROWS:
        if settings.only and id not in settings.only:
            continue
        for threads in settings.threads:
            args = benchmark.of_env(argparse.Namespace(
                num_envs=num_envs, batch_size=max(1, num_envs // 2), threads=threads, seconds=settings.seconds,
                rounds=settings.rounds, peers="", given={}, verbose=False), id)
            candidates, samples, failed = measure(args)
            results = benchmark.summarize(candidates, samples, args)
            for result in results:
                del result["samples"], result["ratio_to"]
                result["frames_per_second"] = [round(value, 1) for value in result["frames_per_second"]]
                print(f"{id}, {num_envs}, {threads} threads: {result['candidate']}: "
                      f"{result['frames_per_second'][1]:,.0f}", flush=True)
            rows.append({"env": id, "num_envs": num_envs, "threads": threads, "results": results, "failed": failed})
    report = {**benchmark.describe(), "command": "python " + " ".join(sys.argv), "rows": rows}
    Path(settings.json).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
