"""A few seconds of the fuzzers; `fuzz/fuzz_api.py` and `fuzz_faults.py` are all of it."""
import sys
from pathlib import Path

import pytest
from markers import exhaustive, slow
from waiting import run_program

pytestmark = pytest.mark.families("atari", "mujoco")

TOOLS = Path(__file__).parents[2] / "fuzz"


def run(folder, tool, *arguments):
    # a separate process: the tools fork, and must not do so where there are threads
    run_program(sys.executable, TOOLS / tool, *arguments, check=True, timeout=900, cwd=folder)


@pytest.mark.parametrize("first, cases", [
    (100_000, 2), *slow((100_002, 8)), *exhaustive((200_000, 20), (300_000, 20), (400_000, 20))])
def test_some_cases(tmp_path, first, cases):
    run(tmp_path, "fuzz_api.py", "--first", str(first), "--cases", str(cases))


# layers that need other libraries are not among them
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["signals", "failures"])
def test_some_calls_that_are_broken_off(tmp_path, mode):
    run(tmp_path, "fuzz_faults.py", mode, "--cases", "300", "--layers", "Pools", "Hosted", "Normalized", "Added",
        "Frames")
