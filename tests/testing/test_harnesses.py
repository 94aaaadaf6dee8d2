"""The harnesses of sweeps and benchmarks, and the parts of families in them."""
import sys
from pathlib import Path

import pytest
from waiting import run_program

ROOT = Path(__file__).parents[2]
SWEEPS = sorted(path.parent.name for path in (ROOT / "tests" / "envs").glob("*/sweep.py"))
MEASURES = sorted(path.parent.name for path in (ROOT / "tests" / "envs").glob("*/measure.py"))


def run(folder, code, cwd):
    """Runs code that imports a harness, in a separate process: it forks."""
    return run_program(sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / folder)!r})\n{code}", cwd=cwd)


@pytest.mark.parametrize("family", SWEEPS)
def test_sweep_of_a_family_has_runs_with_names_of_their_own(family):
    import sweeping

    module = pytest.importorskip(f"envs.{family}.sweep", exc_type=ImportError)
    made = sweeping.parser(module.__doc__, **module.DEFAULTS)
    getattr(module, "add_arguments", lambda parser: None)(made)
    runs = list(module.runs(made.parse_args([])))
    assert runs and len({(each.group, each.name) for each in runs}) == len(runs)


@pytest.mark.slow
@pytest.mark.parametrize("family", MEASURES)
def test_measure_of_a_family_has_tables(family, tmp_path):
    done = run("benchmarks", f"from measuring import show_family\nshow_family({family!r}, ['--help'])", tmp_path)
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0 and "--table" in done.stdout, done.stderr


SWEEP = """
import os
from collections import Counter
from pathlib import Path
from sweeping import Run, sweep

def differs():
    raise AssertionError("reward at step 3")

def dies():
    os.kill(os.getpid(), 9)

def prints():
    os.write(1, b"x")
    return Counter(steps=1)

runs = [Run("a", "one", lambda: Counter(steps=5)), Run("b", "three", prints), Run("a", "two", {second}),
        Run("b", "four", {fourth})]
sys.exit(sweep(runs, 3, Path("out.jsonl")))
"""


def test_sweep_counts_differences_and_deaths_and_continues(tmp_path):
    done = run("fuzz", SWEEP.format(second="differs", fourth="dies"), tmp_path)
    lines = done.stdout.splitlines()
    assert done.returncode == 1, done.stderr
    assert "differs: a, two: AssertionError: reward at step 3" in lines
    assert "differs: b, four: its process ended with -9" in lines
    assert "a: 2 runs, 1 differ, 5 steps" in lines and lines[-1].endswith("; 2 runs differ")
    # those that were equal are not done again
    again = run("fuzz", SWEEP.format(second="lambda: Counter(steps=7)", fourth="lambda: Counter()"), tmp_path)
    assert again.returncode == 0 and "a: 2 runs, 12 steps" in again.stdout.splitlines()
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 6


def test_sweep_that_has_to_be_quiet_differs_if_something_is_printed(tmp_path):
    code = SWEEP.format(second="Counter", fourth="Counter").replace('Path("out.jsonl")', "is_quiet=True")
    done = run("fuzz", code, tmp_path)
    assert done.returncode == 1 and "differs: b, three: it printed b'x'" in done.stdout.splitlines()


def test_table_has_medians_ratios_and_means(tmp_path):
    code = """
from measuring import Table, parser, show

def taking(microseconds):
    return lambda: (1, microseconds * 1e-6)

def rows(arguments):
    yield "first", {"ours": taking(2), "theirs": taking(8), "others": None}
    yield "second", {"ours": taking(4), "theirs": taking(4), "others": taking(2000)}

show({"steps": Table(rows, ("ours", "theirs", "others"))}, parser("", seconds=0.0, rounds=3))
"""
    done = run("benchmarks", code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2:5] == [
        "| first | 2.00 | 8.00 | - | 4.00 | - |", "| second | 4.00 | 4.00 | 2,000 | 1.00 | 500 |",
        "| mean | 3.00 | 6.00 | 2,000 | 2.00 | 500 |"]
