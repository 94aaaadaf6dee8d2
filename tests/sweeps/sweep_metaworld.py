"""Compares Meta-World with metaworld: all tasks with scripted policies, both dtypes, all ways to choose goals.

    python tests/sweeps/sweep_metaworld.py [PATTERN ...] [--num-steps 1100] [--seeds 0 1 2] [--version v1]

Takes metaworld. Three environments are played: by a policy, by a policy with noise, and by actions that are held.
Prints the number of steps that were compared, and of tasks that a policy solved. Ends with 1 if a step differs.
"""
import argparse
import fnmatch
import sys
import warnings

import cypool
from cypool.envs.metaworld.tasks import TASKS
from cypool.testing import ParityError, check_parity

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("patterns", nargs="*", default=["*"])
parser.add_argument("--num-steps", type=int, default=1100)
parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
parser.add_argument("--version", default="v2", choices=["v1", "v2"], help="of the rewards")
arguments = parser.parse_args()
warnings.simplefilter("ignore")

# by the seed: few goals are found again, so that resets start where an earlier one did
OPTIONS = [
    {"action_dtype": "float32", "num_goals": 2},
    {"action_dtype": "float64", "partially_observable": True, "task_select": "pseudorandom", "num_goals": 3,
     "sample_tasks_on_reset": True, "max_episode_steps": 211},
    {"action_dtype": "float64", "task_select": "fresh", "terminate_on_success": True, "max_episode_steps": 400},
    {"action_dtype": "float32", "use_one_hot": True, "num_tasks": 3, "recurrent_info_in_obs": True,
     "terminate_on_success": True},
]
steps = episodes = solved = differences = 0
tasks = [task for task in TASKS if any(fnmatch.fnmatch(task, pattern) for pattern in arguments.patterns)]
for task in tasks:
    ended = 0
    for seed in arguments.seeds:
        try:
            parity = check_parity(f"Meta-World/{task}", num_envs=3, num_steps=arguments.num_steps, seeds=[seed],
                                  num_threads=0, autoreset_mode=("NextStep", "SameStep", "Disabled")[seed % 3],
                                  reward_function_version=arguments.version, **OPTIONS[seed % 4])
        except (ParityError, cypool.EnvError) as error:
            differences += 1
            print(error, flush=True)
            continue
        steps += 3 * parity.num_steps
        episodes += parity.num_episodes
        ended += parity.num_terminated
    solved += ended > 0
    print(f"{task}: {ended} episodes ended with success", flush=True)
print(f"{len(tasks)} tasks, {steps} steps, {episodes} episodes, {solved} tasks solved, {differences} differences")
sys.exit(differences > 0)
