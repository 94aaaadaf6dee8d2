"""Procgen next to its library's own painter and to EnvPool, with random actions and resets.

EnvPool needs Qt 5 (apt install libqt5gui5).
"""
import numpy as np
from measuring import Table, chosen, envpool, steps_of

import cypool
from cypool.envs.procgen.games import GAMES

DEFAULTS = {}


def add_arguments(parser):
    parser.add_argument("--mode", default="hard")


def rows(arguments):
    num_envs, mode = arguments.num_envs, arguments.mode
    actions = np.random.default_rng(1).integers(15, size=(20, num_envs)).astype(np.int32)
    for game in chosen(GAMES, arguments.patterns):
        made = {painter: cypool.make(f"procgen-{game}-v0", num_envs=num_envs, num_threads=arguments.num_threads, seed=3,
                                     distribution_mode=mode, painter=painter) for painter in ("cypool", "library")}
        made["EnvPool"] = envpool(f"{game.capitalize()}{mode.capitalize()}-v0", num_envs, channel_first=False)
        yield game, {name: steps_of(env, actions, num_envs) for name, env in made.items()}


TABLES = {"steps": Table(rows, ("cypool", "library", "EnvPool"),
                         (("library", "cypool"), ("EnvPool", "cypool"), ("EnvPool", "library")))}
