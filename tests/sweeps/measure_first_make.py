"""Measures how long the first `cypool.make` of each family takes, and what of it is for importing packages.

    python tests/sweeps/measure_first_make.py

Each figure is the median of several new processes that do nothing else. The import of the package that a family needs
is measured alone; the second `make` of the same id shows what is kept.
"""
import argparse
import statistics
import subprocess
import sys

from cases import CASES

IDS = {id: package for cases in CASES.values() for id, package in cases.first_make.items()}
PROGRAM = """
import time
import cypool
began = time.perf_counter()
{before}
imported = time.perf_counter()
cypool.make({id!r})
first = time.perf_counter()
cypool.make({id!r})
print(imported - began, first - imported, time.perf_counter() - first)
"""


def times(id, package):
    """Returns milliseconds: of the import, the first make, and the second."""
    program = PROGRAM.format(id=id, before=f"import {package}" if package else "")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [1000 * float(word) for word in done.stdout.split()[-3:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", default=list(IDS))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    print("| id | first `make` | import alone | of | second `make` |\n| --- | --: | --: | --- | --: |")
    for id in arguments.ids:
        found = [(times(id, ""), times(id, IDS.get(id, ""))) for _ in range(arguments.rounds)]
        first = statistics.median(alone[1] for alone, _ in found)
        package = statistics.median(after[0] for _, after in found)
        second = statistics.median(alone[2] for alone, _ in found)
        imported = f"{package:.0f} ms" if IDS.get(id) else "-"
        print(f"| `{id}` | {first:.0f} ms | {imported} | {IDS.get(id, '')} | {second:.1f} ms |", flush=True)


if __name__ == "__main__":
    main()
