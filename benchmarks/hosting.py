"""Compares Python environments stepped by the caller, in threads and in processes, and cypool's own environments.

    python benchmarks/hosting.py                      # CartPole: the cost of a step
    python benchmarks/hosting.py --table plain        # a CartPole with Python's own numbers
    python benchmarks/hosting.py --table waiting      # steps that sleep for 2 ms
    python benchmarks/hosting.py "*threads*"          # the candidates whose names match

Each candidate is a separate process, which makes its pool once; then all take turns. Prints microseconds per step,
ratios to the last candidate, and how long a pool takes to start. CPU time covers all threads and processes of a
candidate. On a free-threaded Python, run the first command with `PYTHON_GIL=0`.
"""
import argparse
import math
import random
import sys
import time

import gymnasium
import numpy as np
import psutil
from measuring import Served, chosen, memory_of, parser, serve, show_candidates, take_turns

import cypool


class Sleeper(gymnasium.Env):
    """Sleeps for 2 ms in each step."""

    observation_space = gymnasium.spaces.Box(0, 1, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)
    zeros = np.zeros(4, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.zeros, {}

    def step(self, action):
        time.sleep(0.002)
        return self.zeros, 0.0, False, False, {}


class PlainCartPole(gymnasium.Env):
    """CartPole with plain Python numbers: only the observation uses NumPy, and Gymnasium's wrappers are left out."""

    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.random = random.Random()

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.random.seed(seed)
        self.state = [self.random.uniform(-0.05, 0.05) for _ in range(4)]
        self.count = 0
        return np.array(self.state, np.float32), {}

    def step(self, action):
        x, v, theta, omega = self.state
        force = 10.0 if action else -10.0
        cos, sin = math.cos(theta), math.sin(theta)
        pushed = (force + 0.05 * omega * omega * sin) / 1.1
        turned = (9.8 * sin - cos * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1))
        x, v = x + 0.02 * v, v + 0.02 * (pushed - 0.05 * turned * cos / 1.1)
        theta, omega = theta + 0.02 * omega, omega + 0.02 * turned
        self.state = [x, v, theta, omega]
        self.count += 1
        terminated = not (-2.4 <= x <= 2.4 and -0.2095 <= theta <= 0.2095)
        return np.array(self.state, np.float32), 1.0, terminated, self.count == 500, {}


CLOCKS = "wall", "CPU of all"


def candidates(hosted):
    """Pools of `num_envs` environments that `hosted(num_envs, **options)` makes, by name."""
    return {
        "caller": lambda n: hosted(n, num_workers=0),
        "1 thread": lambda n: hosted(n, workers="threads", num_workers=1),
        "2 threads": lambda n: hosted(n, workers="threads", num_workers=2),
        "2 processes": lambda n: hosted(n, num_workers=2),
        "a thread for each": lambda n: hosted(n, workers="threads"),
        "a process for each": hosted,
    }


def cartpoles(num_envs, **options):
    return cypool.make("gymnasium:CartPole-v1", num_envs=num_envs, **options)


def hosted(cls):
    """Returns a function that makes a pool of environments of a class."""
    return lambda num_envs, **options: cypool.from_factories([cls] * num_envs, **options)


POOLS = {
    "cartpole": {"cypool's own": lambda n: cypool.make("CartPole-v1", num_envs=n, num_threads=1),
                 **candidates(cartpoles)},
    "plain": candidates(hosted(PlainCartPole)),
    "waiting": {
        "AsyncVectorEnv": lambda n: gymnasium.vector.AsyncVectorEnv([Sleeper] * n),
        "a thread for each": lambda n: hosted(Sleeper)(n, workers="threads"),
        "half of them, threads": lambda n: hosted(Sleeper)(n, workers="threads", batch_size=n // 2),
        "half of them, processes": lambda n: hosted(Sleeper)(n, batch_size=n // 2),
        "a process for each": hosted(Sleeper),
    },
}


def memory():
    """Returns the memory of this process and of those that it has started, in megabytes."""
    own = psutil.Process()
    return memory_of(own, *own.children(recursive=True)) / 1e3


def serve_pool(name, kind, num_envs):
    """Makes a pool, and serves its steps."""
    before, began = memory(), time.perf_counter()
    env = POOLS[kind][name](num_envs)
    is_async = getattr(env, "batch_size", num_envs) < num_envs
    if is_async:
        env.async_reset(seed=0)
    else:
        env.reset(seed=0)
    said = {"start": time.perf_counter() - began, "memory": memory() - before}
    actions, count = np.random.default_rng(0).integers(0, 2, (64, num_envs)), 0

    def step():
        nonlocal count
        count += 1
        if not is_async:
            env.step(actions[count % 64])
            return num_envs
        ids = env.recv()[4]["env_id"]
        env.send(actions[0][ids], ids)
        return len(ids)

    serve(lambda: sum(step() for _ in range(8)), said, CLOCKS)
    env.close()


def main():
    made = parser(__doc__, rounds=7, seconds=0.5)
    made.add_argument("--table", choices=list(POOLS), default="cartpole")
    made.add_argument("--candidate", help=argparse.SUPPRESS)
    arguments = made.parse_args()
    kind, num_envs = arguments.table, arguments.num_envs
    if arguments.candidate is not None:
        serve_pool(arguments.candidate, kind, num_envs)
        return
    served = {name: Served(sys.executable, __file__, "--table", kind, "--num-envs", num_envs, "--candidate", name,
                           seconds=arguments.seconds) for name in chosen(POOLS[kind], arguments.patterns)}
    samples = take_turns(served, arguments.rounds, clocks=CLOCKS)
    for each in served.values():
        each.close()
    show_candidates(samples, list(served)[-1], CLOCKS, {
        "s to start": {name: f"{each.said['start']:.2f}" for name, each in served.items()},
        "MB": {name: f"{each.said['memory']:.1f}" for name, each in served.items()}})


if __name__ == "__main__":
    main()
