"""Compares the robotic warehouse with rware, exactly: 27 ids and sets of options in three autoreset modes.

Compares observations, rewards and ends of agents and environments, and random streams. Agents work, crowd and turn in
circles.
"""
from functools import partial

from envs.rware.play import VARIANTS, players
from sweeping import Run, parity

from cypool.envs.family import matches

DEFAULTS = {"num_steps": 400}


def add_arguments(parser):
    parser.add_argument("--num-envs", type=int, default=3)


def compare(number, id, **options):
    with players(number):
        return parity(id, num_threads=2 * (number % 2), **options)


def runs(arguments):
    for number, (id, options) in enumerate(VARIANTS):
        for mode in ("NextStep", "SameStep", "Disabled") if matches(id, tuple(arguments.patterns) or ("*",)) else ():
            yield Run(id, f"{options} {mode} {arguments.seeds}", partial(
                compare, number, id, num_envs=arguments.num_envs, num_steps=arguments.num_steps,
                seeds=arguments.seeds, autoreset_mode=mode, **options))
