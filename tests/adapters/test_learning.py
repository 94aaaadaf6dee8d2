"""CartPole is solved over each API that is no library's own: a linear policy, by the cross-entropy method."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import cypool
import cypool.compat.envpool as envpool

pytestmark = pytest.mark.large_packages

NUM = 64


def lengths_of(alive):
    """Returns how many steps the first episode of each environment has; alive: (T, NUM), whether it continues."""
    return np.logical_and.accumulate(alive).sum(0) + 1


def gymnasium_lengths(weights, make=cypool.make):
    env = make("CartPole-v1", num_envs=NUM, seed=0)
    obs, alive = env.reset()[0], []
    for _ in range(500):
        obs, _, terminated, truncated, _ = env.step(((obs * weights).sum(1) > 0).astype(int))
        alive.append(~(terminated | truncated))
    return lengths_of(np.array(alive))


def gym_lengths(weights):
    env = cypool.make("CartPole-v1", "gym", num_envs=NUM, seed=0)
    obs, alive = env.reset(), []
    for _ in range(500):
        obs, _, done, _ = env.step(((obs * weights).sum(1) > 0).astype(int))
        alive.append(~done)
    return lengths_of(np.array(alive))


def dm_lengths(weights):
    env = cypool.make("CartPole-v1", "dm", num_envs=NUM, seed=0)
    step, alive = env.reset(), []
    for _ in range(500):
        step = env.step(((step.observation.obs * weights).sum(1) > 0).astype(int))
        alive.append(~step.last())
    return lengths_of(np.array(alive))


def envpool_lengths(weights):
    return gymnasium_lengths(weights, envpool.make_gymnasium)


def torch_lengths(weights):
    env = cypool.make("CartPole-v1", num_envs=NUM, seed=0, autoreset_mode="SameStep").torch()
    weights, alive = torch.from_numpy(weights), []
    obs, _ = env.reset()
    for _ in range(500):
        obs, _, terminated, truncated, _ = env.step(((obs * weights).sum(1) > 0).long())
        alive.append(~(terminated | truncated).numpy())
    return lengths_of(np.array(alive))


def jax_lengths(weights):
    functions = cypool.make("CartPole-v1", num_envs=NUM, seed=0).xla()

    @jax.jit
    def run(handle, weights):
        def step(carry, _):
            handle, obs = carry
            actions = (jnp.sum(obs * weights, 1) > 0).astype(int)
            handle, (obs, _, terminated, truncated, _) = functions.step(handle, actions)
            return (handle, obs), ~(terminated | truncated)

        handle, (obs, _) = functions.reset(handle)
        return jax.lax.scan(step, (handle, obs), None, 500)[1]

    return lengths_of(np.asarray(run(functions.handle, weights)))


@pytest.mark.parametrize("lengths", [gymnasium_lengths, gym_lengths, dm_lengths, envpool_lengths, torch_lengths,
                                     jax_lengths])
def test_cartpole_is_solved(lengths):
    random = np.random.default_rng(0)
    mean, std = np.zeros(4), np.ones(4)
    for _ in range(6):
        weights = (mean + std * random.standard_normal((NUM, 4))).astype(np.float32)
        best = weights[np.argsort(lengths(weights))[-8:]]
        mean, std = best.mean(0), best.std(0) + 0.05
    assert lengths(np.broadcast_to(mean, (NUM, 4)).astype(np.float32)).mean() >= 475
