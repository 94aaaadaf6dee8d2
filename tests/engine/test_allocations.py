"""In steady state a step allocates nothing on the heap but the Python objects that it returns.

Small Python objects come from Python's own pools, which take memory from the system by the megabyte and past malloc;
all else is counted: allocations of the engine, the environments and their threads in C++, and NumPy's data of a kB or
more.
"""
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from waiting import LIMIT, run_program

STEPS = """
import ctypes, os, signal, sys
from pathlib import Path

import numpy as np

import cypool

counter = ctypes.CDLL(None)
counter.count_allocations.restype = counter.count_frees.restype = ctypes.c_long


def tasks():
    return set(Path("/proc/self/task").iterdir())


def started(others):
    # a thread that has not yet run has still to allocate its state; then it blocks all signals but those of a crash,
    # while one that has only just begun has all of them blocked, or none
    for task in tasks() - others:
        line = next(line for line in (task / "status").read_text().splitlines() if line.startswith("SigBlk"))
        mask = int(line.split()[1], 16)
        if not mask >> (signal.SIGINT - 1) & 1 or mask >> (signal.SIGSEGV - 1) & 1:
            return False
    return True


def measure(id, num_envs, batch_size, num_threads, use_out, options, num_steps):
    others = tasks()
    env = cypool.make(id, num_envs=num_envs, batch_size=batch_size, num_threads=num_threads, seed=0, **options)
    actions = np.arange(batch_size) % env.env_spec.action.n
    buffers = env.rollout_buffers(4) if use_out else None
    env.async_reset()
    ids = env.recv()[-1]["env_id"]
    while not started(others):
        os.sched_yield()

    def run(ids):
        for t in range(num_steps):
            if env.is_async:
                env.send(actions, ids)
                ids = env.recv()[-1]["env_id"]
            elif use_out:
                env.step(actions, out=buffers[t % 4])
            else:
                env.step(actions)
        return ids

    ids = run(ids)
    before = counter.count_allocations(), counter.count_frees()
    run(ids)
    counted = counter.count_allocations() - before[0], counter.count_frees() - before[1]
    env.close()
    # one that has ended may still be listed for a moment
    while tasks() - others:
        os.sched_yield()
    return counted


for line in sys.stdin:
    print(measure(*eval(line)), flush=True)
"""


@pytest.fixture(scope="session")
def counter(tmp_path_factory):
    """A shared library that counts."""
    library = tmp_path_factory.mktemp("counter") / "count_allocations.so"
    source = Path(__file__).with_name("count_allocations.c")
    # without the flag gcc makes malloc and memset of calloc one call of calloc
    run_program(os.environ.get("CC", shutil.which("gcc") or "cc"), "-O1", "-fno-builtin", "-shared", "-fPIC", source,
                "-o", library, check=True)
    return library


@pytest.fixture(scope="module")
def allocations(counter):
    """Returns how often a process allocates and frees in a number of steps, after as many to warm up."""
    environ = dict(os.environ, LD_PRELOAD=str(counter), PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    environ.pop("PYTHONMALLOC", None)
    with subprocess.Popen([sys.executable, "-c", STEPS], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, cwd=Path(__file__).parent) as process:

        def count(*arguments):
            print(repr(arguments), file=process.stdin, flush=True)
            limit = threading.Timer(LIMIT, process.kill)
            limit.start()
            said = process.stdout.readline()
            limit.cancel()
            assert said, "the process ended; stderr has its reason"
            return eval(said)

        yield count
        process.stdin.close()


@pytest.mark.parametrize("use_out", [False, True])
@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("num_envs", [64, 1024])
def test_synchronous_cartpole_allocates_nothing(allocations, num_envs, num_threads, use_out):
    assert allocations("CartPole-v1", num_envs, num_envs, num_threads, use_out, {}, 500) == (0, 0)


@pytest.mark.parametrize("num_threads", [0, 1, 2])
@pytest.mark.parametrize("num_envs", [64, 1024])
def test_asynchronous_cartpole_allocates_nothing(allocations, num_envs, num_threads):
    assert allocations("CartPole-v1", num_envs, num_envs // 2, num_threads, False, {}, 500) == (0, 0)


@pytest.mark.parametrize("use_out", [False, True])
@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("num_envs", [64, 1024])
def test_episode_statistics_allocate_one_array_at_an_end(allocations, num_envs, num_threads, use_out):
    made, freed = allocations("CartPole-v1", num_envs, num_envs, num_threads, use_out,
                              {"episode_statistics": True}, 500)
    # the only array that is new, info["_episode"], in a step in which an episode ended; NumPy keeps memory of less
    # than a kilobyte itself
    most = 500 if num_envs >= 1024 else 0
    assert made == freed <= most


# the process that counts ends with the first error
@pytest.mark.families("atari")
@pytest.mark.parametrize("options", [{}, {"episode_statistics": True, "gray_scale": False}], ids=str)
@pytest.mark.parametrize("batch_size", [8, 4])
def test_pong_allocates_nothing(allocations, batch_size, options):
    # ALE allocates nothing either while it emulates
    assert allocations("Pong-v5", 8, batch_size, 2, False, options, 100) == (0, 0)


@pytest.mark.families("atari")
def test_reset_of_pong_allocates_one_object_of_ale(allocations):
    # one for each reset, which is ALE's own: StellaEnvironment::getWrapper returns a new object
    resets = 8 * (600 // 51 - 300 // 51)
    assert allocations("Pong-v5", 8, 8, 2, False, {"max_episode_steps": 50}, 300) == (resets, resets)


def test_the_counter_counts(counter):
    assert run_program(
        sys.executable, "-c", "import ctypes; c = ctypes.CDLL(None); c.malloc.restype = ctypes.c_void_p; "
        "a = c.count_allocations(); c.malloc(10); c.calloc(1, 1); print(c.count_allocations() - a >= 2)",
        check=True, env=dict(os.environ, LD_PRELOAD=str(counter))).stdout == "True\n"
