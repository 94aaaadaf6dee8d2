"""Measures the CPU time of a step of Doom, separately for the engine's processes and for cypool's.

    python tests/sweeps/measure_doom.py Basic-v1 HealthGathering-v1 --threads 2 8 --option screen_resolution=RES_160X120

The pools are measured in turn. A figure is the median of the rounds, in microseconds of CPU time a step; "switches" is
how often a step has cypool wait for an engine.
"""
import argparse
import itertools
import resource
import statistics
import time
from pathlib import Path

import numpy as np

import cypool


def engine_time(pids):
    """Returns the CPU time of the engines so far, in seconds."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids) / 1e9


class Measured:
    """A pool, and what its steps took in each round: steps a second, engine, client, switches."""

    def __init__(self, id, num_envs, threads, options):
        self.label = f"{id}, {threads} threads"
        self.env = cypool.make(id, num_envs=num_envs, num_threads=threads, seed=0, engine_pid=True, **options)
        _, info = self.env.reset()
        self.pids = info["engine_pid"].tolist()
        rng = np.random.default_rng(0)
        space = self.env.single_action_space
        if hasattr(space, "n") and not space.shape:
            self.actions = rng.integers(space.n, size=(64, num_envs))
        else:
            self.actions = rng.integers(2, size=(64, num_envs, *space.shape)).astype(space.dtype)
        self.rounds = []

    def run(self, seconds):
        """Steps for so long."""
        began, engines, own, count = time.perf_counter(), engine_time(self.pids), usage(), 0
        while time.perf_counter() - began < seconds:
            for actions in self.actions:
                self.env.step(actions)
            count += self.actions.shape[0] * self.actions.shape[1]
        elapsed, after = time.perf_counter() - began, usage()
        self.rounds.append([count / elapsed, 1e6 * (engine_time(self.pids) - engines) / count,
                            1e6 * (after[0] - own[0]) / count, (after[1] - own[1]) / count])


def usage():
    """Returns this process's CPU time so far, in seconds, and how often it has waited."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_nvcsw


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", default=["Basic-v1", "HealthGathering-v1", "Deathmatch-v1"])
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--threads", type=int, nargs="*", default=[2])
    parser.add_argument("--seconds", type=float, default=0.7)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--option", action="append", default=[], help="name=text, of the environments")
    arguments = parser.parse_args()
    options = dict(option.split("=", 1) for option in arguments.option)
    pools = [Measured(id, arguments.num_envs, threads, options)
             for id, threads in itertools.product(arguments.ids, arguments.threads)]
    for pool in pools:
        pool.run(0.2)
        pool.rounds.clear()
    for _ in range(arguments.rounds):
        for pool in pools:
            pool.run(arguments.seconds)
    print("| | steps/s | engine | client | switches |\n| --- | --: | --: | --: | --: |")
    for pool in pools:
        rate, engine, client, switches = (statistics.median(each) for each in zip(*pool.rounds, strict=True))
        print(f"| {pool.label} | {rate:,.0f} | {engine:.0f} | {client:.0f} | {switches:.2f} |")
        pool.env.close()


if __name__ == "__main__":
    main()
