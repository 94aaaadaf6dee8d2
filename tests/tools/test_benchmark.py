"""The benchmark runs as the README says, measures as it claims, and refuses nonsense in one line."""
import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from markers import exhaustive, slow
from waiting import run_program, wait_until

pytestmark = pytest.mark.families("atari", "dm_control", "minigrid", "mujoco")
SCRIPT = Path(__file__).parents[2] / "benchmark.py"


@pytest.fixture
def bench(tmp_path):
    """Runs the benchmark with four environments; returns the finished process, and the report."""
    file = tmp_path / "result.json"

    def run(*args):
        done = run_program(sys.executable, SCRIPT, *args, "--num-envs", "4", "--json", file, check=True)
        return done, json.loads(file.read_text())

    return run


@pytest.mark.parametrize("env, frames", [("CartPole-v1", 1), *slow(("Pong-v5", 4))])
def test_cypool_alone(env, frames, bench):
    done, report = bench("--env", env, "--seconds", "0.05", "--rounds", "2", "--peers", "none")
    assert done.stderr == "" and done.stdout.startswith(f"Stepping {env} with 2 candidates")
    assert "cypool sync" in done.stdout and "2/4" in done.stdout
    assert report["machine"]["cpus_usable"] >= 1 and "numpy" in report["versions"]
    assert report["settings"]["batch_size"] == 2
    assert [r["candidate"] for r in report["results"]] == ["cypool sync", "cypool async"]
    for r in report["results"]:
        assert len(r["samples"]) == 2
        speeds = [frames * x["steps"] / x["seconds"] for x in r["samples"]]
        assert min(speeds) <= r["frames_per_second"][1] <= max(speeds)
        assert all(x["seconds"] >= 0.05 and x["steps"] % r["batch_size"] == 0 for x in r["samples"])
    assert report["results"][0]["ratio_to"] == {"cypool sync": [1, 1, 1]}


def test_peers(bench):
    peers = "loop,sync-vector,async-vector,numpy-vector"
    done, report = bench("--env", "CartPole-v1", "--seconds", "0.05", "--rounds", "1", "--peers", peers)
    assert "times as fast as Python for-loop" in done.stdout
    assert {r["peer"] for r in report["results"]} == {"", *peers.split(",")}
    assert all(r["cpu_us_per_step"] > 0 for r in report["results"])


@pytest.mark.families("board")
@pytest.mark.parametrize("view", ["mover", *exhaustive("players", "single")])
def test_bench_where_some_actions_are_illegal_draws_legal_ones(view, bench):
    _, report = bench("board/connect_four-v0", "-o", f"view={view}", "--seconds", "0.02", "--rounds", "1",
                      "--peers", "none")
    assert [len(r["samples"]) for r in report["results"]] == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("env, peers", [
    ("InvertedPendulum-v5", ["loop", "rollout", "batch"]), ("WalkerWalk-v1", ["loop"]),
    pytest.param("board/connect_four-v0", ["loop"], marks=pytest.mark.families("board")),
    *exhaustive(("dm_control/cartpole-swingup-v0", ["loop"])), ("MiniGrid-DoorKey-8x8-v0", ["loop", "sync-vector"])])
def test_peers_of_families(env, peers, bench):
    _, report = bench("--env", env, "--seconds", "0.02", "--rounds", "1", "--peers", ",".join(peers))
    assert {r["peer"] for r in report["results"]} == {"", *peers}


@pytest.mark.slow
def test_several_environments(bench):
    done, report = bench("--env", "CartPole-v1,Acrobot-v1", "--seconds", "0.02", "--rounds", "2", "--peers", "loop")
    head, _, *lines, last = done.stdout.splitlines()
    assert head.split(" | ")[1:3] == ["cypool, frames/s", "times loop"]
    assert [line.split(" | ")[0] for line in lines] == ["| CartPole-v1", "| Acrobot-v1"]
    ratios = [float(line.split(" | ")[2]) for line in lines]
    mean = float(last.removeprefix("| geometric mean | ").split(" | ")[1])
    # all three are rounded to two digits behind the point
    low, high = (((ratios[0] + by) * (ratios[1] + by)) ** 0.5 for by in (-0.0051, 0.0051))
    assert low - 0.0051 <= mean <= high + 0.0051
    assert {env: {r["peer"] for r in rows} for env, rows in report["results"].items()} == {
        "CartPole-v1": {"", "loop"}, "Acrobot-v1": {"", "loop"}}


def without(module, args):
    """Code that runs the benchmark where a module is not installed."""
    # None in sys.modules stands for a missing module
    return (f"import runpy, sys; sys.modules[{module!r}] = None; sys.argv = {['benchmark.py', *args]}; "
            f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')")


@pytest.mark.parametrize("args, message", [
    (["--env", "CartPole-v1,Pong-v3"], "did you mean Pong-v5"),
    (["--env", "CartPole-v1,Acrobot-v1", "--plot", "x.png"], "--plot: expected a single environment"),
    (["--env", "Pong-v3"], "did you mean Pong-v5"),
    (["--peers", "gymnasium"], "has no 'gymnasium'; choose from all, none, loop, async-vector, ale, envpool"),
    (["--env", "CartPole-v1", "--peers", "ale"], "has no 'ale'"),
    (["--env", "CartPole-v1", "-o", "gravity=heavy"], "gravity"),
    (["--num-envs", "4", "--batch-size", "5"], "--batch-size: expected 1 to 4, got 5"),
    (["--seconds", "nan"], "--seconds: expected"),
    (["--json", "/nowhere/result.json"], "the folder does not exist"),
])
def test_refusals(run_forked, args, message):
    done = run_forked(without(None, args))
    assert done.returncode == 2 and done.stdout == ""
    assert message in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("module, args, status, message", [
    ("envpool", ["--peers", "envpool"], 2, "pip install envpool"),
    ("matplotlib", ["--plot", "x.png"], 2, "pip install matplotlib"),
    ("ale_py", [], 2, 'pip install "cypool[atari]"'),
    ("cypool", [], 1, "pip install"),
])
def test_missing_package_is_named(run_forked, module, args, status, message):
    done = run_forked(without(module, args))
    assert done.returncode == status
    assert message in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("number, status", [
    (signal.SIGINT, 130), *slow((signal.SIGKILL, -signal.SIGKILL))])
def test_no_process_stays_behind(number, status):
    # a word to know our processes by
    seconds = f"0.05{os.getpid()}1"

    def processes():
        found = 0
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                found += seconds in path.read_text()
        return found

    args = ["--env", "CartPole-v1", "--num-envs", "2", "--rounds", "9999", "--peers", "async-vector"]
    with subprocess.Popen([sys.executable, SCRIPT, *args, "--seconds", seconds], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as run:
        try:
            # itself, three candidates, and two processes of AsyncVectorEnv
            wait_until(lambda: processes() == 6)
            run.send_signal(number)
            _, errors = run.communicate(timeout=300)
        finally:
            run.kill()
    assert run.returncode == status and errors == ""
    wait_until(lambda: processes() == 0)
