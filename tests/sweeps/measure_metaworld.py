"""Measures Meta-World next to metaworld: CPU time of steps, of resets, and of making its benchmarks.

    python tests/sweeps/measure_metaworld.py [PATTERN ...] [--num-steps 500] [--rounds 3] [--envpool]

Plays what scripted policies play. Rounds alternate, and the median counts. "mj_step" is a loop in C++ over the same
steps of MuJoCo, and nothing else (bare_loop.cpp, needs g++). Takes metaworld; with --envpool also EnvPool, which draws
goals of its own and has another MuJoCo. Ends with means over the tasks, which is what ratios are of.
"""
import argparse
import copy
import ctypes
import fnmatch
import statistics
import tempfile
import time
import warnings

import mujoco
import numpy as np
from bare_loop import compiled

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


def microseconds(function, count):
    """Returns the CPU time of a call that does something so often."""
    start = time.process_time()
    function()
    return (time.process_time() - start) / count * 1e6


def play(step, actions):
    for action in actions:
        step(action)


def bare_runner(library, reference, actions):
    """Returns a function that prepares a run of what the reference simulates, from a reset on: a function."""
    simulate, steps = reference._step_mujoco_simulation, []

    def record(control, num_steps):
        steps.append((reference.data.mocap_pos[0].copy(), np.array(control, np.float64)))
        simulate(control, num_steps)

    reference.reset()
    start, reference._step_mujoco_simulation = copy.copy(reference.data), record
    play(reference.step, actions)
    reference._step_mujoco_simulation = simulate
    places, controls = (np.array(column) for column in zip(*steps, strict=True))

    def prepare():
        data = copy.copy(start)

        def run():
            library.run_arm(ctypes.c_void_p(reference.model._address), ctypes.c_void_p(data._address),
                            places.ctypes.data_as(ctypes.c_void_p), controls.ctypes.data_as(ctypes.c_void_p),
                            len(steps), reference.frame_skip)
            return data

        return run

    if prepare()().qpos.tobytes() != reference.data.qpos.tobytes():
        raise AssertionError("expected the bare loop to end where the reference does")
    return prepare


def measure(library, task):
    """Returns medians in microseconds: names and values."""
    # one goal: after the first reset all find a start that is known
    pools = {n: cypool.make(f"Meta-World/{task}", num_envs=n, num_threads=0, seed=[0] * n, num_goals=1,
                            max_episode_steps=2**30) for n in (1, NUM_ENVS)}
    fresh = cypool.make(f"Meta-World/{task}", num_threads=0, seed=0, task_select="fresh")
    reference = make(pools[1].env_spec, 0).unwrapped
    reference.max_path_length = 2**30
    players = Players([make(pools[1].env_spec, 0)], [task], 0)
    env = players.envs[0]
    env.reset()
    actions = []
    for _ in range(arguments.num_steps):
        actions.append(players.act(np.zeros((1, 4), np.float32)))
        env.step(actions[-1][0])
    reference.set_task(env.get_wrapper_attr("tasks")[0])
    prepare = bare_runner(library, reference, [a[0] for a in actions])
    rounds = []
    theirs = None
    if arguments.envpool:
        import envpool

        name = "".join(part.capitalize() for part in task.removesuffix("-v3").split("-"))
        theirs = envpool.make_gymnasium(f"MetaWorld/{name}-v3", num_envs=NUM_ENVS, num_threads=1, seed=0,
                                        max_episode_steps=2**30)
    for _ in range(arguments.rounds):
        figures = {"reset of metaworld": microseconds(reference.reset, 1)}
        figures["metaworld"] = microseconds(lambda: play(reference.step, [a[0] for a in actions]), len(actions))
        figures["mj_step"] = microseconds(prepare(), len(actions))
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
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
    for task in tasks:
        found[task] = measure(library, task)
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
