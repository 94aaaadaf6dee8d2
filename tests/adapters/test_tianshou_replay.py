"""Tianshou with a replay buffer of cypool's: the same bits as with Tianshou's own."""
import copy
import pickle

import numpy as np
import pytest
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.algorithm_base import policy_within_training_step
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, PrioritizedVectorReplayBuffer, VectorReplayBuffer
from tianshou.utils.net.common import Net

from cypool.adapters import tianshou
from cypool.adapters.tianshou_replay import FramePrioritizedReplayBuffer, FrameReplayBuffer

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari", "robotics")]


def check_equal(one, two):
    assert one.get_keys() == two.get_keys()
    for key in one.get_keys():
        if isinstance(one[key], Batch):
            check_equal(one[key], two[key])
        else:
            np.testing.assert_array_equal(one[key], two[key], err_msg=key)


def filled(ours, theirs, id, num_steps, options, **kwargs):
    """Fills a buffer of each kind with the same steps, some environments at a time."""
    env = tianshou.make(id, num_envs=3, seed=0, **options)
    one, two = ours(env, 120, spare=0.3, **kwargs), theirs(120, 3, **kwargs)
    env.pool.action_space.seed(0)
    rng = np.random.default_rng(0)
    obs, _ = env.reset()
    for t in range(num_steps):
        ids = np.arange(3) if t % 3 else np.sort(rng.permutation(3)[:2])
        actions = env.pool.action_space.sample()[ids]
        after, reward, terminated, truncated, info = env.step(actions, ids)
        batch = Batch(obs=obs[ids], act=actions, rew=reward, terminated=terminated, truncated=truncated,
                      obs_next=after, info=info)
        for got, wanted in zip(one.add(batch, ids), two.add(batch, ids), strict=True):
            np.testing.assert_array_equal(got, wanted)
        obs[ids] = after
        over = ids[terminated | truncated]
        if len(over):
            obs[over] = env.reset(over)[0]
        if t == num_steps // 2:
            # in the middle of episodes, as collectors do it
            obs, _ = env.reset()
    return one, two


@pytest.mark.parametrize("id, num_steps, options", [
    ("CartPole-v1", 70, {}), ("Breakout-v5", 60, {"max_episode_steps": 12}), ("FetchReach-v4", 30, {}),
    ("Pendulum-v1", 30, {"max_episode_steps": 9})])
def test_samples_are_tianshous(id, num_steps, options):
    one, two = filled(FrameReplayBuffer, VectorReplayBuffer, id, num_steps, options)
    check_equal(one[:], two[:])
    for size in (16, 0, 1):
        (got, index), (wanted, same) = one.sample(size), two.sample(size)
        assert (index == same).all()
        check_equal(got, wanted)
    check_equal(one[5], two[5])
    check_equal(one[[3, 4]], two[[3, 4]])


def test_prioritized_samples_are_tianshous():
    one, two = filled(FramePrioritizedReplayBuffer, PrioritizedVectorReplayBuffer, "Breakout-v5", 60,
                      {"max_episode_steps": 12}, alpha=0.6, beta=0.4)
    for _ in range(3):
        got = []
        for buffer in (one, two):
            np.random.seed(3)
            batch, index = buffer.sample(20)
            buffer.update_weight(index, np.arange(20) + 0.5)
            got.append(batch)
        check_equal(*got)


def weights_after(make_buffer, num_steps):
    torch.manual_seed(0)
    np.random.seed(0)
    env = tianshou.make("CartPole-v1", num_envs=4, seed=0)
    policy = DiscreteQLearningPolicy(model=Net(state_shape=4, action_shape=2, hidden_sizes=[32]),
                                     action_space=env.pool.single_action_space, eps_training=0.3)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=0.9, n_step_return_horizon=3,
                    target_update_freq=5)
    buffer = make_buffer(env)
    collector = Collector(algorithm, env, buffer, exploration_noise=True)
    collector.reset()
    for _ in range(num_steps):
        collector.collect(n_step=40)
        with policy_within_training_step(policy):
            for _ in range(5):
                algorithm.update(buffer=buffer, sample_size=32)
    # the collector resets episodes that are not over
    collector.reset_env()
    collector.collect(n_step=40)
    return [*policy.state_dict().values()], buffer


