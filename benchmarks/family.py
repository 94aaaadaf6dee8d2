"""Compares a family with other packages: `python benchmarks/family.py NAME --help` lists its tables.

    python benchmarks/family.py minigrid
    python benchmarks/family.py robotics "Fetch*" --table bare --rounds 3

The tables are declared in tests/envs/NAME/measure.py. Times per step are in microseconds, and ratios say how many times
as long the first candidate takes. EnvPool is left out if it is not installed.
"""
import sys

from measuring import ROOT, show_family

if __name__ == "__main__":
    names = sorted(path.parent.name for path in ROOT.glob("tests/envs/*/measure.py"))
    if sys.argv[1:2] and sys.argv[1] in names:
        show_family(sys.argv[1], sys.argv[2:])
    else:
        sys.exit(f"{__doc__}\nexpected one of {', '.join(names)}")
