"""Gymnasium's own vector wrappers work on a pool."""
import gymnasium
import gymnasium.wrappers.vector as wrappers
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from packaging.version import Version

import cypool

BOX = spaces.Box(-1, 1, (4,), np.float32)


@pytest.mark.parametrize("wrap", [
    wrappers.RecordEpisodeStatistics,
    wrappers.DictInfoToList,
    wrappers.NormalizeObservation,
    wrappers.NormalizeReward,
    wrappers.FlattenObservation,
    lambda env: wrappers.ClipReward(env, -0.5, 0.5),
    lambda env: wrappers.TransformReward(env, lambda reward: 2 * reward),
    lambda env: wrappers.DtypeObservation(env, np.float64),
    lambda env: wrappers.RescaleObservation(
        wrappers.TransformObservation(env, lambda obs: np.clip(obs, -1, 1), batch_space(BOX, 4), BOX), -2, 2),
    lambda env: wrappers.ReshapeObservation(env, (2, 2)),
    lambda env: wrappers.TransformAction(env, lambda actions: 1 - actions, env.action_space, env.single_action_space),
])
def test_wrapper(wrap):
    env = wrap(cypool.make("CartPole-v1", num_envs=4, num_threads=2, seed=0))
    env.reset(seed=1)
    for _ in range(100):
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert len(obs) == len(reward) == len(terminated) == len(truncated) == 4
    assert len(info) in (2, 4)
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.step(env.action_space.sample())


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_episode_statistics_are_those_of_the_episodes(mode):
    if mode == "SameStep" and Version(gymnasium.__version__) < Version("1.4"):
        pytest.skip("before Gymnasium 1.4 its wrapper leaves out the first step of each episode there")
    env = wrappers.RecordEpisodeStatistics(cypool.make("CartPole-v1", num_envs=4, seed=0, autoreset_mode=mode))
    env.reset()
    length, ended = np.zeros(4), np.zeros(4, bool)
    for _ in range(300):
        *_, terminated, truncated, info = env.step(env.action_space.sample())
        if mode == "NextStep":
            length[ended] = -1
        length += 1
        ended = terminated | truncated
        if ended.any():
            assert (info["episode"]["l"][ended] == length[ended]).all()
            assert (info["episode"]["r"][ended] == length[ended]).all()
        if mode == "SameStep":
            length[ended] = 0


@pytest.mark.parametrize("name", ["call", "get_attr", "set_attr"])
def test_methods_of_environments_that_are_no_objects_say_so(name):
    with cypool.make("CartPole-v1", num_threads=0) as env:
        with pytest.raises(AttributeError, match=f"^{name}: a pool has no Python object for each environment; use "):
            getattr(env, name)
        assert not hasattr(env, name)
