"""Measures pools that several Python threads step, each its own: steps per second of one thread, and of all.

    .ci/free_threaded --python benchmarks/threads.py

Prints microseconds per call of `step`, for one thread and for all threads together. On a busy machine, look at the CPU
time: threads that wait for each other or take each other's cache lines need more of it per call, or leave CPUs idle.
"""
import sys
from functools import partial

import gymnasium
import numpy as np
from hosting import PlainCartPole
from measuring import Table, at_once, chosen, parser, repeated, show

import cypool

POOLS = {
    "CartPole-v1, 1 env": (20_000, lambda: cypool.make("CartPole-v1", num_envs=1, num_threads=0, seed=0)),
    "CartPole-v1, 64 envs": (10_000, lambda: cypool.make("CartPole-v1", num_envs=64, num_threads=0, seed=0)),
    "Pong-v5, 8 envs": (50, lambda: cypool.make("Pong-v5", num_envs=8, num_threads=0, seed=0)),
    "Gymnasium's CartPole, 8 envs, num_workers=0": (500, lambda: cypool.from_factories(
        [lambda: gymnasium.make("CartPole-v1")] * 8, num_workers=0, seed=0)),
    "CartPole with Python's numbers, 8 envs, num_workers=0": (1000, lambda: cypool.from_factories(
        [PlainCartPole] * 8, num_workers=0, seed=0)),
}


def together(envs, num_steps):
    """Returns a candidate that steps each pool in a separate thread."""
    for env in envs:
        env.reset()

    def steps(env):
        actions = np.zeros(env.num_envs, np.int64)
        for _ in range(num_steps):
            env.step(actions)

    return repeated(lambda: at_once(*(partial(steps, env) for env in envs)), steps=num_steps * len(envs))


def rows(arguments):
    for name in chosen(POOLS, arguments.patterns):
        num_steps, make = POOLS[name]
        envs = [make() for _ in range(arguments.num_threads)]
        yield name, {"one": together(envs[:1], num_steps), "all": together(envs, num_steps)}


if __name__ == "__main__":
    gil = "with" if getattr(sys, "_is_gil_enabled", lambda: True)() else "without"
    print(f"Python {sys.version.split()[0]}, {gil} the GIL; one thread, and all of them")
    show({"calls": Table(rows, ("all", "one"), clocks=("wall", "CPU"))},
         parser(__doc__, num_threads=2, rounds=9, seconds=0.0))
