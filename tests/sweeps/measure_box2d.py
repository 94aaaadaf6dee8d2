"""Measures Box2D's environments: cypool, EnvPool, Gymnasium's own loop and a bare loop in C++, in one run.

    python tests/sweeps/measure_box2d.py

The candidates take turns in rounds, with random actions and resets: 64 environments on 2 threads for EnvPool (1.2.5; it
is left out if it is not installed), one environment for Gymnasium, both for the bare loop (bare_box2d.cpp, which needs
g++ and Box2D's sources, as the build finds them). Prints the rows of a table in Markdown, with medians of the rounds,
and the memory of an environment. It has to run in the source tree.
"""
import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import cypool

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
ROOT = Path(__file__).resolve().parents[2]
IDS = ["LunarLander-v3", "BipedalWalker-v3", "BipedalWalkerHardcore-v3", "CarRacing-v3"]


def compiled(folder):
    """Returns the function of bare_box2d.cpp."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    from build_tools.box2d import BOX2D

    box2d = BOX2D.prepare(Path(folder))
    objects = []
    for k, unit in enumerate(box2d.units):
        objects.append(f"{folder}/{k}.o")
        includes = [word for path in unit.include_dirs for word in ("-I", path)]
        subprocess.run(["g++", *unit.flags, *includes, "-c", unit.source, "-o", objects[-1]], check=True)
    includes = [word for path in (*box2d.include_dirs, ROOT, ROOT / "include", ROOT / "build_tools/box2d_headers")
                for word in ("-I", path)]
    subprocess.run(["g++", "-std=c++20", "-O3", "-ffp-contract=off", "-shared", "-fPIC", "-pthread", *box2d.flags,
                    *includes, Path(__file__).with_name("bare_box2d.cpp"), *objects, "-o", f"{folder}/bare.so"],
                   check=True)
    return ctypes.CDLL(f"{folder}/bare.so").run


def sampled(rng, space, shape):
    """Returns random actions, and the same for the bare loop."""
    if hasattr(space, "n"):
        actions = rng.integers(space.n, size=shape)
        return actions, actions.astype(np.float64)
    actions = rng.uniform(space.low, space.high, (*shape, *space.shape)).astype(np.float32)
    return actions, actions.astype(np.float64)


def one_of_gymnasium(id):
    import gymnasium

    with warnings.catch_warnings():
        # of the modules that SWIG made
        warnings.simplefilter("ignore")
        env = gymnasium.make(id, disable_env_checker=True)
        env.reset(seed=0)

    def step(actions):
        action = actions[0]
        if env.step(action if np.ndim(action) else int(action))[2:4] != (False, False):
            env.reset()

    return step


def seconds_of(function, argument):
    """Returns seconds of the clock and of the CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    function(argument)
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(candidates, space, num_envs, num_steps, rounds):
    """Returns by name microseconds of the clock and of the CPU for a step of one environment, in each round."""
    rng, found = np.random.default_rng(0), {name: [] for name in candidates}
    for k in range(rounds + 1):
        actions, numbers = sampled(rng, space, (num_steps, num_envs))
        for name, run in list(candidates.items())[::1 if k % 2 else -1]:
            times = seconds_of(run, numbers if name == "bare" else actions)
            # the first round warms up
            if k:
                found[name].append([1e6 * each / num_envs / num_steps for each in times])
    return found


def loop(step):
    def run(actions):
        for each in actions:
            step(each)

    return run


def ratio(found, name, clock):
    """The median of how many times as long the other took."""
    return statistics.median(other[clock] / mine[clock]
                             for other, mine in zip(found[name], found["cypool"], strict=True))


def resident_kb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e3


def memory(id, count):
    """Prints how many kB an environment takes after its first episode began: in a new process."""
    make = "cypool.make({!r}, num_envs={}, num_threads=0, seed=0)"
    program = (f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
               f"import cypool\nfrom measure_box2d import resident_kb\nfew = {make.format(id, 2)}\nfew.reset()\n"
               f"before = resident_kb()\nenv = {make.format(id, count)}\nenv.reset()\n"
               f"print((resident_kb() - before) / {count})")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", default=IDS)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--num-threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    try:
        import envpool
    except ImportError:
        envpool = None
    print("| id | CPU µs | to EnvPool, clock | CPU | to the bare loop, clock | CPU | one: CPU µs | to Gymnasium | "
          "to the bare loop | kB |\n| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        run_bare = compiled(folder)
        for id in arguments.ids:
            def bare(num_envs, num_threads, id=id):
                return lambda numbers: run_bare(IDS.index(id), num_envs, numbers.ctypes.data_as(ctypes.c_void_p),
                                                len(numbers), num_threads)

            env = cypool.make(id, num_envs=arguments.num_envs, num_threads=arguments.num_threads, seed=0)
            env.reset()
            many = {"cypool": loop(env.step), "bare": bare(arguments.num_envs, arguments.num_threads)}
            if envpool:
                theirs = envpool.make_gymnasium(id, num_envs=arguments.num_envs, num_threads=arguments.num_threads,
                                                seed=0)
                theirs.reset()
                many["envpool"] = loop(theirs.step)
            steps = 40 if id == "CarRacing-v3" else 400
            pools = measure(many, env.single_action_space, arguments.num_envs, steps, arguments.rounds)
            single = cypool.make(id, num_threads=0, seed=0)
            single.reset()
            ones = measure({"cypool": loop(single.step), "bare": bare(1, 1), "gymnasium": loop(one_of_gymnasium(id))},
                           env.single_action_space, 1, 10 * steps, arguments.rounds)
            row = [f"{statistics.median(cpu for _, cpu in pools['cypool']):.1f}",
                   *(f"{ratio(pools, 'envpool', clock):.2f}" if envpool else "-" for clock in (0, 1)),
                   *(f"{ratio(pools, 'bare', clock):.2f}" for clock in (0, 1)),
                   f"{statistics.median(cpu for _, cpu in ones['cypool']):.1f}", f"{ratio(ones, 'gymnasium', 1):.1f}",
                   f"{ratio(ones, 'bare', 1):.2f}", f"{memory(id, 200):.0f}"]
            print(f"| `{id}` | {' | '.join(row)} |", flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f}, medians of {arguments.rounds} rounds")


if __name__ == "__main__":
    main()
