"""Compares MPE2 with mpe2, exactly: all ids with 66 sets of options in three autoreset modes.

Compares observations, rewards and ends of agents and environments, and random streams. Players go for each other, leave
the picture and succeed. Every second set of options plays with threads.
"""
from functools import partial

from envs.mpe2.play import VARIANTS, players
from sweeping import played_runs

DEFAULTS = {"num_steps": 150}
runs = partial(played_runs, [(f"mpe2/{id}", options) for id, sets in VARIANTS.items() for options in sets], players)
