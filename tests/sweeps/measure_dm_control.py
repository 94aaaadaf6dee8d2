"""Measures all tasks of the DeepMind Control Suite: cypool, EnvPool and dm_control's own loop, in one run.

    python tests/sweeps/measure_dm_control.py
    python tests/sweeps/measure_dm_control.py --num-envs 64 --num-threads 2 "walker-*"
    python tests/sweeps/measure_dm_control.py --bare walker-walk cheetah-run humanoid-run cartpole-swingup
    python tests/sweeps/measure_dm_control.py --start-up walker-walk

Of each task, steps in CPU microseconds and in a second of the clock, interleaved; medians of several rounds. EnvPool is
left out where it is not installed (1.2.5). Ends with a table and geometric means.

With `--bare`: cypool and the same steps of MuJoCo in a loop in C++ (bare_loop.cpp, needs g++). The same actions go to
the same states; episodes do not end. With `--start-up`: how long 64 environments take to make, in new processes.
"""
import argparse
import copy
import ctypes
import fnmatch
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from bare_loop import compiled

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


def bare_runner(run, domain, task, num_envs, num_threads):
    """Returns a function that takes (num_steps, num_envs, nu) controls, from states where episodes begin."""
    env = load(domain, task, 0)
    model, envs = env.physics.model.ptr, []
    for _ in range(num_envs):
        env.reset()
        envs.append(copy.copy(env.physics.data.ptr))
    pointers = (ctypes.c_void_p * num_envs)(*(each._address for each in envs))

    def step(controls):
        run(ctypes.c_void_p(model._address), pointers, num_envs, controls.ctypes.data_as(ctypes.c_void_p),
            len(controls), env._n_sub_steps, num_threads)

    # what the addresses are of has to live as long
    step.owned = env, envs
    return step


def measure_bare(run, domain, task, num_envs, num_threads, seconds, rounds):
    """Returns how many times as fast cypool is as the bare loop, by the clock and in CPU time: medians."""
    ours = cypool.make(f"dm_control/{domain}-{task}-v0", num_envs=num_envs, num_threads=num_threads, seed=0,
                       time_limit=float("inf"))
    bare = bare_runner(run, domain, task, num_envs, num_threads)
    rng, space, count, ratios = np.random.default_rng(0), ours.single_action_space, 8, []
    ours.reset()

    def step(controls):
        for each in controls:
            ours.step(each)

    for k in range(rounds + 1):
        times = []
        controls = rng.uniform(space.low, space.high, (count, num_envs, *space.shape))
        # in turn first and last
        for each in (step, bare) if k % 2 else (bare, step):
            wall, cpu = time.perf_counter(), time.process_time()
            each(controls)
            times.append((time.perf_counter() - wall, time.process_time() - cpu))
        mine, its = times if k % 2 else times[::-1]
        if k == 0:
            # a round is about this long
            count = max(int(count * seconds / its[0]), 8)
        else:
            ratios.append((its[0] / mine[0], its[1] / mine[1]))
    return tuple(statistics.median(each) for each in zip(*ratios, strict=True))


START = """
import time
began, cpu = time.perf_counter(), time.process_time()
import cypool
import cypool.envs.dm_control
import cypool.api.gymnasium
times = [(time.perf_counter() - began, time.process_time() - cpu)]
for _ in range(2):
    began, cpu = time.perf_counter(), time.process_time()
    env = cypool.make("dm_control/{domain}-{task}-v0", num_envs={num_envs}, num_threads={num_threads}, seed=0)
    times.append((time.perf_counter() - began, time.process_time() - cpu))
print(times)
"""


def measure_start(domain, task, num_envs, num_threads, processes):
    """Prints of new processes, least and median, in seconds: the imports, the first pool, and another one."""
    found = []
    for _ in range(processes):
        program = START.format(domain=domain, task=task, num_envs=num_envs, num_threads=num_threads)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        found.append(eval(done.stdout))
    for name, times in zip(("imports", "first pool", "another pool"), zip(*found, strict=True), strict=True):
        wall, cpu = zip(*times, strict=True)
        print(f"{domain}-{task}, {name}: {min(wall):.3f} s, median {statistics.median(wall):.3f} s; CPU "
              f"{min(cpu):.3f} s, median {statistics.median(cpu):.3f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=["*"], help="patterns of domain-task")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--num-threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", action="store_true", help="compare with a loop over mj_step in C++")
    parser.add_argument("--start-up", action="store_true", help="measure how long pools take to make")
    arguments = parser.parse_args()
    chosen = [(domain, task) for domain in DOMAINS for task in DOMAINS[domain].tasks
              if any(fnmatch.fnmatchcase(f"{domain}-{task}", pattern) for pattern in arguments.tasks)]
    if arguments.start_up:
        for domain, task in chosen:
            measure_start(domain, task, arguments.num_envs, arguments.num_threads, arguments.rounds)
        return
    if arguments.bare:
        with tempfile.TemporaryDirectory() as folder:
            run = compiled(folder).run
            print("| task | to the bare loop, wall | CPU | one env, wall | CPU |\n| --- | --: | --: | --: | --: |")
            for domain, task in chosen:
                row = [ratio for envs, threads in ((arguments.num_envs, arguments.num_threads), (1, 1)) for ratio in
                       measure_bare(run, domain, task, envs, threads, arguments.seconds, arguments.rounds)]
                print(f"| {domain}-{task} | {' | '.join(f'{ratio:.2f}' for ratio in row)} |", flush=True)
        return
    print("| task | steps/s | CPU us | to EnvPool, wall | to EnvPool, CPU | one env, to dm_control |")
    print("| --- | --: | --: | --: | --: | --: |")
    ratios = {"EnvPool, wall": [], "EnvPool, CPU": [], "dm_control": []}
    for domain, task in chosen:
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
