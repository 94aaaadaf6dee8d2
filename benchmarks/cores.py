"""Measures how speed grows with the number of threads: steps (or simulations) per second of pools, in wall time.

    python benchmarks/cores.py --ranges

Ratios compare the speed of many threads with that of one. Thread counts above the number of usable CPUs are left out.
"""
from functools import partial
from itertools import pairwise

import numpy as np
from hosting import PlainCartPole
from measuring import Table, chosen, parser, pool_steps, repeated, show, steps_of

import cypool
from cypool.engine import cpus

THREADS = (1, 2, 4, 8, 16, 32, 64)
USABLE = cpus.available()
NUM_THREADS = [number for number in THREADS if number <= USABLE]


def recv_and_send(id, num_envs, num_threads):
    """Returns a candidate that receives half of the environments per call, and sends them actions."""
    env = cypool.make(id, num_envs=num_envs, batch_size=num_envs // 2, num_threads=num_threads, seed=0)
    actions = np.zeros(num_envs // 2, np.int64)
    env.async_reset()

    def step():
        *_, info = env.recv()
        env.send(actions, info["env_id"])

    return repeated(step, 40, len(actions))


def rollouts(id, num_envs, num_threads):
    """Returns a candidate that rolls out a perceptron."""
    env = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0)
    random, sizes = np.random.default_rng(0), [*env.single_observation_space.shape, 64, 64, env.single_action_space.n]
    weights = [random.normal(size=(m, n)).astype(np.float32) for n, m in pairwise(sizes)]
    mlp = cypool.MLP(env.env_spec, weights, [np.zeros(m, np.float32) for m in sizes[1:]], output="categorical")
    env.reset()
    return repeated(lambda: env.rollout(32, policy=mlp), steps=32 * num_envs)


def python_steps(num_envs, num_threads):
    """Returns a candidate that steps Python environments in processes."""
    env = cypool.from_factories([PlainCartPole] * num_envs, num_workers=num_threads, seed=0)
    return steps_of(env, [np.zeros(num_envs, np.int64)] * 20)


def searches(id, num_trees, num_threads):
    """Returns a candidate that searches with 200 simulations, without a network."""
    env = cypool.make(id, num_envs=num_trees, num_threads=num_threads, seed=0, autoreset_mode="Disabled")
    env.reset()
    search = cypool.TreeSearch(env, simulations=200)
    return repeated(lambda: search.run("rollout"), steps=200 * num_trees)


ROWS = {
    "`CartPole-v1`, 4096": partial(pool_steps, "CartPole-v1", 4096),
    "`CartPole-v1`, 4096, rollout of a perceptron": partial(rollouts, "CartPole-v1", 4096),
    "`Pong-v5`, 256": partial(pool_steps, "Pong-v5", 256),
    "`Pong-v5`, 256, half of them in a batch": partial(recv_and_send, "Pong-v5", 256),
    "`Ant-v5`, 256": partial(pool_steps, "Ant-v5", 256),
    '`Ant-v5`, 256, `physics="mj_step"`': partial(pool_steps, "Ant-v5", 256, physics="mj_step"),
    "CartPole in Python, 256, in processes": partial(python_steps, 256),
    "`board/connect_four-v0`, 256 tree searches with random games": partial(searches, "board/connect_four-v0", 256),
}


def rows(arguments):
    for name in chosen(ROWS, arguments.patterns):
        yield name, {str(number): ROWS[name](num_threads=number) for number in NUM_THREADS}


if __name__ == "__main__":
    names = tuple(map(str, NUM_THREADS))
    table = Table(rows, names, tuple((names[0], name) for name in names[1:]), ("wall",))
    show({"speeds": table}, parser(__doc__, rounds=5, seconds=0.3, per_second=True))
