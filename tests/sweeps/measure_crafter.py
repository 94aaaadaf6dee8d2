"""Measures Crafter next to crafter: CPU time on one thread, with infos and resets, in a pool of 64 environments.

    python tests/sweeps/measure_crafter.py

Actions are moves, "do" and "noop" at random. The candidates take turns in rounds. Prints the rows of a table in
Markdown, with the medians of the rounds and of the ratios, and the load of the machine.
"""
import argparse
import os
import statistics
import time

import crafter
import numpy as np

import cypool

NUM_ENVS = 64
ACTIONS = np.array([1, 2, 3, 4, 5, 5, 5, 0])
# without pictures the map of the world is left out, too
CANDIDATES = {"pictures": {}, "pictures, no map": {"semantic": False},
              "semantic": {"obs_type": "semantic", "semantic": False},
              "symbolic": {"obs_type": "symbolic", "semantic": False}}


class Ours:
    """A pool that continues from round to round."""

    def __init__(self, options):
        self.env = cypool.make("CrafterReward-v1", num_envs=NUM_ENVS, num_threads=0, seed=0, **options)
        self.chance = np.random.default_rng(0)
        self.env.reset()

    def measure(self, seconds):
        """Returns seconds of a reset, of a step with resets, and of a step without."""
        begin = time.process_time()
        self.env.reset()
        reset = (time.process_time() - begin) / NUM_ENVS
        actions = ACTIONS[self.chance.integers(len(ACTIONS), size=(4096, NUM_ENVS))]
        steps = ended = 0
        begin = time.process_time()
        for row in actions:
            _, _, terminated, truncated, _ = self.env.step(row)
            steps += NUM_ENVS
            ended += int((terminated | truncated).sum())
            spent = time.process_time() - begin
            # all episodes have ended some times by then
            if spent > seconds and ended > 2 * NUM_ENVS:
                break
        return reset, spent / steps, (spent - ended * reset) / (steps - ended)


class Theirs:
    """An environment of crafter."""

    def __init__(self):
        self.env, self.chance, self.done = crafter.Env(seed=0), np.random.default_rng(0), True

    def measure(self, steps):
        """Returns seconds of a reset, of a step with resets, and of a step without."""
        spent, count = [0.0, 0.0], [0, 0]
        for action in ACTIONS[self.chance.integers(len(ACTIONS), size=steps)]:
            begin, is_reset = time.process_time(), self.done
            if self.done:
                self.env.reset()
                self.done = False
            else:
                self.done = self.env.step(action)[2]
            spent[is_reset] += time.process_time() - begin
            count[is_reset] += 1
        return spent[1] / max(1, count[1]), sum(spent) / steps, spent[0] / count[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="of a candidate in a round")
    parser.add_argument("--steps", type=int, default=800, help="of crafter in a round")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    ours, theirs = {name: Ours(options) for name, options in CANDIDATES.items()}, Theirs()
    rounds = [({name: each.measure(arguments.seconds) for name, each in ours.items()},
               theirs.measure(arguments.steps)) for _ in range(arguments.rounds)]
    # resets are a large part of crafter's time, and few in a round
    reset, _, step = (statistics.median(column) for column in zip(*(theirs for _, theirs in rounds), strict=True))
    whole = statistics.mean(theirs[1] for _, theirs in rounds)
    print(f"crafter: reset {1e3 * reset:.0f} ms, step {1e6 * step:.0f} us, with resets {1e6 * whole:.0f} us\n")
    print("| | reset, us | step with resets, us | steps/s | crafter / this | step, us | steps/s | crafter / this |")
    print("| --- |" + " --: |" * 7)
    for name in ours:
        times = [statistics.median(column) for column in zip(*(mine[name] for mine, _ in rounds), strict=True)]
        print(f"| {name} | {1e6 * times[0]:.0f} | {1e6 * times[1]:.2f} | {1 / times[1]:,.0f} | "
              f"{whole / times[1]:,.0f} | {1e6 * times[2]:.2f} | {1 / times[2]:,.0f} | {step / times[2]:,.0f} |")
    print(f"\nload {os.getloadavg()[0]:.1f}, medians of {arguments.rounds} rounds")


if __name__ == "__main__":
    main()
