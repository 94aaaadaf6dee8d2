"""Measures NetHack next to NLE: CPU time of the same games on one thread, memory, and wall time of vectors.

    python tests/sweeps/measure_nethack.py [--rounds 7] [--envs 1 8]
    python tests/sweeps/measure_nethack.py --memory
    python tests/sweeps/measure_nethack.py --vector

Both play the same seeds, clock and random actions, in turn, and each is a loop over `step`: of a pool, and of NLE's own
Gymnasium environments one after the other. Prints rows of a table in Markdown, with medians of rounds and of ratios.
"""
import argparse
import gc
import os
import statistics
import time
import warnings

import gymnasium
import numpy as np

import cypool
from cypool.envs.nethack.reference import Reference

FEW = ("glyphs", "blstats", "message")
CASES = {"Score, default keys": ("NetHackScore-v0", {}),
         "Score, three keys": ("NetHackScore-v0", {"observation_keys": FEW}),
         "NetHack, default keys": ("NetHack-v0", {}),
         "Challenge, default keys": ("NetHackChallenge-v0", {})}


class Ours:
    """A pool."""

    def __init__(self, id, num, options):
        self.env = cypool.make(id, num_envs=num, num_threads=0, autoreset_mode="Disabled", **options)

    def reset(self, seed):
        self.env.reset(seed=seed)

    def play(self, actions):
        """Returns seconds of CPU time, and the number of steps until a first episode ends."""
        begin = time.process_time()
        steps = 0
        for row in actions:
            _, _, terminated, _, _ = self.env.step(row)
            steps += len(row)
            if terminated.any():
                break
        return time.process_time() - begin, steps


class Theirs:
    """NLE's environments, without the wrapper that makes them draw as cypool does."""

    def __init__(self, id, num, options):
        spec = cypool.make_spec(id, **options)
        self.envs = [Reference(spec.options, None) for _ in range(num)]

    def reset(self, seed):
        for k, env in enumerate(self.envs):
            env.reset(seed=seed + k)

    def play(self, actions):
        envs = [env.nle for env in self.envs]
        begin = time.process_time()
        steps = 0
        for row in actions.tolist():
            ended = False
            for env, action in zip(envs, row, strict=True):
                ended |= env.step(action)[2]
            steps += len(row)
            if ended:
                break
        return time.process_time() - begin, steps


def compare(rounds, counts, steps):
    print("| game | environments | step, us | NLE, us | times NLE | reset, us | NLE, us | times NLE |\n"
          "| --- | --: | --: | --: | --: | --: | --: | --: |")
    for name, (id, options) in CASES.items():
        for num in counts:
            sides = [kind(id, num, options) for kind in (Ours, Theirs)]
            rows = []
            for seed in range(100, 100 + rounds):
                actions = np.random.default_rng(seed).integers(cypool.make_spec(id).action.n, size=(steps // num, num))
                row, played = [], []
                for side in sides:
                    best, spent = 9.0, 9.0
                    for _ in range(2):
                        begin = time.process_time()
                        side.reset(seed)
                        best = min(best, (time.process_time() - begin) / num)
                        seconds, count = side.play(actions)
                        spent = min(spent, seconds / count)
                        played.append(count)
                    row += [spent * 1e6, best * 1e6]
                assert len(set(played)) == 1
                rows.append(row)
            ours, our_reset, theirs, their_reset = zip(*rows, strict=True)
            median = statistics.median
            times, reset_times = ([b / a for a, b in zip(*pair, strict=True)]
                                  for pair in ((ours, theirs), (our_reset, their_reset)))
            print(f"| {name} | {num} | {median(ours):.1f} | {median(theirs):.1f} | {median(times):.1f} "
                  f"({min(times):.1f} to {max(times):.1f}) | {median(our_reset):.0f} | {median(their_reset):.0f} | "
                  f"{median(reset_times):.1f} |", flush=True)


def proportional_memory():
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024


def num_mappings():
    with open("/proc/self/maps") as file:
        return len(file.readlines())


def memory(num, steps):
    """Of environments in a process, after some steps."""
    one = cypool.make("NetHackScore-v0", num_envs=1, num_threads=0, seed=1)
    one.reset()
    gc.collect()
    before, descriptors, mappings = proportional_memory(), len(os.listdir("/proc/self/fd")), num_mappings()
    begin = time.process_time()
    env = cypool.make("NetHackScore-v0", num_envs=num, num_threads=0, seed=2)
    made = time.process_time() - begin
    begin = time.process_time()
    env.reset()
    reset = time.process_time() - begin
    for row in np.random.default_rng(0).integers(23, size=(steps, num)):
        env.step(row)
    gc.collect()
    rows = sum(part.nbytes for part in env.step([0] * num)[0].values())
    used = (proportional_memory() - before) / num
    print(f"{num} environments: made in {made:.2f} s, first reset in {reset:.2f} s of CPU time; after {steps} steps "
          f"{used / 1e6:.2f} MB each, with batches, of which one row is {rows / num / 1e6:.2f} MB; "
          f"{len(os.listdir('/proc/self/fd')) - descriptors} more descriptors, "
          f"{(num_mappings() - mappings) / num:.1f} mappings each")


def vector(steps):
    """Wall time, so of a machine that does nothing else."""
    for id in ("NetHackScore-v0", "NetHackChallenge-v0"):
        for num in (2, 8):
            theirs = gymnasium.vector.AsyncVectorEnv(
                [lambda id=id: gymnasium.make(id, disable_env_checker=True) for _ in range(num)])
            ours = cypool.make(id, num_envs=num, seed=1)
            spent = []
            for env in (ours, theirs):
                env.reset(seed=1)
                actions = np.random.default_rng(0).integers(env.single_action_space.n, size=(steps, num))
                begin = time.perf_counter()
                for row in actions:
                    env.step(row)
                spent.append((time.perf_counter() - begin) / actions.size * 1e6)
                env.close()
            print(f"{id}, {num} environments: {spent[0]:.1f} us of wall time a step, AsyncVectorEnv {spent[1]:.1f}: "
                  f"{spent[1] / spent[0]:.1f} times", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=1200, help="of a round, of all environments together")
    parser.add_argument("--envs", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--vector", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.memory:
        memory(1000, 50)
    elif arguments.vector:
        vector(arguments.steps)
    else:
        compare(arguments.rounds, arguments.envs, arguments.steps)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
