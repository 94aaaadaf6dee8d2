"""Crafter next to crafter, with infos: resets, and steps with their share of resets.

Actions are moves, "do" and "noop" at random. `--table steps` leaves the resets out. A reset of crafter takes most of a
second: a round has `--steps-of-crafter` steps.
"""
import time

import crafter
import numpy as np
from measuring import Table, chosen, resets_of

import cypool

DEFAULTS = {"seconds": 2.0}
ACTIONS = np.array([1, 2, 3, 4, 5, 5, 5, 0])
# without pictures the map of the world is left out, too
ROWS = {"pictures": {}, "pictures, no map": {"semantic": False},
        "semantic": {"obs_type": "semantic", "semantic": False},
        "symbolic": {"obs_type": "symbolic", "semantic": False}}


def add_arguments(parser):
    parser.add_argument("--steps-of-crafter", type=int, default=800)


def our_steps(env, with_resets):
    """Returns a candidate: steps until episodes have ended as often as there are environments."""
    chance = np.random.default_rng(0)

    def run():
        steps = ended = 0
        begin = time.process_time()
        env.reset()
        reset = (time.process_time() - begin) / env.num_envs
        begin = time.process_time()
        while ended < env.num_envs:
            _, _, terminated, truncated, _ = env.step(ACTIONS[chance.integers(len(ACTIONS), size=env.num_envs)])
            steps += env.num_envs
            ended += int((terminated | truncated).sum())
        spent = time.process_time() - begin
        return (steps, spent) if with_resets else (steps - ended, spent - ended * reset)

    return run


def their_steps(env, num_steps, with_resets):
    """Returns a candidate: steps of crafter."""
    chance, is_over = np.random.default_rng(0), [True]

    def run():
        spent, count = 0.0, 0
        for action in ACTIONS[chance.integers(len(ACTIONS), size=num_steps)]:
            begin, is_reset = time.process_time(), is_over[0]
            if is_reset:
                env.reset()
            is_over[0] = not is_reset and env.step(action)[2]
            if with_resets or not is_reset:
                spent += time.process_time() - begin
                count += 1
        return count, spent

    return run


def prepared(arguments):
    for name in chosen(ROWS, arguments.patterns):
        yield name, cypool.make("CrafterReward-v1", num_envs=arguments.num_envs, num_threads=arguments.num_threads,
                                seed=0, **ROWS[name]), crafter.Env(seed=0)


def steps(with_resets):
    def rows(arguments):
        for name, ours, theirs in prepared(arguments):
            yield name, {"cypool": our_steps(ours, with_resets),
                         "crafter": their_steps(theirs, arguments.steps_of_crafter, with_resets)}
    return rows


def resets(arguments):
    for name, ours, theirs in prepared(arguments):
        yield name, {"cypool": resets_of(ours), "crafter": resets_of(theirs)}


NAMES = ("cypool", "crafter")
TABLES = {"with-resets": Table(steps(True), NAMES), "steps": Table(steps(False), NAMES),
          "resets": Table(resets, NAMES)}
