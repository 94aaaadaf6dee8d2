"""Compares all games of OpenSpiel that have tensors with its `rl_environment`."""
from collections import Counter
from functools import partial

from envs.openspiel.rl_environment import assert_equal, kinds
from sweeping import Run

from cypool.envs.family import matches

DEFAULTS = {"num_steps": 300}


def runs(arguments):
    for name in kinds():
        if matches(f"openspiel/{name}-v0", tuple(arguments.patterns) or ("*",)):
            for seed in arguments.seeds:
                yield Run(f"openspiel/{name}-v0", f"seed {seed}", partial(compare, name, arguments.num_steps, seed))


def compare(name, num_steps, seed):
    return Counter(steps=num_steps, episodes=assert_equal(name, num_steps, seed))
