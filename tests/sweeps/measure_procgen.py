"""Measures Procgen next to its library's own painter and to EnvPool: CPU time on one thread, with resets.

    python tests/sweeps/measure_procgen.py
    python tests/sweeps/measure_procgen.py coinrun maze --mode easy
    python tests/sweeps/measure_procgen.py --memory

Actions are random. EnvPool needs Qt 5 (apt install libqt5gui5); without EnvPool its columns are empty. The candidates
take turns in rounds. Prints the rows of a table in Markdown: thousands of steps per second, and medians of ratios.
With `--memory`: the CPU time that it takes to make a pool, and its memory, then and after 600 steps, next to an
environment that has the library's pictures.
"""
import argparse
import math
import os
import statistics
import time

import numpy as np

import cypool
from cypool.envs.procgen.games import GAMES

try:
    import envpool
except ImportError:
    envpool = None


def pools(game, mode, num_envs):
    """Returns the candidates: name -> pool."""
    id = f"procgen-{game}-v0"
    made = {name: cypool.make(id, num_envs=num_envs, num_threads=0, seed=3, distribution_mode=mode, painter=painter)
            for name, painter in (("cypool", "cypool"), ("library", "library"))}
    if envpool is not None:
        made["envpool"] = envpool.make(f"{game.capitalize()}{mode.capitalize()}-v0", env_type="gymnasium", seed=3,
                                       num_envs=num_envs, num_threads=1, channel_first=False)
    for pool in made.values():
        pool.reset()
    return made


def measure(pool, actions, seconds):
    """Returns seconds of CPU time for a step of one environment."""
    steps, begin = 0, time.process_time()
    while True:
        for row in actions:
            pool.step(row)
        steps += actions.size
        spent = time.process_time() - begin
        if spent > seconds:
            return spent / steps


def resident():
    """Returns the memory of the process, in megabytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def measure_memory(games, mode, num_envs):
    options = {"num_threads": 0, "seed": 3, "distribution_mode": mode}
    cypool.make("procgen-coinrun-v0", **options).reset()
    print(f"the first environment: {resident():.0f} MB\n\n| game | made in | MB | after 600 steps |")
    print("| --- |" + " --: |" * 3)
    kept = []  # freed memory would hide what the next pool takes
    for game in games:
        before, began = resident(), time.process_time()
        kept.append(cypool.make(f"procgen-{game}-v0", num_envs=num_envs, **options))
        kept[-1].reset()
        spent, made = time.process_time() - began, resident() - before
        for row in np.random.default_rng(0).integers(15, size=(600, num_envs)):
            kept[-1].step(row)
        print(f"| {game} | {1e3 * spent:.0f} ms | {made:.1f} | {resident() - before:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", default=list(GAMES))
    parser.add_argument("--mode", default="hard")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=0.15, help="of a candidate in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    if arguments.memory:
        return measure_memory(arguments.games, arguments.mode, arguments.num_envs)
    actions = np.random.default_rng(1).integers(15, size=(20, arguments.num_envs)).astype(np.int32)
    print("| game | cypool | its library | EnvPool | cypool / library | cypool / EnvPool | library / EnvPool |")
    print("| --- |" + " --: |" * 6)
    ratios = {pair: [] for pair in (("library", "cypool"), ("envpool", "cypool"), ("envpool", "library"))}
    for game in arguments.games:
        made = pools(game, arguments.mode, arguments.num_envs)
        for pool in made.values():
            measure(pool, actions, arguments.seconds)
        rounds = [{name: measure(pool, actions, arguments.seconds) for name, pool in made.items()}
                  for _ in range(arguments.rounds)]
        for pool in made.values():
            pool.close()
        speeds = [f"{1e-3 / statistics.median(each[name] for each in rounds):.1f}" if name in made else ""
                  for name in ("cypool", "library", "envpool")]
        for (slow, fast), values in ratios.items():
            if slow in made:
                values.append(statistics.median(each[slow] / each[fast] for each in rounds))
        last = [f"{values[-1]:.2f}" if values else "" for values in ratios.values()]
        print(f"| {game} | {' | '.join(speeds + last)} |", flush=True)
    means = [f"{math.exp(statistics.mean(map(math.log, values))):.2f}" if values else "" for values in ratios.values()]
    print(f"| geometric mean | | | | {' | '.join(means)} |")
    print(f"\n{arguments.mode}, {arguments.num_envs} environments, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
