"""Measures Meta-World next to metaworld: CPU time of steps, of resets, and of making its benchmarks.

    python tests/sweeps/measure_metaworld.py [PATTERN ...] [--num-steps 500] [--rounds 3] [--envpool]

Plays what scripted policies play. Rounds alternate, and the median counts. "mj_step" is the reference's call of MuJoCo
alone, without the clock that MuJoCo's Python package sets. Takes metaworld; with --envpool also EnvPool, which draws
goals of its own and has another MuJoCo. Ends with means over the tasks, which is what ratios are of.
"""
import argparse
import fnmatch
import statistics
import time
import warnings

import mujoco
import numpy as np

import cypool
from cypool.envs.metaworld.reference import Players, make
from cypool.envs.metaworld.tasks import TASKS

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("patterns", nargs="*", default=["*"])
parser.add_argument("--num-steps", type=int, default=500)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--envpool", action="store_true")
arguments = parser.parse_args()
warnings.simplefilter("ignore")
NUM_ENVS = 8


class Timed:
    """A function that adds up the CPU time of its calls."""

    def __init__(self, function):
        self.function, self.seconds = function, 0.0

    def __call__(self, *args, **kwargs):
        start = time.process_time()
        result = self.function(*args, **kwargs)
        self.seconds += time.process_time() - start
        return result


def microseconds(function, count):
    """Returns the CPU time of a call that does something so often."""
    start = time.process_time()
    function()
    return (time.process_time() - start) / count * 1e6


def play(step, actions):
    for action in actions:
        step(action)


def measure(task):
    """Returns medians in microseconds: names and values."""
    # one goal: after the first reset all find a start that is known
    pools = {n: cypool.make(f"Meta-World/{task}", num_envs=n, num_threads=0, seed=[0] * n, num_goals=1,
                            max_episode_steps=2**30) for n in (1, NUM_ENVS)}
    fresh = cypool.make(f"Meta-World/{task}", num_threads=0, seed=0, task_select="fresh")
    reference = make(pools[1].env_spec, 0).unwrapped
    reference.max_path_length = 2**30
    simulated = Timed(reference._step_mujoco_simulation)
    players = Players([make(pools[1].env_spec, 0)], [task], 0)
    env = players.envs[0]
    env.reset()
    actions = []
    for _ in range(arguments.num_steps):
        actions.append(players.act(np.zeros((1, 4), np.float32)))
        env.step(actions[-1][0])
    reference.set_task(env.get_wrapper_attr("tasks")[0])
    rounds = []
    theirs = None
    if arguments.envpool:
        import envpool

        name = "".join(part.capitalize() for part in task.removesuffix("-v3").split("-"))
        theirs = envpool.make_gymnasium(f"MetaWorld/{name}-v3", num_envs=NUM_ENVS, num_threads=1, seed=0,
                                        max_episode_steps=2**30)
    for _ in range(arguments.rounds):
        figures = {"reset of metaworld": microseconds(reference.reset, 1)}
        reference._step_mujoco_simulation = simulated
        simulated.seconds = 0.0
        figures["metaworld"] = microseconds(lambda: play(reference.step, [a[0] for a in actions]), len(actions))
        figures["mj_step"] = simulated.seconds / len(actions) * 1e6
        for n, pool in pools.items():
            pool.reset()
            figures[f"reset of {n}"] = microseconds(pool.reset, n)
            rows = [np.repeat(a, n, 0) for a in actions]
            figures[f"cypool, {n}"] = microseconds(lambda pool=pool, rows=rows: play(pool.step, rows), len(rows) * n)
        figures["new reset"] = microseconds(fresh.reset, 1)
        if theirs is not None:
            theirs.reset()
            rows = [np.repeat(a, NUM_ENVS, 0).astype(np.float64) for a in actions]
            figures["envpool, 8"] = microseconds(lambda rows=rows: play(theirs.step, rows), len(rows) * NUM_ENVS)
        rounds.append(figures)
    return {name: statistics.median(figures[name] for figures in rounds) for name in rounds[0]}


def main():
    mujoco.set_mjcb_time(None)
    start = time.process_time()
    cypool.make("Meta-World/MT50", seed=0).close()
    print(f"make('Meta-World/MT50'): {time.process_time() - start:.2f} s of CPU time")
    tasks = [task for task in TASKS if any(fnmatch.fnmatch(task, pattern) for pattern in arguments.patterns)]
    found = {}
    for task in tasks:
        found[task] = measure(task)
        print(f"{task:30s}", ", ".join(f"{name} {value:.1f}" for name, value in found[task].items()), flush=True)
    means = {name: statistics.mean(each[name] for each in found.values()) for name in found[tasks[0]]}
    print(f"{'mean':30s}", ", ".join(f"{name} {value:.1f}" for name, value in means.items()))
    for n in (1, NUM_ENVS):
        ours = means[f"cypool, {n}"]
        episode = (means["metaworld"] * 500 + means["reset of metaworld"]) / (ours * 500 + means[f"reset of {n}"])
        print(f"{n} environments: metaworld / cypool {means['metaworld'] / ours:.2f}, mj_step / cypool "
              f"{means['mj_step'] / ours:.2f}, episodes {episode:.2f}, resets with a known start "
              f"{means['reset of metaworld'] / means[f'reset of {n}']:.0f}, with a new one "
              f"{means['reset of metaworld'] / means['new reset']:.2f}"
              + (f", EnvPool / cypool {means['envpool, 8'] / ours:.2f}" if arguments.envpool else ""))


if __name__ == "__main__":
    main()
