"""AgileRL: its trainers take a pool, where AgileRL is installed, as docs/how_to/training_libraries.md says."""
import random

import gymnasium
import numpy as np
import pytest
import torch

import cypool

# importing AgileRL takes packages for language models and twelve seconds: too much for CI
pytestmark = [pytest.mark.large_packages, pytest.mark.exhaustive, pytest.mark.slow,
              pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.filterwarnings("ignore::RuntimeWarning"),
              pytest.mark.filterwarnings("ignore::ResourceWarning")]

NUM = 16


@pytest.fixture(scope="module", autouse=True)
def installed():
    pytest.importorskip("agilerl.algorithms", reason="AgileRL is not installed", exc_type=ImportError)


def trained(env, algorithm, max_steps, **options):
    """Trains a population of one; returns it, and its last fitness."""
    from agilerl import algorithms
    from agilerl.components import ReplayBuffer
    from agilerl.training.train_off_policy import train_off_policy
    from agilerl.training.train_on_policy import train_on_policy

    for seed in (torch.manual_seed, np.random.seed, random.seed):
        seed(0)
    env.reset(seed=0)
    network = {"encoder_config": {"hidden_size": [64]}, "head_config": {"hidden_size": [64]}}
    population = getattr(algorithms, algorithm).population(
        size=1, observation_space=env.single_observation_space, action_space=env.single_action_space,
        net_config=network, **options)
    common = {"max_steps": max_steps, "evo_steps": min(max_steps // 2, 8192), "verbose": False}
    if algorithm == "PPO":
        population, fitness = train_on_policy(env, "CartPole-v1", algorithm, population, **common)
    else:
        population, fitness = train_off_policy(env, "CartPole-v1", algorithm, population, memory=ReplayBuffer(10_000),
                                               **common)
    env.close()
    return population[0].actor, fitness[0]


PPO = {"num_envs": NUM, "batch_size": 256, "learn_step": 512, "lr": 3e-3, "gamma": 0.98, "update_epochs": 8,
       "ent_coef": 0.0}


@pytest.mark.parametrize("algorithm, options", [("PPO", PPO), ("DQN", {"batch_size": 64, "learn_step": 16})])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_learning_is_that_of_gymnasium(algorithm, options, mode):
    ours, fitness = trained(cypool.make("CartPole-v1", num_envs=NUM, autoreset_mode=mode, max_episode_steps=50),
                            algorithm, 2048, **options)
    theirs, expected = trained(gymnasium.make_vec("CartPole-v1", NUM, "sync", max_episode_steps=50,
                                                  vector_kwargs={"autoreset_mode": mode}), algorithm, 2048, **options)
    assert fitness == expected
    for name, value in ours.state_dict().items():
        assert (value == theirs.state_dict()[name]).all(), name


def test_ppo_solves_cartpole():
    env = cypool.make("CartPole-v1", num_envs=NUM, autoreset_mode="SameStep")
    assert trained(env, "PPO", 120_000, **PPO)[1] >= 475
