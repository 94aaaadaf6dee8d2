"""Compares Gymnasium-Robotics with gymnasium-robotics: all ids, both dtypes of actions, by the seed, through resets."""
from functools import partial

from sweeping import Run, chosen, ids_of, parity

DEFAULTS = {"num_steps": 110, "seeds": [0, 1]}


def runs(arguments):
    for id in chosen(ids_of("robotics"), arguments.patterns):
        for seed in arguments.seeds:
            # resets within each run
            options = {"action_dtype": "float64" if seed % 2 else "float32",
                       "max_episode_steps": arguments.num_steps // 2 + seed}
            yield Run(id, f"seed {seed}", partial(parity, id, num_envs=1, num_steps=arguments.num_steps, seeds=[seed],
                                                  num_threads=0, **options))
