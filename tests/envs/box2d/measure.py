"""Box2D's environments next to EnvPool and a bare loop in C++; with `--table one` next to Gymnasium and that loop.

Actions are random, and resets count. The loop is bare.cpp, which needs g++ and Box2D's sources, as the build finds
them: this runs in the source tree.
"""
import ctypes
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import gymnasium
import numpy as np
from measuring import ROOT, Table, chosen, envpool, random_actions, steps_of

import cypool

DEFAULTS = {"num_threads": 2}
IDS = ["LunarLander-v3", "BipedalWalker-v3", "BipedalWalkerHardcore-v3", "CarRacing-v3"]


@functools.cache
def compiled():
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    from build_tools.library import declared_in

    with tempfile.TemporaryDirectory() as folder:
        box2d = declared_in(Path("cypool/envs/box2d")).prepare(Path(folder))
        objects = [f"{folder}/{k}.o" for k in range(len(box2d.units))]
        for unit, path in zip(box2d.units, objects, strict=True):
            includes = [f"-I{each}" for each in unit.include_dirs]
            subprocess.run(["g++", *unit.flags, *includes, "-c", unit.source, "-o", path], check=True)
        includes = [f"-I{each}" for each in (*box2d.include_dirs, ROOT, ROOT / "include",
                                             ROOT / "cypool/envs/box2d/library")]
        source, library = Path(__file__).with_name("bare.cpp"), f"{folder}/bare.so"
        subprocess.run(["g++", "-std=c++20", "-O3", "-ffp-contract=off", "-shared", "-fPIC", "-pthread", *box2d.flags,
                        *includes, source, *objects, "-o", library], check=True)
        return ctypes.CDLL(library).run


def bare_loop(id, num_threads, actions):
    """Returns a candidate: takes the actions in the loop."""
    run, actions = compiled(), np.ascontiguousarray(actions)
    steps, num_envs = actions.shape[:2]

    def candidate():
        run(IDS.index(id), num_envs, actions.ctypes.data_as(ctypes.c_void_p), steps, num_threads)
        return steps * num_envs

    return candidate


def gymnasiums_loop(id, actions):
    """Returns a candidate: takes the actions in one environment of Gymnasium."""
    env = gymnasium.make(id, disable_env_checker=True)
    env.reset(seed=0)

    def run():
        for action in actions[:, 0]:
            if env.step(action if np.ndim(action) else int(action))[2:4] != (False, False):
                env.reset()
        return len(actions)

    return run


def prepared(arguments, num_envs, num_threads):
    """Yields ids, pools and random actions."""
    for id in chosen(IDS, arguments.patterns):
        env = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0)
        yield id, env, random_actions(env.single_action_space, 20 if id == "CarRacing-v3" else 200, num_envs)


def many(arguments):
    num_envs, num_threads = arguments.num_envs, arguments.num_threads
    for id, env, actions in prepared(arguments, num_envs, num_threads):
        yield f"`{id}`", {"cypool": steps_of(env, actions), "bare loop": bare_loop(id, num_threads, actions),
                          "EnvPool": steps_of(envpool(id, num_envs, num_threads), actions, num_envs)}


def one(arguments):
    for id, env, actions in prepared(arguments, 1, 0):
        yield f"`{id}`", {"cypool": steps_of(env, actions), "bare loop": bare_loop(id, 1, actions),
                          "Gymnasium": gymnasiums_loop(id, actions)}


TABLES = {"many": Table(many, ("cypool", "EnvPool", "bare loop"), clocks=("wall", "CPU")),
          "one": Table(one, ("cypool", "Gymnasium", "bare loop"))}
