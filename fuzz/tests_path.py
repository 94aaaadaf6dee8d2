"""Puts `tests/` on a script's path, for families' cases, sweeps and soaks, and for helpers shared with tests."""
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.append(str(TESTS))
