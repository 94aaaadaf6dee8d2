"""Compares Meta-World with metaworld: all tasks with scripted policies, both dtypes, all ways to choose goals.

Three environments are played: by a policy, by a policy with noise, and by actions that are held. Episodes that are
terminated are those that a policy solved.
"""
from functools import partial

from sweeping import Run, chosen, parity

from cypool.envs.metaworld.tasks import TASKS

DEFAULTS = {"num_steps": 1100, "seeds": [0, 1, 2]}
# by the seed: few goals are found again, so that resets start where an earlier one did
OPTIONS = [
    {"action_dtype": "float32", "num_goals": 2},
    {"action_dtype": "float64", "partially_observable": True, "task_select": "pseudorandom", "num_goals": 3,
     "sample_tasks_on_reset": True, "max_episode_steps": 211},
    {"action_dtype": "float64", "task_select": "fresh", "terminate_on_success": True, "max_episode_steps": 400},
    {"action_dtype": "float32", "use_one_hot": True, "num_tasks": 3, "recurrent_info_in_obs": True,
     "terminate_on_success": True},
]


def add_arguments(parser):
    parser.add_argument("--version", default="v2", choices=["v1", "v2"], help="of the rewards")


def runs(arguments):
    for task in chosen(TASKS, arguments.patterns):
        for seed in arguments.seeds:
            yield Run(task, f"seed {seed}, {arguments.version}", partial(
                parity, f"Meta-World/{task}", num_envs=3, num_steps=arguments.num_steps, seeds=[seed], num_threads=0,
                autoreset_mode=("NextStep", "SameStep", "Disabled")[seed % 3],
                reward_function_version=arguments.version, **OPTIONS[seed % 4]))
