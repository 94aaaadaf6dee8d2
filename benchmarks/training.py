"""Measures how long libraries take to train PPO on CartPole, with a pool and with their own Gymnasium vector
environments.

    python benchmarks/training.py
    python benchmarks/training.py sb3 skrl

Prints microseconds per step, including all training, with one torch thread.
"""
import contextlib
import io
import os
import sys
import tempfile

import gymnasium
import torch
from measuring import ROOT, Table, chosen, parser, show

import cypool

sys.path[:0] = [str(ROOT / "tests" / "adapters"), str(ROOT / "examples")]
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


def training(name, with_pool):
    """Returns a candidate that runs a whole training."""
    def run():
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return LIBRARIES[name](with_pool)

    return run


def rows(arguments):
    for name in chosen(LIBRARIES, arguments.patterns):
        yield name, {"a pool": training(name, True), "its own vector": training(name, False)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    # PufferLib makes a link where it is imported
    os.chdir(tempfile.mkdtemp())
    show({"steps": Table(rows, ("a pool", "its own vector"))}, parser(__doc__, rounds=2, seconds=0.0))
