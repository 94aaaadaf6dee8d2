"""Hindsight experience replay of Stable-Baselines3 on robots with goals: unchanged, and as with the reference."""
import numpy as np
import pytest
from stable_baselines3 import SAC, HerReplayBuffer
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from cypool.adapters import sb3

pytestmark = [pytest.mark.large_packages, pytest.mark.families("robotics")]


def trained(env, num_steps=260):
    model = SAC("MultiInputPolicy", env, replay_buffer_class=HerReplayBuffer, learning_starts=100, buffer_size=1000,
                batch_size=32, policy_kwargs={"net_arch": [16]}, seed=3, device="cpu", train_freq=4, gradient_steps=1)
    return model.learn(num_steps)


@pytest.mark.parametrize("id", ["FetchReach-v4", "PointMaze_UMaze-v3"])
def test_learning_is_that_with_the_reference(id):
    from cypool.envs.robotics.reference import make

    # longer than the first episode
    limit = {"max_episode_steps": 50}
    ours = trained(sb3.make(id, num_envs=1, **limit))
    theirs = trained(DummyVecEnv([lambda: Monitor(make(id, **limit))]))
    for name, part in theirs.replay_buffer.observations.items():
        assert ours.replay_buffer.observations[name].tobytes() == part.tobytes()
    for name in ("actions", "rewards", "dones"):
        assert getattr(ours.replay_buffer, name).tobytes() == getattr(theirs.replay_buffer, name).tobytes()
    for one, other in zip(ours.policy.parameters(), theirs.policy.parameters(), strict=True):
        assert (one == other).all()
    assert list(ours.ep_success_buffer) == list(theirs.ep_success_buffer)


def test_methods_of_goals():
    env = sb3.make("FetchReach-v4", num_envs=3, seed=0)
    obs = env.reset()
    achieved, desired = obs["achieved_goal"], obs["desired_goal"]
    rewards, = env.env_method("compute_reward", achieved, desired, [{}] * 3, indices=[0])
    assert rewards.tolist() == env.pool.compute_reward(achieved, desired).tolist()
    terminated = env.env_method("compute_terminated", achieved, desired, {})
    assert np.array(terminated).tolist() == [[False] * 3] * 3
    with pytest.raises(AttributeError, match="expected one of the methods compute_reward"):
        env.env_method("render")
    with pytest.raises(NotImplementedError, match="has no goals"):
        sb3.make("CartPole-v1", num_envs=1).env_method("compute_reward", achieved, desired, {})
