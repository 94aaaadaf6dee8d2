"""Compares all tasks of the DeepMind Control Suite with dm_control, over thousands of steps, on all cores.

    python tests/sweeps/sweep_dm_control.py
    python tests/sweeps/sweep_dm_control.py --steps 2000 "walker-*" "dog-fetch"

Each task with several seeds, in episodes of 1000 steps and, in turn by seed, in one of the three autoreset modes; then
with episodes of 25 steps, for its resets. Ends with 1 if a task differs.
"""
import argparse
import fnmatch
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

MODES = ("NextStep", "SameStep", "Disabled")


def compare(task, seed, steps):
    """Returns the task, and what differs, "" for nothing, and how many steps and episodes were compared."""
    from cypool.envs.dm_control.reference import load
    from cypool.testing import check_parity

    domain, name = task.split("-")
    short = 25 * load(domain, name, 0).control_timestep()
    num_steps = num_episodes = 0
    try:
        for limit, share in ((None, 0.9), (short, 0.1)):
            options = {} if limit is None else {"time_limit": limit}
            parity = check_parity(f"dm_control/{task}-v0", num_envs=1, num_steps=int(steps * share), seeds=(seed,),
                                  num_threads=0, autoreset_mode=MODES[seed % 3], **options)
            num_steps, num_episodes = num_steps + parity.num_steps, num_episodes + parity.num_episodes
    except Exception as error:
        return task, f"{type(error).__name__}: {error}", num_steps, num_episodes
    return task, "", num_steps, num_episodes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=["*"], help="patterns of domain-task")
    parser.add_argument("--steps", type=int, default=10_000, help="of each seed")
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()

    from cypool.envs.dm_control.tasks import DOMAINS

    tasks = [f"{domain}-{task}" for domain in DOMAINS for task in DOMAINS[domain].tasks]
    tasks = [task for task in tasks if any(fnmatch.fnmatchcase(task, pattern) for pattern in arguments.tasks)]
    began, steps, episodes, different = time.monotonic(), 0, 0, 0
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), multiprocessing.get_context("spawn")) as pool:
        runs = [pool.submit(compare, task, seed, arguments.steps)
                for task in tasks for seed in range(arguments.seeds)]
        for run in as_completed(runs):
            task, difference, num_steps, num_episodes = run.result()
            steps, episodes, different = steps + num_steps, episodes + num_episodes, different + bool(difference)
            print(f"{task}: {difference or 'equal'}", flush=True)
    print(f"{len(tasks)} tasks x {arguments.seeds} seeds, {steps} steps, {episodes} episodes in "
          f"{time.monotonic() - began:.0f} s: {different} runs differ")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
