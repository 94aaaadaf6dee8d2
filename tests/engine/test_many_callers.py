"""Pools in many threads of Python at once; `fuzz/soak_threads.py` does this for as long as you like."""

import functools

import numpy as np
import pytest
import soak_threads
from engine.threads import at_once
from receiving import started
from waiting import LIMIT, attempts

import cypool

pytestmark = pytest.mark.families("atari")


def test_a_short_session(run_forked):
    # it ends while daemon threads are in calls
    done = run_forked(f"""
import sys
sys.path.insert(0, {str(soak_threads.__file__.rpartition("/")[0])!r})
import soak_threads
if __name__ == "__main__":
    assert soak_threads.Session(0, rounds=3, seconds={LIMIT / 2}).run()""")
    assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr


def test_callers_while_the_pool_is_closed():
    refused = "one thread at a time|the pool is closed|another thread is using the pool"
    for num_threads in (0, 2) * 20:
        env = started(cypool.make("CartPole-v1", num_envs=4, num_threads=num_threads))

        def step(env=env):
            for _ in range(10):
                try:
                    env.step(np.zeros(4, np.int64))
                except RuntimeError as error:
                    assert any(text in str(error) for text in refused.split("|")), error

        def close(env=env):
            for _ in attempts():
                if env.closed:
                    return
                try:
                    env.close()
                except RuntimeError as error:
                    assert "another thread is using the pool" in str(error)

        at_once(step, step, close, close)
        with pytest.raises(cypool.ClosedError):
            env.step(np.zeros(4, np.int64))


def test_rollouts_of_several_threads_keep_their_own_rows():
    env = started(cypool.make("CartPole-v1", num_envs=3, num_threads=0, max_episode_steps=2))

    def roll(num_steps):
        for _ in range(300):
            try:
                made = env.rollout(np.zeros((num_steps, 3), np.int64))
            except RuntimeError as error:
                assert "one thread at a time" in str(error)
                continue
            # each episode has two steps, and one that begins the next
            assert np.array_equal(made.valid, made.info["elapsed_step"] > 0)

    at_once(*[functools.partial(roll, num_steps) for num_steps in (1, 1, 2, 5)])


def test_thread_pools_that_are_closed_while_pools_are_made():
    for _ in range(40):
        threads = cypool.ThreadPool(1)

        def make(threads=threads):
            try:
                env = cypool.make("CartPole-v1", num_envs=2, batch_size=1, thread_pool=threads)
            except RuntimeError as error:
                assert "its threads have ended" in str(error)
                return
            env.async_reset()
            # a pool that was made has threads
            env.recv(timeout=LIMIT)
            env.close()

        def close(threads=threads):
            try:
                threads.close()
            except RuntimeError as error:
                assert "still use these threads" in str(error)

        at_once(make, make, close)
        threads.close()


def test_errors_and_copies_of_many_pools(walker):
    from walker.trouble import GO, RAISE_STEP

    def run():
        env = started(cypool.make("walker/Trouble-v0", num_envs=24, num_threads=2))
        for k in range(10):
            with pytest.raises(cypool.EnvError) as failed:
                env.step(np.where(np.arange(24) == k, GO, RAISE_STEP))
            assert sorted(failed.value.causes) == [i for i in range(24) if i != k]
            # through `save` and `load`, of one environment by several threads
            env.copy(k, [i for i in range(24) if i != k])
            obs = env.step(np.full(24, GO))[0]
            assert (obs["count"] == obs["count"][k]).all()
            env.reset()

    at_once(run, run, run)
