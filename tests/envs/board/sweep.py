"""Compares board games with OpenSpiel over many random matches, in three autoreset modes."""
from functools import partial

from envs.board.test_board import LOSES, VARIANTS
from sweeping import Run, parity

from cypool.envs.family import matches

DEFAULTS = {"num_steps": 3000}


def add_arguments(parser):
    parser.add_argument("--num-envs", type=int, default=16)


def runs(arguments):
    for id, options in [*VARIANTS, *((id, {**LOSES, **options}) for id, options in VARIANTS)]:
        for mode in ("NextStep", "SameStep", "Disabled") if matches(id, tuple(arguments.patterns) or ("*",)) else ():
            yield Run(id, f"{options} {mode} {arguments.seeds}", partial(
                parity, id, num_threads=0, num_envs=arguments.num_envs, num_steps=arguments.num_steps,
                seeds=arguments.seeds, autoreset_mode=mode, **options))
