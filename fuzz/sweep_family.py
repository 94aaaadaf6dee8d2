"""Compares a family with the package that it equals, for long: `python fuzz/sweep_family.py NAME --help` says how.

    python fuzz/sweep_family.py mpe2
    python fuzz/sweep_family.py robotics "Fetch*" --seeds 8 9 --out robotics.jsonl

The runs are declared in tests/envs/NAME/sweep.py; without one, all ids are stepped next to their references. Each is a
process. Ends with 1 if one of them differs.
"""
import sys

from sweeping import CASES, sweep_family

if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in CASES:
        sys.exit(sweep_family(sys.argv[1], sys.argv[2:]))
    sys.exit(f"{__doc__}\nexpected one of {', '.join(CASES)}")
