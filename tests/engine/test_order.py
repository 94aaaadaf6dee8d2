"""Synchronous pools: rows in the order of the call, whatever the number of threads."""
import numpy as np
import pytest
from pool_arguments import THREADS
from receiving import started

import cypool


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("num_envs", [1, 3, 130, 1000])
def test_row_i_is_env_i(num_envs, num_threads):
    env = cypool.make("CartPole-v1", num_envs=num_envs, num_threads=num_threads, seed=1)
    obs, info = env.reset()
    assert (info["env_id"] == np.arange(num_envs)).all()
    for _ in range(100):
        *_, info = env.step(np.zeros(num_envs, np.int64))
        assert (info["env_id"] == np.arange(num_envs)).all()


def test_results_do_not_depend_on_the_number_of_threads(walker):
    def episode(num_threads):
        env = cypool.make("walker/Walk-v0", num_envs=97, num_threads=num_threads, seed=4)
        random = np.random.default_rng(0)
        rows = [env.reset()[0]]
        for _ in range(200):
            obs, reward, terminated, truncated, info = env.step(random.integers(0, 3, 97))
            rows += [obs, reward, terminated, truncated, *info.values()]
        return b"".join(row.tobytes() for row in rows)

    assert len({episode(num_threads) for num_threads in THREADS}) == 1


@pytest.mark.parametrize("num_threads", THREADS)
def test_a_subset_comes_back_in_the_order_of_its_ids(walker, num_threads):
    env = started(cypool.make("walker/Walk-v0", num_envs=50, num_threads=num_threads, seed=0))
    steps = np.zeros(50, int)
    random = np.random.default_rng(2)
    for _ in range(50):
        ids = random.permutation(50)[:random.integers(1, 51)]
        obs, reward, _, _, info = env.step(np.ones(len(ids), np.int64), ids)
        assert obs.shape == (len(ids), 1) and reward.shape == (len(ids),)
        assert (info["env_id"] == ids).all()
        # 20 steps are an episode, the next one is its reset
        steps[ids] = (steps[ids] + 1) % 21
        assert (info["elapsed_step"] == steps[ids]).all()


@pytest.mark.parametrize("num_threads", THREADS)
def test_send_then_recv_is_step(num_threads):
    one = started(cypool.make("CartPole-v1", num_envs=9, num_threads=num_threads, seed=5))
    two = cypool.make("CartPole-v1", num_envs=9, num_threads=num_threads, seed=5)
    two.async_reset()
    two.recv()
    for _ in range(60):
        two.send(np.ones(9, np.int64))
        for a, b in zip(one.step(np.ones(9, np.int64)), two.recv(), strict=True):
            assert str(a) == str(b)


@pytest.mark.parametrize("num_threads", THREADS)
def test_the_next_step_after_an_end_is_a_reset(trouble, num_threads):
    env = started(cypool.make("walker/Trouble-v0", num_envs=3, num_threads=num_threads))
    *_, reward, terminated, truncated, info = env.step([trouble.GO, trouble.TERMINATE, trouble.TRUNCATE])
    assert terminated.tolist() == [False, True, False] and truncated.tolist() == [False, False, True]
    obs, reward, terminated, truncated, info = env.step([trouble.GO, trouble.TERMINATE, trouble.TRUNCATE])
    assert obs["count"][:, 0].tolist() == [2, 0, 0] and reward.tolist() == [2, 0, 0]
    assert not terminated.any() and not truncated.any()
    assert info["elapsed_step"].tolist() == [2, 0, 0]


def test_dict_observations_and_info(walker):
    env = cypool.make("walker/Trouble-v0", num_envs=5, num_threads=2)
    obs, info = env.reset()
    assert obs["count"].shape == (5, 2) and obs["last"].dtype == np.int64
    assert info["bytes"].tolist() == [[1, 2, i] for i in range(5)]
    assert env.observation_space.contains(obs)
    obs, *_ = env.step([0] * 5)
    assert obs["count"].tolist() == [[1.0, -1.0]] * 5


@pytest.mark.parametrize("num_threads", [2, 7])
def test_never_two_threads_in_one_env(trouble, num_threads):
    env = started(cypool.make("walker/Trouble-v0", num_envs=8, num_threads=num_threads))
    fast = cypool.make("walker/Trouble-v0", num_envs=8, num_threads=num_threads, batch_size=3)
    fast.async_reset()
    for _ in range(2000):
        env.step([0] * 8)
        info = fast.recv()[4]
        fast.send([0] * len(info["env_id"]), info["env_id"])
    assert trouble.count_overlaps() == 0


def test_actions_of_a_refused_send_leave_those_in_flight():
    with cypool.make("CartPole-v1", num_envs=3, num_threads=1, seed=2) as env, \
            cypool.make("CartPole-v1", num_envs=3, num_threads=1, seed=2) as other:
        assert env.reset()[0].tolist() == other.reset()[0].tolist()
        right, left = np.ones(3, np.int64), np.zeros(3, np.int64)
        # the caller makes these steps in `recv`
        env.send(right)
        with pytest.raises(RuntimeError, match="in flight"):
            env.send(left)
        assert env.recv()[0].tolist() == other.step(right)[0].tolist()
        # and another time with the array that has come back
        assert env.step(left)[0].tolist() == other.step(left)[0].tolist()
