"""Compares a family at length with the package that it matches: see `python fuzz/sweep_family.py NAME --help`.

    python fuzz/sweep_family.py mpe2
    python fuzz/sweep_family.py robotics "Fetch*" --seeds 8 9 --out robotics.jsonl

The runs are declared in tests/envs/NAME/sweep.py; without that file, all ids are stepped next to their references. Each
run is a process. Exits with 1 if a run differs.
"""
import sys

from sweeping import CASES, sweep_family

if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in CASES:
        sys.exit(sweep_family(sys.argv[1], sys.argv[2:]))
    sys.exit(f"{__doc__}\nexpected one of {', '.join(CASES)}")
