"""Plays cypool's Crafter next to crafter in eight styles and six sizes, and compares all, exactly.

Half of the episodes are compared with a crafter whose sets keep their order. In the others crafter is as it is, and
cypool follows the order in which it chose. Compares pictures, rewards, ends, infos and the random stream after each
step, and all of the world after each tenth. The styles go from random actions to a player that works through the
achievements; some get things or health, the same in both games. By default half an hour on one core; patterns are of
styles, and of "worlds".
"""
from functools import partial

import numpy as np
from envs.crafter.play import STYLES, Duel, play
from sweeping import Run, chosen

SIZES = ({}, {"area": (37, 52), "view": (7, 9), "size": (72, 100)},
         {"area": (16, 80), "view": (11, 8), "size": (96, 84)}, {"area": (8, 8), "view": (17, 15), "size": (130, 150)},
         {"view": (1, 17), "size": (10, 40), "length": 150}, {"area": (80, 16), "view": (5, 6), "size": (50, 61)})
LONGEST = {"farmer": 800, "immortal": 1500}
DEFAULTS = {"num_steps": 1500}


def add_arguments(parser):
    parser.add_argument("--episodes", type=int, default=96, help="48 have each style and size once")
    parser.add_argument("--worlds", type=int, default=500)


def play_episode(number, style, ordered, options, num_steps):
    """Returns counts of an episode's events; raises AssertionError where the two differ."""
    duel = Duel(number, ordered, num_threads=(0, 1, 2, 5)[number % 4], **options)
    with duel.ours:
        play(duel, style, np.random.default_rng(number), min(num_steps, LONGEST.get(style, 500)))
    return duel.seen


def compare_worlds(seed):
    """Compares the first worlds of a seed: one, or two."""
    duel = Duel(seed, True)
    with duel.ours:
        for _ in range(1 + seed % 2):
            duel.reset()
    return duel.seen


def runs(arguments):
    for style in chosen(STYLES, arguments.patterns):
        for number in range(arguments.episodes):
            at, size = divmod(number, len(SIZES) * len(STYLES))
            if STYLES[size % len(STYLES)] == style:
                # each style and size comes both ways
                ordered = bool((number + at) % 2)
                yield Run(style, f"{number}, at most {arguments.num_steps} steps", partial(
                    play_episode, number, style, ordered, SIZES[size // len(STYLES)], arguments.num_steps))
    if chosen(["worlds"], arguments.patterns):
        for seed in range(0, 2 * arguments.worlds // 3 + 1 if arguments.worlds else 0):
            yield Run("worlds", str(seed), partial(compare_worlds, 1_000_000 + seed))
