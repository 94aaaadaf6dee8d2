"""NetHack next to NLE: the same games, with the same seeds, clock and random actions, until the first one ends.

NLE's own Gymnasium environments are stepped one after the other, without the wrapper that has them draw as cypool does.
With `--table vector`: wall time next to Gymnasium's AsyncVectorEnv, on a machine that does nothing else.
"""
import itertools
import time

import gymnasium
import numpy as np
from measuring import Table, chosen, random_actions, steps_of

import cypool
from cypool.envs.nethack.reference import Reference

DEFAULTS = {"rounds": 7, "seconds": 0.0}
FEW = ("glyphs", "blstats", "message")
ROWS = {"Score, default keys": ("NetHackScore-v0", {}),
        "Score, three keys": ("NetHackScore-v0", {"observation_keys": FEW}),
        "NetHack, default keys": ("NetHack-v0", {}), "Challenge, default keys": ("NetHackChallenge-v0", {})}


def add_arguments(parser):
    parser.add_argument("--num-steps", type=int, default=1200, help="of a round, of all environments together")
    parser.add_argument("--envs", type=int, nargs="+", default=[1, 8])


class Ours:
    """A pool."""

    def __init__(self, id, num_envs, options):
        self.env = cypool.make(id, num_envs=num_envs, num_threads=0, autoreset_mode="Disabled", **options)

    def reset(self, seed):
        self.env.reset(seed=seed)

    def step(self, actions):
        return self.env.step(actions)[2].any()


class Theirs:
    """NLE's environments."""

    def __init__(self, id, num_envs, options):
        spec = cypool.make_spec(id, **options)
        self.envs = [Reference(spec.options, None) for _ in range(num_envs)]

    def reset(self, seed):
        for k, env in enumerate(self.envs):
            env.reset(seed=seed + k)

    def step(self, actions):
        ended = [env.nle.step(action)[2] for env, action in zip(self.envs, actions.tolist(), strict=True)]
        return any(ended)


def games_of(kind, id, num_envs, options, num_steps):
    """Returns a candidate for steps, and one for resets: each call plays the games of the next seed."""
    side, space = kind(id, num_envs, options), cypool.make_spec(id).action
    seeds = {name: itertools.count(100) for name in ("steps", "resets")}

    def steps():
        seed, steps = next(seeds["steps"]), 0
        side.reset(seed)
        actions = np.random.default_rng(seed).integers(space.n, size=(num_steps // num_envs, num_envs))
        begin = time.process_time()
        for row in actions:
            steps += num_envs
            if side.step(row):
                break
        return steps, time.process_time() - begin

    def resets():
        side.reset(next(seeds["resets"]))
        return num_envs

    return steps, resets


def games(which):
    def rows(arguments):
        for name in chosen(ROWS, arguments.patterns):
            id, options = ROWS[name]
            for num_envs in arguments.envs:
                yield f"{name}, {num_envs}", {
                    side: games_of(kind, id, num_envs, options, arguments.num_steps)[which]
                    for side, kind in (("cypool", Ours), ("NLE", Theirs))}
    return rows


def vector(arguments):
    for id in chosen(("NetHackScore-v0", "NetHackChallenge-v0"), arguments.patterns):
        for num_envs in (2, 8):
            theirs = gymnasium.vector.AsyncVectorEnv(
                [lambda id=id: gymnasium.make(id, disable_env_checker=True) for _ in range(num_envs)])
            ours = cypool.make(id, num_envs=num_envs, seed=1)
            actions = random_actions(ours.single_action_space, arguments.num_steps // num_envs, num_envs)
            yield f"`{id}`, {num_envs}", {"cypool": steps_of(ours, actions),
                                          "AsyncVectorEnv": steps_of(theirs, actions)}
            theirs.close()


TABLES = {"steps": Table(games(0), ("cypool", "NLE")), "resets": Table(games(1), ("cypool", "NLE")),
          "vector": Table(vector, ("cypool", "AsyncVectorEnv"), clocks=("wall",))}
