"""Compares the robotic warehouse with rware, exactly: 27 ids and sets of options in three autoreset modes.

Compares observations, rewards and ends of agents and environments, and random streams. Agents work, crowd and turn in
circles.
"""
from functools import partial

from envs.rware.play import VARIANTS, players
from sweeping import played_runs

DEFAULTS = {"num_steps": 400}
runs = partial(played_runs, VARIANTS, players)