def test_training_has_the_same_bits():
    torch.set_num_threads(1)
    (got, ours), (wanted, theirs) = (weights_after(make, 15) for make in (
        lambda env: FrameReplayBuffer(env, 300, spare=0.3), lambda env: VectorReplayBuffer(300, 4)))
    assert all(torch.equal(one, two) for one, two in zip(got, wanted, strict=True)) and len(ours) == len(theirs) == 300
    check_equal(ours[:], theirs[:])


def test_steps_that_are_lost_are_drawn_again():
    env = tianshou.make("CartPole-v1", num_envs=2, max_episode_steps=2)
    buffer = FrameReplayBuffer(env, 100, spare=0.0)
    obs, _ = env.reset()
    for _ in range(120):
        after, reward, terminated, truncated, info = env.step(np.zeros(2, np.int64))
        buffer.add(Batch(obs=obs, act=np.zeros(2, np.int64), rew=reward, terminated=terminated, truncated=truncated,
                         obs_next=after, info=info))
        obs = after
        over = np.flatnonzero(terminated | truncated)
        if len(over):
            obs = obs.copy()
            obs[over] = env.reset(over)[0]
    assert (~buffer.replay.has(buffer._index)).any()
    batch, _ = buffer.sample(400)
    assert np.isfinite(batch.obs).all()
    there = buffer.replay.has(buffer._index)
    for all_rows in (buffer[:], buffer.sample(0)[0]):
        assert len(all_rows.obs) == there.sum() < len(buffer)
    assert len(buffer.sample(None)[0]) == len(buffer)


def test_index_that_changes_in_place_gives_other_rows():
    one, _ = filled(FrameReplayBuffer, VectorReplayBuffer, "CartPole-v1", 40, {})
    index = np.array([3])
    first = one.get(index, "obs")
    index[0] = 4
    assert (one.get(index, "obs") == one[4].obs).all() and not (first == one[4].obs).all()


@pytest.mark.parametrize("id, options", [("CartPole-v1", {}), ("FetchReach-v4", {})])
def test_observations_of_all_places_are_tianshous(id, options):
    one, two = filled(FrameReplayBuffer, VectorReplayBuffer, id, 25, options)
    for name in ("obs", "obs_next"):
        got, wanted = getattr(one, name), getattr(two, name)
        if isinstance(wanted, Batch):
            check_equal(got, wanted)
        else:
            np.testing.assert_array_equal(got, wanted)
    assert not one.hasnull() and hasattr(one, "obs_next")
    check_equal(one.isnull(), two.isnull())


@pytest.mark.parametrize("copied", [lambda buffer: pickle.loads(pickle.dumps(buffer)), copy.deepcopy])
def test_copies_go_on_as_tianshous(copied):
    one, two = (copied(each) for each in filled(FrameReplayBuffer, VectorReplayBuffer, "CartPole-v1", 60, {}))
    check_equal(one[:], two[:])
    (got, index), (wanted, same) = one.sample(16), two.sample(16)
    assert (index == same).all()
    check_equal(got, wanted)
    obs = np.ones((3, 4), np.float32)
    step = Batch(obs=obs, act=np.ones(3, np.int64), rew=np.ones(3), terminated=np.ones(3, bool),
                 truncated=np.zeros(3, bool), obs_next=obs, info=Batch(env_id=np.arange(3)))
    for each in (one, two):
        each.add(step, np.arange(3))
    np.testing.assert_array_equal(one.obs, two.obs)
    np.testing.assert_array_equal(one.rew, two.rew)


def test_wrong_arguments():
    env = tianshou.make("CartPole-v1", num_envs=2)
    with pytest.raises(ValueError, match="stack_num: expected no argument"):
        FrameReplayBuffer(env, 100, stack_num=4)
    with pytest.raises(NotImplementedError, match="save_hdf5"):
        FrameReplayBuffer(env, 100).save_hdf5("x")
