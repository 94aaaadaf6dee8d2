"""Stable-Baselines3 with a replay buffer of cypool's: the same bits as with SB3's own."""
import pickle

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3 import DQN, SAC
from stable_baselines3.common.vec_env import DummyVecEnv

import cypool
from cypool.adapters import sb3
from cypool.adapters.sb3_replay import SB3ReplayBuffer

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari", "box2d", "mujoco", "procgen", "robotics")]


def parameters_of(algorithm, policy, id, num_steps, ours, options=None, **kwargs):
    env = sb3.make(id, num_envs=4, **(options or {}))
    more = {}
    if ours is not None:
        more = {"replay_buffer_class": SB3ReplayBuffer, "replay_buffer_kwargs": {"env": env, **ours}}
    model = algorithm(policy, env, seed=3, learning_starts=60, device="cpu", **kwargs, **more)
    model.learn(num_steps)
    # this resets episodes that are not over
    model.learn(50)
    return model, [tensor.clone() for tensor in model.policy.state_dict().values()]


@pytest.mark.parametrize("algorithm, policy, id, num_steps, options, kwargs", [
    (DQN, "MlpPolicy", "CartPole-v1", 2000, {"max_episode_steps": 30}, {"buffer_size": 500}),
    (SAC, "MlpPolicy", "Pendulum-v1", 400, {"max_episode_steps": 25}, {"buffer_size": 200}),
    (SAC, "MlpPolicy", "Humanoid-v5", 240, {"max_episode_steps": 25}, {"buffer_size": 200}),
    (SAC, "CnnPolicy", "CarRacing-v3", 80, {"max_episode_steps": 15}, {"buffer_size": 100, "batch_size": 8}),
    (DQN, "CnnPolicy", "procgen-coinrun-v0", 100, {"max_episode_steps": 15}, {"buffer_size": 60, "batch_size": 8}),
    (DQN, "CnnPolicy", "Breakout-v5", 240, {"max_episode_steps": 100}, {"buffer_size": 120, "batch_size": 8})])
def test_training_has_the_same_bits(algorithm, policy, id, num_steps, options, kwargs):
    torch.set_num_threads(1)
    _, wanted = parameters_of(algorithm, policy, id, num_steps, None, options, **kwargs)
    model, got = parameters_of(algorithm, policy, id, num_steps, {"spare": 0.3}, options, **kwargs)
    assert all(torch.equal(one, two) for one, two in zip(wanted, got, strict=True))
    assert model.replay_buffer.full


def test_actions_are_those_of_the_environment():
    env = sb3.make("Humanoid-v5", num_envs=2, seed=0)
    model = SAC("MlpPolicy", env, replay_buffer_class=SB3ReplayBuffer, replay_buffer_kwargs={"env": env},
                learning_starts=100, device="cpu", seed=0)
    model.learn(40)
    replay = model.replay_buffer.replay
    actions = replay.gather(replay.indices()).action
    assert (np.abs(actions) <= np.float32(0.4)).all() and (np.abs(actions) > 0.3).any()
    scaled = model.replay_buffer.sample(100).actions
    assert (scaled.abs() <= 1).all() and (scaled.abs() > 0.8).any()


def test_dicts_of_observations():
    env = sb3.make("FetchReach-v4", num_envs=2)
    model = SAC("MultiInputPolicy", env, replay_buffer_class=SB3ReplayBuffer, replay_buffer_kwargs={"env": env},
                learning_starts=20, device="cpu")
    model.learn(40)


def test_steps_that_are_lost_are_drawn_again():
    env = sb3.make("CartPole-v1", num_envs=2, max_episode_steps=2)
    model = DQN("MlpPolicy", env, replay_buffer_class=SB3ReplayBuffer,
                replay_buffer_kwargs={"env": env, "spare": 0.0}, buffer_size=200, learning_starts=20, device="cpu")
    model.learn(800)
    replay = model.replay_buffer
    assert (~replay.replay.has(replay.index.reshape(-1))).any()
    assert np.isfinite(replay.sample(500).rewards).all()


