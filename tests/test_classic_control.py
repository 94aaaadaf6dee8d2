"""CartPole equals Gymnasium's, bit for bit."""
import gymnasium
import numpy as np
import pytest

import cypool


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("seed", [0, 7, 123_456_789])
def test_cartpole_equals_gymnasium(seed, num_threads):
    num_envs = 6
    env = cypool.make("CartPole-v1", num_envs=num_envs, num_threads=num_threads, seed=seed)
    reference = gymnasium.make_vec("CartPole-v1", num_envs=num_envs, vectorization_mode="sync")
    obs, _ = env.reset()
    expected, _ = reference.reset(seed=seed)
    assert obs.tobytes() == expected.tobytes() and obs.dtype == expected.dtype
    random = np.random.default_rng(seed)
    for _ in range(2000):
        actions = random.integers(0, 2, num_envs)
        for got, want in zip(env.step(actions)[:4], reference.step(actions)[:4], strict=True):
            assert got.dtype == want.dtype and got.tobytes() == want.tobytes()


def test_a_good_policy_reaches_the_step_limit_as_in_gymnasium():
    env = cypool.make("CartPole-v1", num_envs=2, seed=1)
    reference = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
    obs, _ = env.reset()
    reference.reset(seed=1)
    truncations = 0
    for _ in range(1100):
        actions = (obs[:, 2] + 0.3 * obs[:, 3] > 0).astype(np.int64)
        obs, reward, terminated, truncated, _ = env.step(actions)
        for got, want in zip((obs, reward, terminated, truncated), reference.step(actions)[:4], strict=True):
            assert got.tobytes() == want.tobytes()
        truncations += truncated.sum()
    assert truncations >= 4


def test_reseeding_starts_the_same_episodes():
    env = cypool.make("CartPole-v1", num_envs=3, seed=11)
    first, _ = env.reset()
    second, _ = env.reset()
    assert not (first == second).any()
    again, _ = env.reset(seed=11)
    assert again.tobytes() == first.tobytes()
    each, _ = env.reset(seed=[13, None, 11])
    assert each[0].tobytes() == first[2].tobytes() and each[2].tobytes() == first[0].tobytes()


def test_sutton_barto_reward():
    env = cypool.make("CartPole-v1", num_envs=2, seed=3, sutton_barto_reward=True)
    reference = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync", sutton_barto_reward=True)
    env.reset()
    reference.reset(seed=3)
    rewards = set()
    for _ in range(200):
        reward = env.step([1, 0])[1]
        assert (reward == reference.step(np.array([1, 0]))[1]).all()
        rewards |= set(reward.tolist())
    assert rewards == {0.0, -1.0}


def test_limits_of_the_ids():
    assert cypool.make_spec("CartPole-v0").max_episode_steps == 200
    assert cypool.make_spec("CartPole-v1").max_episode_steps == 500
    assert cypool.make_spec("CartPole-v1", max_episode_steps=7).max_episode_steps == 7


def test_termination_on_the_last_allowed_step_is_told():
    # both facts are true there; one must not hide the other
    env = cypool.make("CartPole-v1", num_envs=1, seed=0)
    env.reset()
    steps = 0
    terminated = np.array([False])
    while not terminated[0]:
        *_, terminated, truncated, _ = env.step([1])
        steps += 1
    env = cypool.make("CartPole-v1", num_envs=1, seed=0, max_episode_steps=steps)
    env.reset()
    for _ in range(steps):
        *_, terminated, truncated, _ = env.step([1])
    assert terminated[0] and truncated[0]
