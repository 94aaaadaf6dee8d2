"""Compares level-based foraging with lbforaging, exactly: 36 ids and sets of options in three autoreset modes.

Compares observations, rewards and ends of players and environments, and random streams. Players go for food, alone and
together, and for each other.
"""
from functools import partial

from envs.lbf.play import VARIANTS, players
from sweeping import played_runs

DEFAULTS = {"num_steps": 400}
runs = partial(played_runs, VARIANTS, players)