def test_models_save_and_load_it(tmp_path):
    env = sb3.make("Breakout-v5", num_envs=2, seed=0, max_episode_steps=20)
    kwargs = {"buffer_size": 80, "replay_buffer_class": SB3ReplayBuffer, "replay_buffer_kwargs": {"env": env}}
    model = DQN("CnnPolicy", env, learning_starts=1000, device="cpu", **kwargs)
    model.learn(100)
    model.save(tmp_path / "model")
    model.save_replay_buffer(tmp_path / "buffer")
    other = DQN.load(tmp_path / "model", env=env, device="cpu")
    other.load_replay_buffer(tmp_path / "buffer")

    def sampled(buffer):
        np.random.seed(0)
        return buffer.sample(64)

    # it has each step, also that which the next one continues
    assert (other.replay_buffer.replay.indices() == model.replay_buffer.replay.indices()).all()
    for wanted, got in zip(sampled(model.replay_buffer), sampled(other.replay_buffer), strict=True):
        assert wanted is got is None or isinstance(got, bool) or torch.equal(wanted, got)
    other.learn(32, reset_num_timesteps=False)
    assert other.replay_buffer.pos == (model.replay_buffer.pos + 16) % 40
    # with more environments, the buffer has to know them
    more = sb3.make("Breakout-v5", num_envs=4)
    assert DQN.load(tmp_path / "model", env=more, replay_buffer_kwargs={"env": more}, device="cpu").n_envs == 4


def test_pickles_of_others():
    env = sb3.make("CartPole-v1", num_envs=2, seed=0)
    model = DQN("MlpPolicy", env, buffer_size=40, replay_buffer_class=SB3ReplayBuffer,
                replay_buffer_kwargs={"env": env}, device="cpu").learn(30)
    state = model.replay_buffer.__getstate__()
    pool, capacity, contents = state["replay"]
    arrays = contents["arrays"]
    obs = next(name for name in arrays if name.startswith("obs") and name != "obs_sums")
    less = {name: array for name, array in arrays.items() if name != obs}
    for message, rows, changed in [
            ("rows of a replay buffer, got damaged ones", capacity, {**arrays, obs: np.zeros_like(arrays[obs])}),
            ("a buffer with rows .*, got one with rows", capacity + 2, arrays),
            ("arrays that fit this buffer, got different ones", capacity, {**arrays, obs: arrays[obs][:1]}),
            ("arrays that fit this buffer, got different ones", capacity, less)]:
        pickled = pool, rows, {**contents, "arrays": changed}
        with pytest.raises(ValueError, match=f"^expected {message}"):
            SB3ReplayBuffer.__new__(SB3ReplayBuffer).__setstate__({**state, "replay": pickled})
    with pytest.raises(TypeError, match="^a ReplayBuffer cannot be pickled or copied: use save"):
        pickle.dumps(model.replay_buffer.replay)


def test_wrong_arguments():
    env, other = sb3.make("CartPole-v1", num_envs=2), sb3.make("CartPole-v1", num_envs=3)
    with pytest.raises(ValueError, match="env: expected the model's environments, with 2 rows"):
        DQN("MlpPolicy", env, replay_buffer_class=SB3ReplayBuffer, replay_buffer_kwargs={"env": other})
    for wrong in ({}, {"env": DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * 2)}):
        with pytest.raises(TypeError, match="^env: expected environments from cypool.adapters.sb3"):
            DQN("MlpPolicy", env, replay_buffer_class=SB3ReplayBuffer, replay_buffer_kwargs=wrong)
    normalized = sb3.make("CartPole-v1", num_envs=2, normalize_obs=True)
    with pytest.raises(ValueError, match="^env: expected environments without normalize_obs"):
        DQN("MlpPolicy", normalized, replay_buffer_class=SB3ReplayBuffer, replay_buffer_kwargs={"env": normalized})
    with pytest.raises(ValueError, match="optimize_memory_usage: expected False"):
        DQN("MlpPolicy", env, replay_buffer_class=SB3ReplayBuffer, replay_buffer_kwargs={"env": env},
            optimize_memory_usage=True)
    with pytest.raises(cypool.ClosedError):
        env.close()
        env.pool.step([0, 0])
