"""Thousands of pools, closed or just dropped, leave no thread, no file and no memory behind."""
import functools
import gc
import os
import sys

import numpy as np
import pytest
from heap import heap_bytes
from markers import exhaustive, slow
from receiving import receive_pending
from waiting import wait_until

import cypool
import cypool.compat.envpool as envpool

pytestmark = pytest.mark.families("atari")


def held():
    """The resources of the process: threads, open files, bytes from malloc, Python's small objects."""
    gc.collect()
    return (len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), heap_bytes(),
            sys.getallocatedblocks())


def use(make, num_envs, batch_size, num_threads, ending, **options):
    env = make(num_envs=num_envs, batch_size=batch_size, num_threads=num_threads, **options)
    env.async_reset()
    env.recv()
    ids = np.arange(batch_size)
    receive_pending(env)
    for _ in range(3):
        env.step(np.zeros(batch_size, np.int64), ids)
    if ending == "close":
        env.close()
    elif ending == "drop with work pending":
        env.send(np.zeros(batch_size, np.int64), ids)
    elif ending == "drop in a cycle":
        env.itself = env


def leaves_nothing(times, *args, **options):
    """Uses pools; asserts that each leaves, on average, less memory than the smallest leak."""
    for _ in range(times):
        use(*args, **options)
    history = [held()]
    growth = [(np.inf, np.inf)]
    # a leak grows each time; memory that malloc and Python keep for later grows now and then
    while len(history) < 20 and not (np.min(growth, 0) < (times * 100, times + 50)).all():
        for _ in range(times):
            use(*args, **options)
        history.append(held())
        growth.append(np.subtract(history[-1], history[-2])[2:])
    # a thread that is joined may still be listed for a moment
    wait_until(lambda: len(os.listdir("/proc/self/task")) <= history[0][0])
    assert history[-1][1] == history[0][1]
    least_bytes, least_objects = np.min(growth, 0)
    assert least_bytes < times * 100
    # a few dozen small objects more may be Python's own, in its caches
    assert least_objects < times + 50


CARTPOLE = {
    "gymnasium": functools.partial(cypool.make, "CartPole-v1"),
    "gym": functools.partial(cypool.make, "CartPole-v1", "gym"),
    "dm": functools.partial(cypool.make, "CartPole-v1", "dm"),
    "envpool": functools.partial(envpool.make_gymnasium, "CartPole-v1"),
}
ENDINGS = ["close", "drop", "drop with work pending", "drop in a cycle"]


@pytest.mark.parametrize("ending", [*ENDINGS[::2], *slow(*ENDINGS[1::2])])
@pytest.mark.parametrize(("batch_size", "num_threads"), [(4, 2), *slow((16, 3)), *exhaustive((16, 1), (4, 0))])
def test_pools_of_cartpole_leak_nothing(batch_size, num_threads, ending):
    leaves_nothing(150, CARTPOLE["gymnasium"], 16, batch_size, num_threads, ending)


@pytest.mark.parametrize("api", ["envpool", *slow("gym", "dm")])
def test_pools_of_other_apis_leak_nothing(api):
    leaves_nothing(150, CARTPOLE[api], 16, 4, 2, "close")


@pytest.mark.parametrize("autoreset_mode", [*slow("NextStep"), "SameStep"])
def test_statistics_and_final_observations_leak_nothing(autoreset_mode):
    leaves_nothing(150, CARTPOLE["gymnasium"], 16, 16, 2, "close", episode_statistics=True,
                   autoreset_mode=autoreset_mode, max_episode_steps=2)


@pytest.mark.parametrize("ending", [*ENDINGS[1::2], *slow(*ENDINGS[::2])])
def test_pools_on_shared_threads_leak_nothing(ending):
    with cypool.ThreadPool(2) as thread_pool:
        leaves_nothing(150, CARTPOLE["gymnasium"], 16, 4, None, ending, thread_pool=thread_pool)
        assert thread_pool.num_pools == 0


@pytest.mark.parametrize("ending", ["drop with work pending", *slow("close", "drop", "drop in a cycle")])
def test_pools_of_pong_leak_nothing(ending):
    leaves_nothing(8, functools.partial(cypool.make, "Pong-v5"), 3, 2, 2, ending)
