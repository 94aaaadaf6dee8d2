"""Measures where Python environments are stepped: by the caller, in threads and in processes; and cypool's own.

    python tests/sweeps/measure_hosting.py                  # CartPole: what a step costs
    python tests/sweeps/measure_hosting.py --plain          # a CartPole with Python's own numbers
    python tests/sweeps/measure_hosting.py --waiting        # steps that sleep for 2 ms: rate, memory, time to start
    python tests/sweeps/measure_hosting.py --only threads   # the candidates with this in their names

Each candidate is a process of its own, which makes its pool once; then all take turns. Prints medians over the rounds,
and the medians of the ratios to the last candidate within a round. CPU time is that of all threads and processes of a
candidate. On a Python without its global lock, run the first command with `PYTHON_GIL=0`.
"""
import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np

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
    """CartPole with Python's own numbers: of NumPy only the observation, and no episode of Gymnasium's wrappers."""

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


def plain(num_envs, **options):
    return cypool.from_factories([PlainCartPole] * num_envs, **options)


def sleepers(num_envs, **options):
    return cypool.from_factories([Sleeper] * num_envs, **options)


POOLS = {
    "cartpole": {"cypool's own": lambda n: cypool.make("CartPole-v1", num_envs=n, num_threads=1),
                 **candidates(cartpoles)},
    "plain": candidates(plain),
    "waiting": {
        "AsyncVectorEnv": lambda n: gymnasium.vector.AsyncVectorEnv([Sleeper] * n),
        "a thread for each": lambda n: sleepers(n, workers="threads"),
        "half of them, threads": lambda n: sleepers(n, workers="threads", batch_size=n // 2),
        "half of them, processes": lambda n: sleepers(n, batch_size=n // 2),
        "a process for each": sleepers,
    },
}


def family():
    """Yields the folders in /proc of this process and of those that it and its children have started."""
    pids = ["self"]
    for pid in pids:
        folder = Path("/proc") / pid
        try:
            pids += [child for task in (folder / "task").iterdir() for child in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        yield folder


def memory():
    """Returns the megabytes of the family; shared pages count once."""
    rollups = [(folder / "smaps_rollup").read_text() for folder in family()]
    return sum(int(each.partition("\nPss:")[2].split()[0]) for each in rollups) / 1e3


def cpu_time():
    """Returns the CPU seconds of the family."""
    fields = [(folder / "stat").read_text().rpartition(")")[2].split() for folder in family()]
    return sum(int(each[11]) + int(each[12]) for each in fields) / 100


def candidate(name, kind, num_envs):
    """Makes a pool and steps it; for each line of input, a number of seconds, it prints figures as JSON."""
    before, began = memory(), time.perf_counter()
    env = POOLS[kind][name](num_envs)
    is_async = getattr(env, "batch_size", num_envs) < num_envs
    if is_async:
        env.async_reset(seed=0)
    else:
        env.reset(seed=0)
    print(json.dumps({"start": time.perf_counter() - began, "memory": memory() - before}), flush=True)
    actions = np.random.default_rng(0).integers(0, 2, (64, num_envs))
    for line in sys.stdin:
        count, cpu, began = 0, cpu_time(), time.perf_counter()
        while time.perf_counter() < began + float(line):
            if is_async:
                ids = env.recv()[4]["env_id"]
                env.send(actions[0][ids], ids)
                count += len(ids)
            else:
                env.step(actions[count % 64])
                count += num_envs
        seconds = time.perf_counter() - began
        print(json.dumps({"rate": count / seconds, "cpu": (cpu_time() - cpu) / count}), flush=True)
    env.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--plain", action="store_const", dest="kind", const="plain", default="cartpole",
                       help="a CartPole with Python's own numbers, rather than Gymnasium's")
    kinds.add_argument("--waiting", action="store_const", dest="kind", const="waiting", help="steps that sleep")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of a candidate in a round")
    parser.add_argument("--only", default="", help="candidates with this in their names")
    parser.add_argument("--candidate", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.candidate is not None:
        candidate(args.candidate, args.kind, args.num_envs)
        return
    command = [sys.executable, __file__, "--num-envs", str(args.num_envs),
               *([] if args.kind == "cartpole" else [f"--{args.kind}"])]
    names = [name for name in POOLS[args.kind] if args.only in name]
    running, starts = {}, {}
    for name in names:
        running[name] = process = subprocess.Popen([*command, "--candidate", name], stdin=subprocess.PIPE,
                                                   stdout=subprocess.PIPE, text=True)
        starts[name] = json.loads(process.stdout.readline())
    rounds = []
    for number in range(args.rounds):
        figures = {}
        for name in names if number % 2 else names[::-1]:
            print(args.seconds, file=running[name].stdin, flush=True)
            figures[name] = json.loads(running[name].stdout.readline())
        rounds.append(figures)
    for process in running.values():
        process.communicate()

    def median(function):
        return statistics.median(map(function, rounds))

    print(f"{args.num_envs} environments; ratios to: {names[-1]}")
    print(f"{'':24} {'steps/s':>9} {'ratio':>6} {'us/step':>8} {'CPU us/step':>12} {'s to start':>11} {'MB':>7}")
    for name in names:
        rate = median(lambda each, name=name: each[name]["rate"])
        ratio = median(lambda each, name=name: each[name]["rate"] / each[names[-1]]["rate"])
        cpu = median(lambda each, name=name: each[name]["cpu"])
        print(f"{name:24} {rate:9,.0f} {ratio:6.2f} {1e6 / rate:8.2f} {1e6 * cpu:12.2f} "
              f"{starts[name]['start']:11.2f} {starts[name]['memory']:7.1f}")


if __name__ == "__main__":
    main()
