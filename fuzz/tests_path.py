"""Puts `tests/` on the path of a script: families' cases, sweeps and soaks, and helpers that tests use, too."""
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.append(str(TESTS))
