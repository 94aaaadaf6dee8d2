"""Measures pools that several threads of Python step, each its own: steps per second of one thread, and of all.

    .ci/free_threaded --python tests/sweeps/measure_threads.py

Rounds are interleaved; a ratio is the median of those within a round. On a busy machine look at the CPU time: threads
that wait for each other, or take each other's cache lines, need more of it for a call, or leave CPUs idle.
"""
import argparse
import statistics
import sys
import threading
import time

import gymnasium
import numpy as np
from measure_hosting import PlainCartPole

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


def rate(envs, num_steps):
    """Steps each pool in a thread of its own; returns calls per second of all together, and their CPU time."""
    barrier = threading.Barrier(len(envs) + 1)

    def run(env):
        actions = np.zeros(env.num_envs, np.int64)
        barrier.wait()
        for _ in range(num_steps):
            env.step(actions)

    threads = [threading.Thread(target=run, args=(env,)) for env in envs]
    for thread in threads:
        thread.start()
    barrier.wait()
    begun, begun_cpu = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.join()
    count = len(envs) * num_steps
    return count / (time.perf_counter() - begun), (time.process_time() - begun_cpu) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="pools with this in their names")
    given = parser.parse_args()
    gil = "with" if getattr(sys, "_is_gil_enabled", lambda: True)() else "without"
    print(f"Python {sys.version.split()[0]}, {gil} the GIL")
    print(f"| pool of each thread | calls of `step` a second, 1 thread | {given.threads} threads | ratio "
          f"| CPU time of a call, us, 1 thread | {given.threads} threads | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, (num_steps, make) in POOLS.items():
        if given.only not in name:
            continue
        envs = [make() for _ in range(given.threads)]
        for env in envs:
            env.reset()
        rate(envs, num_steps // 10)
        rounds = [(rate(envs[:1], num_steps), rate(envs, num_steps)) for _ in range(given.rounds)]
        cells = []
        for k, unit in enumerate((1, 1e6)):
            one, all_of_them = (unit * statistics.median(each[side][k] for each in rounds) for side in range(2))
            ratio = statistics.median(both[k] / alone[k] for alone, both in rounds)
            cells += [f"{one:,.{k}f}", f"{all_of_them:,.{k}f}", f"{ratio:.2f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
