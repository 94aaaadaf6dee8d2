"""Compares highway-env with the package, exactly: all ids with 74 sets of options in three autoreset modes."""
from functools import partial

from envs.highway.play import VARIANTS, players
from sweeping import Run, chosen, parity

DEFAULTS = {"num_steps": 60}


def compare(number, id, **options):
    with players(number):
        return parity(id, num_threads=0, num_envs=2, **options)


def runs(arguments):
    for id in chosen(VARIANTS, arguments.patterns):
        for number, options in enumerate(VARIANTS[id]):
            mode = ("NextStep", "SameStep", "Disabled")[number % 3]
            yield Run(id, f"{options} {mode} {arguments.seeds}", partial(
                compare, number, id, num_steps=arguments.num_steps, seeds=arguments.seeds, autoreset_mode=mode,
                **options))
