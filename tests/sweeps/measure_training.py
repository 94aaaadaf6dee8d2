"""Measures how long training libraries train PPO on CartPole: with a pool, and with their own vectors of Gymnasium's.

    python tests/sweeps/measure_training.py
    python tests/sweeps/measure_training.py sb3 skrl

CPU time of this process, torch with one thread. The two take turns in rounds, after one that does not count. Prints a
table in Markdown with medians.
"""
import contextlib
import io
import os
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import gymnasium
import torch

import cypool

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "adapters"), str(ROOT / "tests"), str(ROOT / "examples")]
NUM = 16


def pool():
    return cypool.make("CartPole-v1", num_envs=NUM, autoreset_mode="SameStep", num_threads=0)


def vector():
    return gymnasium.make_vec("CartPole-v1", NUM, "sync", vector_kwargs={"autoreset_mode": "SameStep"})


def train_sb3(with_pool):
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    from cypool.adapters import sb3

    env = sb3.make("CartPole-v1", num_envs=NUM, num_threads=0) if with_pool else make_vec_env("CartPole-v1", NUM)
    PPO("MlpPolicy", env, n_steps=32, batch_size=128, n_epochs=8, learning_rate=3e-3, gamma=0.98, seed=0,
        device="cpu").learn(41_600)
    return 41_600


def train_skrl(with_pool):
    import test_skrl

    test_skrl.trained(pool() if with_pool else vector(), 2600)
    return 2600 * NUM


def train_agilerl(with_pool):
    import test_agilerl

    test_agilerl.trained(pool() if with_pool else vector(), "PPO", 40_960, **test_agilerl.PPO)
    return 40_960


def train_pufferlib(with_pool):
    import pufferlib.vector
    import pufferlib_ppo
    from pufferlib.emulation import GymnasiumPufferEnv

    def make(buf=None, seed=0):
        return GymnasiumPufferEnv(pufferlib.EpisodeStats(gymnasium.make("CartPole-v1")), buf=buf, seed=seed)

    pools = pufferlib_ppo.adapter.make
    if not with_pool:
        pufferlib_ppo.adapter.make = lambda id, num_envs: pufferlib.vector.make(make, backend="Serial",
                                                                                num_envs=num_envs)
    before, sys.argv = sys.argv, ["pufferlib_ppo.py", "--num-envs", str(NUM), "--total-timesteps", "40960"]
    try:
        pufferlib_ppo.main()
    finally:
        sys.argv, pufferlib_ppo.adapter.make = before, pools
    return 40_960


LIBRARIES = {"sb3": train_sb3, "skrl": train_skrl, "agilerl": train_agilerl, "pufferlib": train_pufferlib}


def main():
    names = sys.argv[1:] or list(LIBRARIES)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    # PufferLib makes a link where it is imported
    os.chdir(tempfile.mkdtemp())
    print("| library | steps | a pool, s | its own vector, s | ratio |\n| --- | --: | --: | --: | --: |")
    for name in names:
        taken = {True: [], False: []}
        for turn in range(3):
            for with_pool, mine in taken.items():
                begin = time.process_time()
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    steps = LIBRARIES[name](with_pool)
                if turn > 0:
                    mine.append(time.process_time() - begin)
        ours, theirs = map(statistics.median, taken.values())
        print(f"| {name} | {steps:,} | {ours:.1f} | {theirs:.1f} | {theirs / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
