"""Plays cypool's Crafter next to crafter in eight styles and six sizes, and compares all, exactly.

    python tests/sweeps/sweep_crafter.py                          # 500 worlds and 40,000 steps: half an hour
    python tests/sweeps/sweep_crafter.py --worlds 0 --steps 5000 --jobs 2

Half of the episodes are compared with a crafter whose sets keep their order. In the others crafter is as it is, and
cypool follows the order in which it chose. Compares pictures, rewards, ends, infos and the random stream after each
step, and all of the world after each tenth. The styles go from random actions to a player that works through the
achievements; some get things or health, the same in both games. Ends with 1 if there is a difference.
"""
import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from crafter_play import STYLES, Duel, play

from cypool.envs.crafter.assets import ACHIEVEMENTS

SIZES = ({}, {"area": (37, 52), "view": (7, 9), "size": (72, 100)},
         {"area": (16, 80), "view": (11, 8), "size": (96, 84)}, {"area": (8, 8), "view": (17, 15), "size": (130, 150)},
         {"view": (1, 17), "size": (10, 40), "length": 150}, {"area": (80, 16), "view": (5, 6), "size": (50, 61)})
LONGEST = {"farmer": 800, "immortal": 1500}


def play_episode(task):
    """Returns what happened in an episode; raises AssertionError where the two differ."""
    number, style, ordered, options, num_steps = task
    duel = Duel(number, ordered, num_threads=(0, 1, 2, 5)[number % 4], **options)
    with duel.ours:
        play(duel, style, np.random.default_rng(number), min(num_steps, LONGEST.get(style, 500)))
    return duel.seen


def compare_world(seed):
    """Compares the second and the third world of a seed."""
    duel = Duel(seed, True)
    with duel.ours:
        for _ in range(1 + seed % 2):
            duel.reset()
    return duel.seen


def tasks(num_steps):
    """Yields episodes without end."""
    number = 0
    while True:
        for options in SIZES:
            for style in STYLES:
                yield number, style, bool(number % 2), options, num_steps
                number += 1
        # so that each style and size comes both ways
        number += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=500)
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    seen, failed = Counter(), 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        waiting, source = [], tasks(arguments.steps)
        while seen["steps"] < arguments.steps:
            waiting += [pool.submit(play_episode, next(source)) for _ in range(2 * arguments.jobs - len(waiting))]
            try:
                seen += waiting.pop(0).result()
            except AssertionError as error:
                print("differs:", *error.args, flush=True)
                failed += 1
        worlds = 0
        for each in pool.map(compare_world, range(1_000_000, 1_000_000 + arguments.worlds)):
            worlds += each["episodes"]
            if worlds >= arguments.worlds:
                break
    print(", ".join(f"{name} {count:,}" for name, count in sorted(seen.items())))
    print(f"{worlds} worlds more; without: {', '.join(set(ACHIEVEMENTS) - set(seen)) or 'none'} of the achievements")
    print(f"{failed} episodes differ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
