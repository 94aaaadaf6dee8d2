"""Compares Craftax with craftax: ids, options, autoreset modes, and play from randomly edited states on all floors.

JAX compiles for minutes: set `JAX_COMPILATION_CACHE_DIR`.
"""
from collections import Counter
from functools import partial

from envs.craftax.play import CHANGES, CLASSIC, FULL, OPTIONS, PIXELS, Duel, play
from sweeping import Run, chosen, parity

DEFAULTS = {"num_steps": 2500}


def add_arguments(parser):
    parser.add_argument("--duels", type=int, default=10, help="of each game, with 400 changes of up to 12 steps each")


def runs(arguments):
    def random_play(id, options):
        return sum((parity(id, num_envs=2, num_steps=arguments.num_steps, seeds=[seed], num_threads=seed % 3,
                           autoreset_mode=mode, **options)
                    for mode in ("NextStep", "SameStep", "Disabled") for seed in arguments.seeds), Counter())

    def duels(id):
        return sum((play(Duel(id, seed), CHANGES[id], 400, 12) for seed in range(arguments.duels)), Counter())

    # a process for each: it takes JAX most of a minute to trace a game
    for id, options in [case for case in OPTIONS + PIXELS if chosen(case[:1], arguments.patterns)]:
        yield Run(id, str(options), partial(random_play, id, options))
    for id in chosen((CLASSIC, FULL), arguments.patterns):
        yield Run(id, "from changed states", partial(duels, id))
