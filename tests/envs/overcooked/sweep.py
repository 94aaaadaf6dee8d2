"""Compares Overcooked with overcooked_ai, exactly: all layouts and 11 sets of options in three autoreset modes.

Compares observations, rewards, ends and infos of agents and environments. Cooks fill pots, serve soups and collide.
"""
from functools import partial

from envs.overcooked.play import VARIANTS, players
from sweeping import played_runs

from cypool.envs.overcooked.layouts import names

DEFAULTS = {"num_steps": 1000}
runs = partial(played_runs, [(f"Overcooked-{name}-v0", {}) for name in names()] + VARIANTS, players)
