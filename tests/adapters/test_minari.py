"""Minari: data sets that it writes and reads."""
import os
import pickle
import warnings

import numpy as np
import pytest

import cypool

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari", "robotics")]
minari = pytest.importorskip("minari")

from cypool.adapters.minari import from_minari, record_dataset, to_minari  # noqa: E402


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "MINARI_DATASETS_PATH", str(tmp_path))
    # a warning that the data set has no author
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        yield


def play(id, num_steps, num_envs=3, capacity=3000, **options):
    env = cypool.make(id, num_envs=num_envs, seed=0, **options)
    env.action_space.seed(0)
    buffer = cypool.ReplayBuffer(env, capacity)
    buffer.reset()
    for _ in range(num_steps):
        buffer.step(env.action_space.sample())
    return buffer


def contents_of(buffer):
    spec = buffer.env.env_spec
    return sorted((*(part.tobytes() for part in spec.unpack(each.obs)), each.action.tobytes(), each.reward.tobytes(),
                   each.terminated.tobytes()) for each in buffer.episodes())


@pytest.mark.parametrize("id, options", [
    ("CartPole-v1", {}), ("Pendulum-v1", {"max_episode_steps": 9}), ("FetchReach-v4", {"max_episode_steps": 6}),
    ("Breakout-v5", {"max_episode_steps": 12}), ("CartPole-v1", {"autoreset_mode": "SameStep"})])
def test_there_and_back(id, options):
    buffer = play(id, 60, **options)
    dataset = to_minari(buffer, "some/random-v0", author="nobody")
    assert dataset.total_episodes == len(list(buffer.episodes())) > 2
    other = cypool.ReplayBuffer(buffer.env, 3000)
    from_minari("some/random-v0", other)
    assert contents_of(other) == contents_of(buffer)
    env = minari.load_dataset("some/random-v0").recover_environment()
    assert env.observation_space == buffer.env.single_observation_space


def test_record_dataset_of_environments_that_end_together_has_as_many_episodes_as_asked():
    env = cypool.make("CartPole-v1", num_envs=8, seed=4, max_episode_steps=3)
    dataset = record_dataset(env, lambda obs: np.zeros(8, np.int64), 10, "some/ten-v0")
    assert dataset.total_episodes == len(list(dataset)) == 10 and dataset.total_steps == 30


def test_recorded_episodes_are_those_of_the_environment():
    env = cypool.make("CartPole-v1", num_envs=2, seed=4)
    env.action_space.seed(0)
    dataset = record_dataset(env, lambda obs: (obs[:, 2] > 0).astype(np.int64), 5, "some/leaning-v0")
    assert dataset.total_episodes == 5
    assert {each.get("seed") for each in dataset.storage.get_episode_metadata(range(5))} >= {4, 5}
    again = dataset.recover_environment()
    first = dataset[0]
    for seed in (4, 5):
        obs, _ = again.reset(seed=seed)
        if (obs == first.observations[0]).all():
            break
    for t, action in enumerate(first.actions):
        obs, reward, terminated, truncated, _ = again.step(action)
        assert (obs == first.observations[t + 1]).all() and reward == first.rewards[t]
        assert (terminated, truncated) == (first.terminations[t], first.truncations[t])
    assert terminated or truncated
    assert (first.infos["elapsed_step"] == np.arange(len(first) + 1)).all()


@pytest.mark.parametrize("id, mode, options", [
    ("CartPole-v1", "NextStep", {}), ("CartPole-v1", "SameStep", {}), ("CartPole-v1", "Disabled", {}),
    ("Breakout-v5", "SameStep", {"max_episode_steps": 11}), ("FetchReach-v4", "NextStep", {"max_episode_steps": 6})])
def test_a_history(id, mode, options):
    env = cypool.make(id, num_envs=3, seed=0, autoreset_mode=mode, **options)
    env.action_space.seed(0)
    obs, _ = env.reset()
    with cypool.history(env, every=25) as history:
        # a replay buffer stores the same calls
        buffer = cypool.ReplayBuffer(env, 3000)
        buffer.reset(seed=[7, 8, 9])
        for _ in range(70):
            _, _, terminated, truncated, _ = buffer.step(env.action_space.sample())
            if mode == "Disabled" and (terminated | truncated).any():
                buffer.reset(np.flatnonzero(terminated | truncated))
        before = env.save()
        dataset = to_minari(history, "some/history-v0")
        after = env.save()
        for one, two in zip(before.rows, after.rows, strict=True):
            assert pickle.dumps({**one, "episode_ns": 0}) == pickle.dumps({**two, "episode_ns": 0})
        assert history.position == len(history) == 70
    wanted = list(buffer.episodes())
    other = cypool.ReplayBuffer(env, 3000)
    from_minari(dataset, other)
    assert contents_of(other) == contents_of(buffer) and len(wanted) == dataset.total_episodes > 2
    for episode in dataset.iterate_episodes():
        assert episode.infos["elapsed_step"].tolist() == list(range(len(episode) + 1))
    seeds = [each.get("seed") for each in dataset.storage.get_episode_metadata(range(len(wanted)))]
    assert sorted(seed for seed in seeds if seed is not None) == [7, 8, 9]


def test_a_history_of_rollouts_and_loads():
    env = cypool.make("CartPole-v1", num_envs=2, seed=0)
    env.reset(seed=3)
    with cypool.history(env, every=40) as history:
        state = env.save()
        made = env.rollout(np.zeros((30, 2), np.int64), observe="last")
        # the episodes that are not over are cut here
        env.load(state)
        env.rollout(np.zeros((30, 2), np.int64))
        dataset = to_minari(history, "some/history-v0")
    ended = made.terminated.sum()
    assert dataset.total_episodes == 2 * ended > 0
    first, again = list(dataset.iterate_episodes())[:ended], list(dataset.iterate_episodes())[ended:]
    for one, two in zip(first, again, strict=True):
        assert one.observations.tobytes() == two.observations.tobytes() and one.rewards.sum() == len(one.rewards)


def test_wrong_arguments():
    env = cypool.make("CartPole-v1", num_envs=2)
    with pytest.raises(ValueError, match="source: expected at least one complete episode, got none"):
        to_minari(cypool.ReplayBuffer(env, 100), "some/empty-v0")
    with pytest.raises(ValueError, match="env: expected a synchronous single-agent pool with NextStep"):
        record_dataset(cypool.make("CartPole-v1", autoreset_mode="SameStep"), None, 1, "some/x-v0")
    with pytest.raises(ValueError, match="num_episodes: expected 1"):
        record_dataset(env, None, 0, "some/x-v0")
    to_minari(play("Pendulum-v1", 20, max_episode_steps=5), "some/other-v0")
    with pytest.raises((TypeError, ValueError), match="expected"):
        from_minari("some/other-v0", cypool.ReplayBuffer(env, 100))
    with pytest.raises(TypeError, match="source: expected a ReplayBuffer or a History"):
        to_minari(env, "some/x-v0")
    env.reset()
    with cypool.history(env) as history, pytest.raises(ValueError, match="source: expected at least one complete "):
        to_minari(history, "some/x-v0")
