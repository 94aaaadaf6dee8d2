"""OpenSpiel's games next to OpenSpiel in Python: random legal actions, observations and masks; resets included.

With `--table bare` next to a loop in C++ (bare.cpp, which needs g++).
"""
import ctypes
import functools
import itertools
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from measuring import ROOT, Table, chosen, steps_of

import cypool
from cypool.envs.openspiel import library

DEFAULTS = {"num_envs": 256}
IDS = {"openspiel/chess-v0": {}, "openspiel/go-v0": {"board_size": 9}, "openspiel/backgammon-v0": {},
       "openspiel/leduc_poker-v0": {}, "openspiel/hearts-v0": {}, "openspiel/goofspiel-v0": {}}
SEQUENTIAL = tuple(IDS)[:-1]
STEPS = 4


def made(id, arguments):
    env = cypool.make(id, num_envs=arguments.num_envs, num_threads=arguments.num_threads, seed=0, **IDS[id])
    env.reset()
    return env


def rollout(id, arguments):
    """Returns a candidate: a rollout with a policy that draws legal actions."""
    env = made(id, arguments)
    policy, buffers = cypool.RandomPolicy(env.env_spec), env.rollout_buffers(STEPS)

    def run():
        env.rollout(STEPS, policy=policy, out=buffers)
        return STEPS * env.num_envs

    return run


def loop(id, arguments):
    """Returns a candidate: draws legal actions, then steps; in Python."""
    env = made(id, arguments)
    return steps_of(env, range(STEPS), step=lambda _: env.step(env.sample_legal()))


def name_of(id):
    return id.removeprefix("openspiel/").removesuffix("-v0")


def of_pyspiel(id):
    """Returns a candidate: OpenSpiel's states, from Python, with what their mover sees."""
    import pyspiel

    game = pyspiel.load_game(name_of(id), IDS[id])
    has_information_state = game.get_type().provides_information_state_tensor
    random, state = np.random.default_rng(0), game.new_initial_state()

    def run():
        nonlocal state
        num_steps = 0
        for _ in range(100):
            if state.is_terminal():
                state = game.new_initial_state()
            if state.is_chance_node():
                outcomes, p = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(random.choice(outcomes, p=p))
                continue
            together = state.current_player() < 0
            seats = range(game.num_players()) if together else (state.current_player(),)
            actions = []
            for seat in seats:
                _ = state.information_state_tensor(seat) if has_information_state else state.observation_tensor(seat)
                legal = state.legal_actions(seat)
                actions.append(legal[int(random.random() * len(legal))])
            state.apply_actions(actions) if together else state.apply_action(actions[0])
            num_steps += 1
        return num_steps

    return run


def of_rl_environment(id):
    """Returns a candidate: OpenSpiel's `rl_environment`, which shows all players all."""
    from open_spiel.python.rl_environment import Environment

    env = Environment(name_of(id), **IDS[id])
    random, last = np.random.default_rng(0), env.reset()

    def run():
        nonlocal last
        for _ in itertools.repeat(None, 50):
            seen = last.observations
            if last.last():
                last = env.reset()
                continue
            together = seen["current_player"] < 0
            legal = seen["legal_actions"] if together else [seen["legal_actions"][seen["current_player"]]]
            last = env.step([each[int(random.random() * len(each))] for each in legal])
        return 50

    return run


@functools.cache
def compiled():
    with tempfile.TemporaryDirectory() as folder:
        source = Path(__file__).with_name("bare.cpp")
        subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", "-I", ROOT, source, "-ldl", "-o",
                        f"{folder}/bare.so"], check=True)
        functions = ctypes.CDLL(f"{folder}/bare.so")
    functions.begin.restype = ctypes.c_void_p
    return functions


def bare_loop(id, arguments):
    """Returns a candidate: the loop of bare.cpp."""
    text = f"{name_of(id)}({','.join(f'{key}={value}' for key, value in IDS[id].items())})"
    loop = ctypes.c_void_p(compiled().begin(library.find().encode(), text.encode(), arguments.num_envs, STEPS))
    return lambda: (compiled().run(loop, STEPS), STEPS * arguments.num_envs)[1]


def bare_rows(arguments):
    for id in chosen(SEQUENTIAL, arguments.patterns):
        yield f"`{id}`", {"rollout": rollout(id, arguments), "bare loop": bare_loop(id, arguments)}


def rows(arguments):
    for id in chosen(IDS, arguments.patterns):
        name = f"`{id}`" + "".join(f", `{key}={value}`" for key, value in IDS[id].items())
        yield name, {"pyspiel": of_pyspiel(id), "rl_environment": of_rl_environment(id), "loop": loop(id, arguments),
                     "rollout": rollout(id, arguments)}


TABLES = {"steps": Table(rows, ("rollout", "loop", "pyspiel", "rl_environment"),
                         (("pyspiel", "loop"), ("rl_environment", "loop"))),
          "bare": Table(bare_rows, ("rollout", "bare loop"))}
