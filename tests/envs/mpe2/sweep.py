"""Compares MPE2 with mpe2, exactly: all ids with 66 sets of options in three autoreset modes.

Compares observations, rewards and ends of agents and environments, and random streams. Players go for each other, leave
the picture and succeed. Every second set of options plays with threads.
"""
from functools import partial

from envs.mpe2.play import VARIANTS, players
from sweeping import Run, chosen, parity

DEFAULTS = {"num_steps": 150}


def add_arguments(parser):
    parser.add_argument("--num-envs", type=int, default=3)


def compare(number, id, **options):
    with players(number):
        return parity(id, num_threads=2 * (number % 2), **options)


def runs(arguments):
    for id in chosen(VARIANTS, arguments.patterns):
        for number, options in enumerate(VARIANTS[id]):
            for mode in ("NextStep", "SameStep", "Disabled"):
                yield Run(id, f"{options} {mode} {arguments.seeds}", partial(
                    compare, number, f"mpe2/{id}", num_envs=arguments.num_envs, num_steps=arguments.num_steps,
                    seeds=arguments.seeds, autoreset_mode=mode, **options))
