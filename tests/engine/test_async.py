"""Asynchronous pools: first come, first served, and no environment is lost."""
import numpy as np
import pytest
from engine.threads import assert_trajectories
from markers import slow
from pool_arguments import THREADS
from receiving import started

import cypool

pytestmark = pytest.mark.families("minigrid")
# the caller steps the first one in recv; threads step the others, the second one several at a time
IDS = ["CartPole-v1", "MiniGrid-Empty-5x5-v0", "Acrobot-v1"]


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize(("num_envs", "batch_size"), [(2, 1), (5, 3), (6, 5), (64, 32), (100, 7), (1000, 128)])
def test_each_env_exactly_once(num_envs, batch_size, id, num_threads):
    env = cypool.make(id, num_envs=num_envs, batch_size=batch_size, num_threads=num_threads)
    for _ in range(5):
        env.async_reset()
        seen = []
        while len(seen) < num_envs:
            _, reward, *_, info = env.recv()
            # full batches, then the rest
            assert len(reward) == len(info["env_id"]) == min(batch_size, num_envs - len(seen))
            seen += info["env_id"].tolist()
        assert sorted(seen) == list(range(num_envs))


def compare_with_synchronous(id, num_envs, batch_size, num_threads, length, **options):
    env = cypool.make(id, num_envs=num_envs, num_threads=0, seed=9, **options)
    actions = np.random.default_rng(0).integers(0, env.single_action_space.n, (num_envs, length))
    env.reset()
    expected = [env.step(actions[:, t]) for t in range(length)]
    env = cypool.make(id, num_envs=num_envs, batch_size=batch_size, num_threads=num_threads, seed=9, **options)
    assert_trajectories(env, actions, expected)


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize(("num_envs", "batch_size", "length"), [(23, 5, 120), (300, 64, 30)])
def test_trajectories_equal_the_synchronous_ones(num_envs, batch_size, length, id, num_threads):
    options = {} if id != IDS[1] else {"max_episode_steps": 20}
    compare_with_synchronous(id, num_envs, batch_size, num_threads, length, **options)


# batches that are enough work for threads, the last one of a round short
@pytest.mark.parametrize("num_threads", [2, *slow(*(count for count in THREADS if count != 2))])
@pytest.mark.parametrize(("num_envs", "batch_size"), [(13_000, 6_000), *slow((12_000, 6_000))])
def test_large_batches_of_brief_steps_come_in_the_order_of_send(num_envs, batch_size, num_threads):
    length, actions = 8, np.random.default_rng(0).integers(0, 2, (8, num_envs))
    with cypool.make("CartPole-v1", num_envs=num_envs, num_threads=0, seed=9) as env:
        expected = np.stack([env.reset()[0], *(env.step(actions[t])[0] for t in range(length))])
    with cypool.make("CartPole-v1", num_envs=num_envs, batch_size=batch_size, num_threads=num_threads, seed=9) as env:
        env.async_reset()
        waiting, done = np.arange(num_envs), np.zeros(num_envs, int)
        while done.max() < length:
            obs, *_, info = env.recv()
            ids = info["env_id"]
            assert np.array_equal(ids, waiting[:batch_size]) and np.array_equal(obs, expected[done[ids], ids])
            env.send(actions[done[ids], ids], ids)
            done[ids] += 1
            waiting = np.append(waiting[batch_size:], ids)


@pytest.mark.parametrize("num_threads", [2, *slow(0, 1, 7)])
def test_more_is_sent_after_a_recv_that_gave_up(num_threads):
    num_envs = 30_000
    with cypool.make("CartPole-v1", num_envs=num_envs, num_threads=0, seed=9) as env:
        first = env.reset()[0]
        second = env.step(np.zeros(num_envs, int))[0]
    with cypool.make("CartPole-v1", num_envs=num_envs, batch_size=num_envs - 1, num_threads=num_threads, seed=9) as env:
        env.async_reset()
        obs, *_, info = env.recv()
        assert np.array_equal(obs, first[:-1])
        gave_up = 0
        for ids in np.array_split(info["env_id"], 3):
            env.send(np.zeros(len(ids), int), ids)
            try:
                # the environment that was not in the first batch comes with the others
                obs, *_, info = env.recv(timeout=0)
            except TimeoutError:
                gave_up += 1
                continue
            break
        else:
            obs, *_, info = env.recv()
        ids = info["env_id"]
        assert len(ids) == len(np.unique(ids)) > 10_000
        want = np.where((ids == num_envs - 1)[:, None], first[ids], second[ids])
        assert np.array_equal(obs, want)
        # without threads only `recv` continues
        assert gave_up == 3 or num_threads > 0


@pytest.mark.parametrize("num_threads", THREADS)
def test_what_the_caller_stepped_goes_to_threads_if_it_is_slow(walker, num_threads):
    from walker import functions

    # 150 batches and more, each of which takes the caller too long
    compare_with_synchronous("CartPole-v1", 6, 2, num_threads, 60, reward_hook=functions.__pyx_capi__["slow"])


@pytest.mark.parametrize("num_threads", [2, 7])
def test_a_slow_env_holds_nobody_up(trouble, num_threads):
    trouble.set_gate(False)
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, batch_size=3, num_threads=num_threads))
    env.send([trouble.GO, trouble.WAIT, trouble.GO, trouble.GO], [0, 1, 2, 3])
    for _ in range(100):
        *_, info = env.recv()
        assert sorted(info["env_id"]) == [0, 2, 3]
        env.send([trouble.GO] * 3)
    with pytest.raises(TimeoutError, match="recv"):
        # three come back, but the fourth does not
        env.recv()
        env.recv(timeout=0.01)
    trouble.set_gate(True)
    *_, info = env.recv()
    assert info["env_id"].tolist() == [1]


def test_actions_without_ids_go_to_the_last_batch():
    env = cypool.make("CartPole-v1", num_envs=6, batch_size=2, num_threads=2)
    env.async_reset()
    for _ in range(50):
        ids = env.recv()[4]["env_id"]
        env.send(np.zeros(2, np.int64))
        with pytest.raises(RuntimeError, match="in flight"):
            env.send(np.zeros(2, np.int64), ids)
        with pytest.raises(RuntimeError, match="no batch has been received"):
            env.send(np.zeros(2, np.int64))


def test_reset_throws_away_what_is_in_flight():
    env = cypool.make("CartPole-v1", num_envs=8, batch_size=4, num_threads=2, seed=1)
    env.reset()
    for _ in range(300):
        # half of the envs are in flight here
        obs, info = env.reset()
        assert (info["elapsed_step"] == 0).all() and len(obs) == 4
        obs, *_, info = env.step(np.zeros(4, np.int64))
    env.async_reset()
    env.async_reset()
    assert sorted([*env.recv()[4]["env_id"], *env.recv()[4]["env_id"]]) == list(range(8))


def test_recv_with_nothing_pending_is_an_error():
    env = cypool.make("CartPole-v1", num_envs=4, batch_size=2)
    with pytest.raises(RuntimeError, match="nothing is pending"):
        env.recv()
    env.reset()
    env.recv()
    with pytest.raises(RuntimeError, match="nothing is pending"):
        env.recv()
