"""Stable-Baselines3: cypool.adapters.sb3 compared with SB3's own DummyVecEnv."""
import functools
import re
import sys
from contextlib import closing
from pathlib import Path

import cloudpickle
import gymnasium
import numpy as np
import pytest
import torch
from adapters.chatty import Chatty
from gymnasium.wrappers import RecordEpisodeStatistics
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecMonitor, VecNormalize

import cypool
from cypool.adapters import sb3

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari", "minigrid")]
# workers cannot import this module
cloudpickle.register_pickle_by_value(sys.modules[__name__])

NUM = 4


def reference(id, num_envs=NUM, **kwargs):
    return DummyVecEnv([lambda: Monitor(gymnasium.make(id, **kwargs)) for _ in range(num_envs)])


@pytest.mark.parametrize("id", ["CartPole-v1", "Pendulum-v1", "Acrobot-v1", "MountainCarContinuous-v0"])
@pytest.mark.parametrize("seed", [0, 7])
def test_steps_are_those_of_dummy_vec_env(id, seed):
    limit = {"max_episode_steps": 30}
    ours, theirs = sb3.make(id, num_envs=NUM, **limit), reference(id, **limit)
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    ours.action_space.seed(seed)
    for env in (ours, theirs):
        env.seed(seed)
    assert ours.reset().tobytes() == theirs.reset().tobytes()
    ended = truncated = 0
    for _ in range(100):
        actions = np.stack([ours.action_space.sample() for _ in range(NUM)])
        obs, reward, done, infos = ours.step(actions)
        obs2, reward2, done2, infos2 = theirs.step(actions)
        assert (obs == obs2).all() and (done == done2).all()
        assert reward.dtype == reward2.dtype and (reward == reward2).all()
        for i in range(NUM):
            assert infos[i]["env_id"] == i and ("episode" in infos[i]) == ("episode" in infos2[i]) == done[i]
            if done[i]:
                ended += 1
                truncated += infos[i]["TimeLimit.truncated"]
                assert infos[i]["TimeLimit.truncated"] is infos2[i]["TimeLimit.truncated"]
                assert (infos[i]["terminal_observation"] == infos2[i]["terminal_observation"]).all()
                assert infos[i]["episode"]["l"] == infos2[i]["episode"]["l"] == infos[i]["elapsed_step"]
                assert infos[i]["episode"]["r"] == pytest.approx(infos2[i]["episode"]["r"], abs=1e-5)
                assert ours.reset_infos[i]["elapsed_step"] == 0
    assert ended > NUM and truncated


def test_make_takes_the_number_of_environments_by_position():
    env = sb3.make("CartPole-v1", 4, seed=1)
    assert env.num_envs == 4 and env.reset().shape == (4, 4)
    env.close()


@pytest.mark.parametrize("algorithm, id, kwargs", [
    (PPO, "CartPole-v1", {"n_steps": 64, "batch_size": 64}),
    (A2C, "Acrobot-v1", {}),
    (DQN, "CartPole-v1", {"learning_starts": 100, "train_freq": 4}),
    (SAC, "Pendulum-v1", {"learning_starts": 300}),
])
def test_learning_is_that_of_dummy_vec_env(algorithm, id, kwargs):
    agents = []
    for env in (sb3.make(id, num_envs=NUM, max_episode_steps=20), reference(id, max_episode_steps=20)):
        agent = algorithm("MlpPolicy", env, seed=3, device="cpu", **kwargs)
        agent.learn(400)
        agents.append(agent.policy.state_dict())
    assert all(torch.equal(agents[0][name], agents[1][name]) for name in agents[1])


def examples(page):
    """Returns the examples of a page of the documentation."""
    return re.findall(r"```python\n(.*?)```", (Path(__file__).parents[2] / "docs" / page).read_text(), re.DOTALL)


def example(word):
    """Returns the example of the page that contains a word."""
    return next(block for block in examples("how_to/training_libraries.md") if word in block)


def test_the_example_for_rewards():
    names = {}
    exec(example("VecMonitor").replace("2_000", "1_024"), names)
    # an action is worth less than one, where the pole leans
    assert all(episode["r"] < episode["l"] for episode in names["agent"].ep_info_buffer)


# imageio-ffmpeg leaves its pipes to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_tutorial_trains_evaluates_and_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train, evaluate, watch = examples("tutorials/train_an_agent.md")
    names = {}
    exec(train.replace("60_000", "1_024"), names)
    exec(evaluate, names)
    assert names["mean"] > 10
    assert names["test"].seed(1000) and evaluate_policy(names["agent"], names["test"], 64)[0] == names["mean"]
    exec(watch.replace("num_steps=300", "num_steps=5"), names)
    assert (tmp_path / "cartpole.mp4").stat().st_size


