"""Compares MaMuJoCo with gymnasium-robotics, exactly: 210 sets of options of 14 robots.

Compares observations, rewards, ends and infos of agents and environments, and random streams. Three seeds bring three
autoreset modes. The pools have three environments, so that robots step in lanes where they can.
"""
from functools import partial

from envs.mamujoco.variants import variants
from pool_arguments import MODES
from sweeping import Run, chosen, parity

DEFAULTS = {"num_steps": 150, "seeds": [0, 1, 2]}


def runs(arguments):
    for number, (id, options) in enumerate(variants()):
        for seed in arguments.seeds if chosen([id], arguments.patterns) else ():
            yield Run(id, f"{options} seed {seed}", partial(
                parity, id, num_envs=3, num_steps=arguments.num_steps, seeds=[seed], num_threads=2 * (number % 2),
                autoreset_mode=MODES[(number // 2 + seed) % 3], max_episode_steps=60, **options))
