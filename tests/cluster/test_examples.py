"""The examples and benchmarks that use a cluster run, in small."""
import csv
import os
import sys
from pathlib import Path

import pytest
from waiting import run_program

pytestmark = [pytest.mark.large_packages, pytest.mark.usefixtures("leave_checkout", "limit"),
              pytest.mark.families("box2d")]

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("name", "arguments", "rows"), [
    ("benchmarks/aps_traffic", ["--workers", "16", "--updates", "25"], 12),
    ("examples/cluster_ppo", ["--env-id", "LunarLander-v3", "--updates", "2", "--thresholds", "0.01", "--seeds", "0",
                     "--workers", "1"], 6),
])
def test_tables(tmp_path, name, arguments, rows, ray_here):
    # one Ray for all rows, instead of one for each
    address = {"RAY_ADDRESS": ray_here.get_runtime_context().gcs_address}
    run_program(sys.executable, ROOT / f"{name}.py", *arguments, "--csv", tmp_path / "table.csv", check=True,
                timeout=500, cwd=tmp_path, env={**os.environ, **address})
    with open(tmp_path / "table.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == rows and table[0]["sync"] == "Always"


def test_overhead(tmp_path):
    done = run_program(sys.executable, ROOT / "benchmarks" / "cluster_overhead.py", "--env", "CartPole-v1", "--envs",
                       "3", "--steps", "20", "--rounds", "2", "--workers", "2", check=True, timeout=500, cwd=tmp_path)
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["pools", "one", "cluster"]