def test_minigrid_is_solved_by_the_recipe_and_its_dicts_reach_an_extractor():
    names = {}
    exec(example("MiniGrid-Empty-5x5-v0"), names)
    test = sb3.make("MiniGrid-Empty-5x5-v0", num_envs=8, seed=100, obs_type="onehot", image_only=True)
    # the best is 0.955, random actions have 0.2
    assert evaluate_policy(names["agent"], test, 32)[0] > 0.9
    flat = type("Flat", (BaseFeaturesExtractor,), {"forward": lambda self, obs: torch.cat(
        [part.flatten(1) for part in obs.values()], dim=1)})
    kwargs = {"features_extractor_class": flat, "features_extractor_kwargs": {"features_dim": 1080}}
    env = sb3.make("MiniGrid-DoorKey-5x5-v0", num_envs=16, obs_type="onehot")
    PPO("MultiInputPolicy", env, n_steps=8, policy_kwargs={"normalize_images": False, **kwargs}).learn(128)


def test_ppo_solves_cartpole():
    def mean(seed):
        agent = PPO("MlpPolicy", sb3.make("CartPole-v1", num_envs=8), n_steps=32, batch_size=256, gamma=0.98,
                    gae_lambda=0.8, n_epochs=20, ent_coef=0.0, learning_rate=1e-3, clip_range=0.2, seed=seed,
                    device="cpu")
        agent.learn(40_000)
        return evaluate_policy(agent, sb3.make("CartPole-v1", num_envs=10, seed=100), n_eval_episodes=20)[0]

    # torch rounds as the CPU's instructions do, and the result of one seed depends on that
    assert any(mean(seed) >= 475 for seed in range(5))


def test_atari_goes_through_sb3s_wrappers():
    env = VecMonitor(sb3.make("Breakout-v5", num_envs=2, seed=0, episodic_life=True, episode_statistics=False))
    agent = PPO("CnnPolicy", env, n_steps=16, batch_size=16, n_epochs=1, seed=0, device="cpu")
    agent.learn(64)
    assert env.observation_space.shape == (4, 84, 84) and agent.num_timesteps == 64
    info = env.step(np.array([0, 1]))[3][1]
    assert info["lives"] in range(6) and isinstance(info["lives"], int)


def test_wrappers_of_vectors():
    env = VecFrameStack(VecNormalize(sb3.make("Pendulum-v1", num_envs=NUM, seed=0)), 2)
    assert env.reset().shape == (NUM, 6)
    obs, reward, done, infos = env.step(np.zeros((NUM, 1), np.float32))
    assert obs.shape == (NUM, 6) and len(infos) == NUM


def test_the_rest_of_vec_env():
    env = sb3.make("CartPole-v1", num_envs=NUM)
    assert env.get_attr("num_threads", [1, 2]) == [env.pool.num_threads] * 2
    assert env.has_attr("all_env_ids") and not env.has_attr("gravity")
    assert env.env_is_wrapped(Monitor) == [True] * NUM and env.env_is_wrapped(gymnasium.Wrapper) == [False] * NUM
    assert sb3.make("CartPole-v1", episode_statistics=False).env_is_wrapped(Monitor) == [False]
    with pytest.raises(AttributeError, match="^set_attr"):
        env.set_attr("gravity", 1.0)
    with pytest.raises(AttributeError, match="^env_method"):
        env.env_method("close")
    env.reset()
    assert env.render("rgb_array").shape == (800, 1200, 3)
    with pytest.raises(TypeError, match="^env: expected a pool .*: pass its .pool$"):
        cypool.record(env, "film.gif")
    env.set_options({"low": 0.0})
    with pytest.raises(ValueError, match="^options"):
        env.reset()
    env.set_options()
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.reset()


def test_indices_are_those_of_a_list():
    for env in (sb3.make("CartPole-v1", num_envs=3),
                sb3.SB3VecEnv(cypool.from_factories([functools.partial(chatty, 9)] * 3, autoreset_mode="SameStep",
                                                    num_workers=0))):
        assert len(env.get_attr("spec", -1)) == len(env.env_is_wrapped(Monitor, [-3])) == 1
        assert len(env.get_attr("spec", [0, -1])) == len(env.get_attr("spec", range(2))) == 2
        assert env.get_attr("spec", []) == []
        for bad in (3, -4, [0, 3]):
            with pytest.raises(IndexError):
                env.get_attr("spec", bad)
        env.close()
    env = sb3.SB3VecEnv(cypool.from_factories([functools.partial(chatty, 9)] * 3, autoreset_mode="SameStep",
                                              num_workers=0))
    env.set_attr("gain", 3.0, -1)
    assert env.get_attr("gain") == [1.0, 1.0, 3.0]
    assert env.env_method("get_wrapper_attr", "gain", indices=[-1, 0]) == [3.0, 1.0]
    env.close()


@pytest.mark.parametrize("given", [{"autoreset_mode": "NextStep"}, {"env_type": "gym"}])
def test_what_sb3_leaves_no_choice_of(given):
    (name,) = given
    with pytest.raises(TypeError, match=f"^{name}: expected no argument .Stable-Baselines3 always uses "):
        sb3.make("CartPole-v1", **given)


