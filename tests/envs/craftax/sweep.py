"""Compares Craftax with craftax, exactly: ids, options, autoreset modes, and play from states that chance has changed.

Changed states are on all floors: fights, the boss, tables, chests, ladders, books, potions and plants. The package is
compiled for some minutes the first time; set `JAX_COMPILATION_CACHE_DIR`.
"""
from collections import Counter
from functools import partial

from envs.craftax.play import CHANGES, CLASSIC, FULL, OPTIONS, PIXELS, Duel, play
from sweeping import Run, chosen, parity

DEFAULTS = {"num_steps": 2500}


def add_arguments(parser):
    parser.add_argument("--duels", type=int, default=10, help="from changed states, of each game")
    parser.add_argument("--changes", type=int, default=400, help="in each duel, with up to 12 steps each")


def _all_modes(id, seeds, num_steps, options):
    return sum((parity(id, num_envs=2, num_steps=num_steps, seeds=[seed], num_threads=seed % 3, autoreset_mode=mode,
                       **options) for mode in ("NextStep", "SameStep", "Disabled") for seed in seeds), Counter())


def _duels(id, duels, changes):
    return sum((play(Duel(id, seed), CHANGES[id], changes, 12) for seed in range(duels)), Counter())


def runs(arguments):
    for id, options in OPTIONS + PIXELS:
        if chosen([id], arguments.patterns):
            # one process: it takes JAX most of a minute to trace a game
            yield Run(id, str(options), partial(_all_modes, id, arguments.seeds, arguments.num_steps, options))
    for id in chosen((CLASSIC, FULL), arguments.patterns):
        yield Run(id, "from changed states", partial(_duels, id, arguments.duels, arguments.changes))
