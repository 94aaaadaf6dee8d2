"""Measures MPE2 next to mpe2: CPU time on one thread, random actions, resets included, in pools of 256 and of 1.

    python tests/sweeps/measure_mpe2.py                        # 3 minutes
    python tests/sweeps/measure_mpe2.py "*spread*" --rounds 3

The candidates take turns in rounds. Prints the rows of a table in Markdown, with the medians of the rounds and of the
ratios, the geometric mean of the ratios, and the load of the machine. A step is one of all agents of an environment.
"""
import argparse
import importlib
import os
import statistics
import time
import warnings
from fnmatch import fnmatch

import numpy as np

import cypool
from cypool.envs.mpe2.ids import CLASSES

NUM_ENVS = 256
# those of PettingZoo
OLD = [id for id in CLASSES if id.endswith(("-v3", "-v4"))]


class Ours:
    """A pool that continues from round to round."""

    def __init__(self, id, continuous, num_envs):
        self.env = cypool.make(f"mpe2/{id}", num_envs=num_envs, num_threads=0, seed=0, continuous_actions=continuous)
        self.env.action_space.seed(0)
        self.actions = [self.env.action_space.sample() for _ in range(100)]
        self.env.reset()

    def measure(self, seconds):
        """Returns seconds of a step."""
        steps, begin = 0, time.process_time()
        while True:
            for action in self.actions:
                self.env.step(action)
            steps += len(self.actions) * self.env.num_envs
            spent = time.process_time() - begin
            if spent > seconds:
                return spent / steps


class Theirs:
    """A parallel environment of mpe2."""

    def __init__(self, id, continuous):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = importlib.import_module(f"mpe2.{id.replace('-', '_')}")
        self.env = module.parallel_env(continuous_actions=continuous)
        rng = np.random.default_rng(0)
        spaces = {agent: self.env.action_space(agent) for agent in self.env.possible_agents}
        self.actions = [{agent: rng.random(space.shape, np.float32) if continuous else int(rng.integers(space.n))
                         for agent, space in spaces.items()} for _ in range(100)]
        self.env.reset(seed=0)

    def measure(self, seconds):
        """Returns seconds of a step; a reset counts as one, as in a pool."""
        steps, begin = 0, time.process_time()
        while True:
            for action in self.actions:
                if self.env.agents:
                    self.env.step(action)
                else:
                    self.env.reset()
            steps += len(self.actions)
            spent = time.process_time() - begin
            if spent > seconds:
                return spent / steps


def measure(id, continuous, seconds, rounds):
    """Returns seconds of a step: mpe2's, of many, of one; and how often the second goes into the first."""
    candidates = Theirs(id, continuous), Ours(id, continuous, NUM_ENVS), Ours(id, continuous, 1)
    # a pool learns how long its steps take
    candidates[1].measure(0.05)
    measured = [[each.measure(seconds) for each in candidates] for _ in range(rounds)]
    return *map(statistics.median, zip(*measured, strict=True)), statistics.median(a / b for a, b, _ in measured)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="*", help="of ids, without mpe2/")
    parser.add_argument("--seconds", type=float, default=0.3, help="of a candidate in a round")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    columns = "mpe2, us | this, ns | mpe2 / this | one, us |"
    print(f"| id | {columns} continuous: {columns}")
    print("| --- |" + " --: |" * 8)
    ratios = {False: {}, True: {}}
    for id in CLASSES:
        if not fnmatch(id, arguments.pattern):
            continue
        cells = []
        for continuous in (False, True):
            theirs, many, one, ratio = measure(id, continuous, arguments.seconds, arguments.rounds)
            ratios[continuous][id] = ratio
            cells.append(f"{1e6 * theirs:,.0f} | {1e9 * many:,.0f} | {ratio:,.0f} | {1e6 * one:.2f}")
        print(f"| `{id}` | {' | '.join(cells)} |", flush=True)
    for continuous, of_ids in ratios.items():
        of_old = [ratio for id, ratio in of_ids.items() if id in OLD]
        if of_old:
            print(f"\n{'continuous' if continuous else 'discrete'}: geometric mean of {len(of_old)} ids in v3 or v4 "
                  f"{statistics.geometric_mean(of_old):,.0f}")
    print(f"\nload {os.getloadavg()[0]:.1f}, medians of {arguments.rounds} rounds")


if __name__ == "__main__":
    main()