def test_pools_it_cannot_use():
    with pytest.raises(ValueError, match="^env: expected autoreset_mode='SameStep', got 'NextStep'"):
        sb3.SB3VecEnv(cypool.make("CartPole-v1", num_envs=NUM))
    with pytest.raises(ValueError, match="^env: expected batch_size=num_envs, got 2 and 4"):
        sb3.SB3VecEnv(cypool.make("CartPole-v1", num_envs=NUM, autoreset_mode="SameStep", batch_size=2))
    with pytest.raises(TypeError, match="^env: expected"):
        sb3.SB3VecEnv(cypool.make("CartPole-v1", "gym"))


def chatty(limit):
    return Monitor(Chatty(gymnasium.make("CartPole-v1", max_episode_steps=limit)))


def recording(limit):
    return RecordEpisodeStatistics(Chatty(gymnasium.make("CartPole-v1", max_episode_steps=limit)))


def equal(a, b):
    """Whether two infos are equal in keys, values and types, but for times."""
    if isinstance(a, dict):
        assert isinstance(b, dict) and a.keys() == b.keys()
        return all(key == "t" or equal(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and (a == b).all()
    return type(a) is type(b) and a == b


# SubprocVecEnv has the same, from interpreters that take seconds to start
@pytest.mark.parametrize("factory, num_workers", [(chatty, 0), (recording, 2)])
def test_infos_of_factories_are_those_of_sb3(factory, num_workers):
    factories = [functools.partial(factory, limit) for limit in (5, 9, 500)]
    ours = sb3.SB3VecEnv(cypool.from_factories(factories, autoreset_mode="SameStep", num_workers=num_workers))
    theirs = DummyVecEnv(factories)

    def infos_of(rows):
        # cypool's own two
        return [{key: value for key, value in row.items() if key not in ("env_id", "elapsed_step")} for row in rows]

    with closing(ours), closing(theirs):
        for env in (ours, theirs):
            env.seed(3)
            env.set_options({"low": -0.01, "high": 0.01})
        assert (ours.reset() == theirs.reset()).all()
        assert [row["env_id"] for row in ours.reset_infos] == [0, 1, 2]
        assert equal(dict(enumerate(infos_of(ours.reset_infos))), dict(enumerate(theirs.reset_infos)))
        ours.action_space.seed(0)
        ends = 0
        for _ in range(60):
            actions = np.array([ours.action_space.sample() for _ in range(3)])
            (obs, reward, done, infos), (obs2, reward2, done2, infos2) = ours.step(actions), theirs.step(actions)
            assert (obs == obs2).all() and (reward == reward2).all() and (done == done2).all()
            assert equal(dict(enumerate(infos_of(infos))), dict(enumerate(infos2)))
            assert equal(dict(enumerate(infos_of(ours.reset_infos))), dict(enumerate(theirs.reset_infos)))
            ends += done.sum()
        assert ends > 15


@pytest.mark.parametrize("num_workers", [0, 1])
def test_environments_of_factories_are_asked_where_they_are(num_workers):
    factories = [functools.partial(chatty, 9), functools.partial(recording, 9)]
    env = sb3.SB3VecEnv(cypool.from_factories(factories, autoreset_mode="SameStep", num_workers=num_workers))
    with closing(env):
        assert env.env_is_wrapped(Monitor) == [True, False] and env.env_is_wrapped(Chatty) == [True, True]
        assert env.env_is_wrapped(Monitor, [1]) == [False] and env.env_is_wrapped(gymnasium.Env, 0) == [True]
        assert env.env_is_wrapped(type(gymnasium.make("CartPole-v1").unwrapped)) == [False, False]
        assert env.get_attr("gain") == [1.0, 1.0] and not env.has_attr("num_threads")
        env.set_attr("gain", 2.5, 1)
        assert env.get_attr("gain") == [1.0, 2.5]
        assert env.env_method("get_wrapper_attr", "gain", indices=[1]) == [2.5]
        assert env.env_method("times", 3, plus=1) == [4.0, 4.0]
        env.reset()
        with pytest.raises(ZeroDivisionError):
            env.env_method("divided", by=0, indices=0)
        env.step_async([0, 0])
        with pytest.raises(RuntimeError, match="in flight"):
            env.get_attr("gain")
        env.step_wait()
        # each gets its own
        env.set_options([{"low": 0.0, "high": 0.0}, {}])
        obs = env.reset()
        assert not obs[0].any() and obs[1].all()


def test_the_engines_statistics_beside_a_monitor():
    factories = [functools.partial(chatty, 5), lambda: Chatty(gymnasium.make("CartPole-v1", max_episode_steps=5))]
    env = sb3.SB3VecEnv(cypool.from_factories(factories, autoreset_mode="SameStep", episode_statistics=True,
                                              num_workers=0))
    with closing(env):
        assert env.env_is_wrapped(Monitor) == [True, True] and env.env_is_wrapped(Chatty) == [True, True]
        env.reset()
        for _ in range(5):
            infos = env.step(np.zeros(2, int))[3]
        assert [info["episode"]["l"] for info in infos] == [5, 5]
        assert [info["episode"]["r"] for info in infos] == [5.0, 5.0]
