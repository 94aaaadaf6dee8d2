"""The annotations as users see them. `mypy` checks the package itself."""
import re
import sys
from pathlib import Path

import pytest
from waiting import run_program

ROOT = Path(__file__).resolve().parents[2]
USER = Path(__file__).with_name("typed_user.py")
# the package of a name is not compared
PREFIX = re.compile(r"\b(builtins|numpy|typing)\.")


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Runs mypy, strictly; it keeps its results for the package for the next run."""
    cache = tmp_path_factory.mktemp("mypy")

    def run(*arguments):
        return run_program(sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, "--no-error-summary",
                           *arguments, cwd=ROOT, timeout=600)

    return run


@pytest.mark.slow
def test_types_that_users_see(mypy):
    said = {}
    for line, kind, text in re.findall(r"typed_user\.py:(\d+): (note|error): (.*)", mypy(USER).stdout):
        revealed = re.fullmatch(r'Revealed type is "(.*)"', text)
        if revealed:
            said[int(line)] = PREFIX.sub("", revealed[1]).replace("?", "")
        elif kind == "error":
            said[int(line)] = "error: " + re.search(r"\[([\w-]+)\]$", text)[1]
    wanted = {}
    for number, line in enumerate(USER.read_text().splitlines(), 1):
        if "reveal_type(" in line or "# error: " in line:
            wanted[number] = line.partition("  # ")[2]
    assert said == wanted
