"""Thousands of pools, closed or just dropped, leave no thread, no file and no memory behind."""
import functools
import gc
import itertools
import os

import numpy as np
import pytest

import cypool
import cypool.compat.envpool as envpool


def held():
    """What the process holds: threads, open files, resident bytes."""
    gc.collect()
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), resident


def use(make, num_envs, batch_size, num_threads, ending, **options):
    env = make(num_envs=num_envs, batch_size=batch_size, num_threads=num_threads, **options)
    env.async_reset()
    env.recv()
    ids = np.arange(batch_size)
    while env._pool.num_pending:
        env.recv()
    for _ in range(3):
        env.step(np.zeros(batch_size, np.int64), ids)
    if ending == "close":
        env.close()
    elif ending == "drop with work pending":
        env.send(np.zeros(batch_size, np.int64), ids)
    elif ending == "drop in a cycle":
        env.itself = env


def leaves_nothing(times, most_bytes, *args, **options):
    """Uses pools; each leaves less than `most_bytes`, on average."""
    for _ in range(times):
        use(*args, **options)
    history = [held()]
    for _ in range(3):
        for _ in range(times):
            use(*args, **options)
        history.append(held())
    # a thread that is joined may still be listed for a moment
    while len(os.listdir("/proc/self/task")) > history[0][0]:
        os.sched_yield()
    assert history[-1][1] == history[0][1]
    # what leaks grows each time; Python takes memory by the megabyte, now and then
    assert min(after[2] - before[2] for before, after in itertools.pairwise(history)) < times * most_bytes


CARTPOLE = {
    "gymnasium": functools.partial(cypool.make_gymnasium, "CartPole-v1"),
    "gym": functools.partial(cypool.make_gym, "CartPole-v1"),
    "dm": functools.partial(cypool.make_dm, "CartPole-v1"),
    "envpool": functools.partial(envpool.make_gymnasium, "CartPole-v1"),
}
ENDINGS = ["close", "drop", "drop with work pending", "drop in a cycle"]
# the arrays of one batch take more, and so does what a thread keeps
CARTPOLE_BYTES = 1000


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("batch_size", "num_threads"), [(64, 1), (64, 3), (16, 0), (16, 2)])
def test_cartpole(batch_size, num_threads, ending):
    leaves_nothing(150, CARTPOLE_BYTES, CARTPOLE["gymnasium"], 64, batch_size, num_threads, ending)


@pytest.mark.parametrize("face", ["gym", "dm", "envpool"])
def test_faces(face):
    leaves_nothing(150, CARTPOLE_BYTES, CARTPOLE[face], 64, 16, 2, "close")


@pytest.mark.parametrize("autoreset_mode", ["NextStep", "SameStep"])
def test_statistics_and_final_observations(autoreset_mode):
    leaves_nothing(150, CARTPOLE_BYTES, CARTPOLE["gymnasium"], 64, 64, 2, "close", episode_statistics=True,
                   autoreset_mode=autoreset_mode, max_episode_steps=2)


@pytest.mark.parametrize("ending", ENDINGS)
def test_shared_threads(ending):
    with cypool.ThreadPool(2) as thread_pool:
        leaves_nothing(150, CARTPOLE_BYTES, CARTPOLE["gymnasium"], 64, 16, None, ending, thread_pool=thread_pool)
        assert thread_pool.num_pools == 0


@pytest.mark.parametrize("ending", ENDINGS)
def test_pong(ending):
    # one emulator has 100 kB of screens alone
    leaves_nothing(8, 100_000, functools.partial(cypool.make_gymnasium, "Pong-v5"), 3, 2, 2, ending)
