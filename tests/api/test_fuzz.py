"""A few seconds of the fuzz; `fuzz/fuzz_api.py` is all of it."""
import subprocess
import sys
from pathlib import Path

import pytest
from weights import exhaustive, slow

TOOL = Path(__file__).parents[2] / "fuzz" / "fuzz_api.py"


@pytest.mark.parametrize("first, cases", [
    (100_000, 8), *slow((100_008, 12), (200_000, 20)), *exhaustive((300_000, 20))])
def test_some_cases(tmp_path, first, cases):
    # a process of its own: the tool forks, and must not do so where there are threads
    done = subprocess.run([sys.executable, TOOL, "--first", str(first), "--cases", str(cases)],
                          capture_output=True, text=True, timeout=900, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
