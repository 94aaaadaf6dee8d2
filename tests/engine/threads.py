"""Threads in tests: started, joined, listed; and the episodes that asynchronous pools have on them."""
import contextlib
import os
import threading

import numpy as np
from waiting import LIMIT, join, wait_until


def start(target, *args):
    """Returns a thread that has begun to call a function."""
    thread = threading.Thread(target=target, args=args)
    thread.start()
    return thread


def at_once(*calls):
    """Calls functions in threads that begin together; raises the exception of one of them."""
    barrier, raised = threading.Barrier(len(calls)), []

    def run(call):
        barrier.wait(LIMIT)
        try:
            call()
        except BaseException as error:
            raised.append(error)

    join(*[start(run, call) for call in calls])
    for error in raised:
        raise error


@contextlib.contextmanager
def meanwhile(call):
    """Calls a function in another thread, again and again while the block runs; raises its exception."""
    over, raised = threading.Event(), []

    def run():
        try:
            while not over.is_set():
                call()
        except BaseException as error:
            raised.append(error)

    thread = start(run)
    try:
        yield
    finally:
        over.set()
        join(thread)
        for error in raised:
            raise error


def tasks():
    return set(os.listdir("/proc/self/task"))


def await_tasks(before):
    """Waits until no other threads are left: one that was joined is listed for a moment longer."""
    wait_until(lambda: not tasks() - before)


def assert_trajectories(env, actions, expected):
    """Compares the episodes in an asynchronous pool with the batches of a synchronous one.

    Args:
        env: An asynchronous pool.
        actions: (num_envs, steps).
        expected: The batches that they lead to, one for each step, by env id.
    """
    num_envs, length = actions.shape
    env.async_reset()
    done = np.full(num_envs, -1)
    while done.min() < length:
        obs, reward, terminated, truncated, info = env.recv()
        leaves = list(obs) if isinstance(obs, dict) else [...]
        ids = info["env_id"]
        for row, i in enumerate(ids):
            if 0 <= done[i] < length:
                want = expected[done[i]]
                assert all(obs[leaf][row].tobytes() == want[0][leaf][i].tobytes() for leaf in leaves)
                assert reward[row] == want[1][i] and terminated[row] == want[2][i] and truncated[row] == want[3][i]
                assert info["elapsed_step"][row] == want[4]["elapsed_step"][i]
        done[ids] += 1
        env.send(actions[ids, np.minimum(done[ids], length - 1)], ids)
