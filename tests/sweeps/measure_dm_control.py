"""Measures all tasks of the DeepMind Control Suite: cypool, EnvPool and dm_control's own loop, in one run.

    python tests/sweeps/measure_dm_control.py
    python tests/sweeps/measure_dm_control.py --num-envs 64 --num-threads 2 "walker-*"

Of each task, steps in CPU microseconds and in a second of the clock, interleaved; medians of several rounds. EnvPool is
left out where it is not installed (1.2.5). Ends with a table and geometric means.
"""
import argparse
import fnmatch
import statistics
import time

import numpy as np

import cypool
from cypool.envs.dm_control.reference import load
from cypool.envs.dm_control.tasks import DOMAINS, envpool_id


def timed(step, actions, seconds):
    """Returns seconds of the clock and of the CPU for each call of step with one of the actions in turn."""
    count, began, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        step(actions[count % len(actions)])
        count += 1
    return (time.perf_counter() - began) / count, (time.process_time() - cpu) / count


def runners(domain, task, num_envs, num_threads):
    """Returns what to time: names, functions, and how many environments each steps at a time."""
    id = f"dm_control/{domain}-{task}-v0"
    ours = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0)
    one = cypool.make(id, num_threads=0, seed=0)
    reference = load(domain, task, 0)
    ours.reset(), one.reset(), reference.reset()
    found = {"cypool": (ours.step, num_envs), "one": (one.step, 1),
             "dm_control": (lambda action: reference.step(action[0]), 1)}
    try:
        import envpool
    except ImportError:
        return found, ours
    theirs = envpool.make(envpool_id(domain, task), "gymnasium", num_envs=num_envs, num_threads=num_threads, seed=0)
    theirs.reset()
    found["envpool"] = theirs.step, num_envs
    return found, ours


def measure(domain, task, arguments):
    """Returns the seconds of a step of one environment, by name: of the clock, and of the CPU."""
    found, ours = runners(domain, task, arguments.num_envs, arguments.num_threads)
    rng = np.random.default_rng(0)
    space = ours.single_action_space
    rounds = {name: [] for name in found}
    for _ in range(arguments.rounds):
        for name, (step, envs) in found.items():
            # lqr has no limits
            actions = rng.uniform(np.maximum(space.low, -1), np.minimum(space.high, 1), (16, envs, *space.shape))
            wall, cpu = timed(step, actions, arguments.seconds)
            rounds[name].append((wall / envs, cpu / envs))
    return {name: tuple(statistics.median(each) for each in zip(*values, strict=True))
            for name, values in rounds.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=["*"], help="patterns of domain-task")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--num-threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print("| task | steps/s | CPU us | to EnvPool, wall | to EnvPool, CPU | one env, to dm_control |")
    print("| --- | --: | --: | --: | --: | --: |")
    ratios = {"EnvPool, wall": [], "EnvPool, CPU": [], "dm_control": []}
    for domain, (_, tasks, *_) in DOMAINS.items():
        for task in tasks:
            if not any(fnmatch.fnmatchcase(f"{domain}-{task}", pattern) for pattern in arguments.tasks):
                continue
            found = measure(domain, task, arguments)
            (wall, cpu), one, reference = found["cypool"], found["one"][1], found["dm_control"][1]
            row = [f"{domain}-{task}", f"{1 / wall:.0f}", f"{1e6 * cpu:.1f}", "", "", f"{reference / one:.2f}"]
            ratios["dm_control"].append(reference / one)
            if "envpool" in found:
                other_wall, other_cpu = found["envpool"]
                row[3:5] = f"{other_wall / wall:.2f}", f"{other_cpu / cpu:.2f}"
                ratios["EnvPool, wall"].append(other_wall / wall)
                ratios["EnvPool, CPU"].append(other_cpu / cpu)
            print(f"| {' | '.join(row)} |", flush=True)
    for name, values in ratios.items():
        if values:
            print(f"to {name}: geometric mean {statistics.geometric_mean(values):.2f}, least {min(values):.2f}")


if __name__ == "__main__":
    main()
