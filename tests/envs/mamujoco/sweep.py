"""Compares MaMuJoCo with gymnasium-robotics, exactly: 210 sets of options of 14 robots in three autoreset modes.

Compares observations, rewards, ends and infos of agents and environments, and random streams. The pools have three
environments, so that robots step in lanes where they can.
"""
from functools import partial

from envs.mamujoco.variants import variants
from pool_arguments import MODES
from sweeping import Run, chosen, parity

DEFAULTS = {"num_steps": 150, "seeds": [0, 1, 2]}


def runs(arguments):
    for number, (id, options) in enumerate(variants()):
        for mode in MODES if chosen([id], arguments.patterns) else ():
            yield Run(id, f"{options} {mode} {arguments.seeds}", partial(
                parity, id, num_envs=3, num_steps=arguments.num_steps, seeds=arguments.seeds,
                num_threads=2 * (number % 2), autoreset_mode=mode, max_episode_steps=60, **options))
