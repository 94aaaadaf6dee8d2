"""RLlib's environment runners over pools, compared with RLlib's own runner."""
import os
import signal

import gymnasium
import numpy as np
import pytest
import torch
from markers import exhaustive

import cypool

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari", "mpe2"),
              pytest.mark.filterwarnings("ignore:.*Overriding environment"),
              # of RLlib's own parts
              pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.filterwarnings("ignore::ResourceWarning")]

pytest.importorskip("ray.rllib", reason="ray[rllib] is not installed")

from ray.rllib.algorithms.dqn import DQNConfig  # noqa: E402
from ray.rllib.algorithms.ppo import PPOConfig  # noqa: E402
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner  # noqa: E402
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv  # noqa: E402
from ray.tune.registry import register_env  # noqa: E402

from cypool.adapters import rllib  # noqa: E402

NUM = 5


@pytest.fixture(autouse=True)
def registered():
    rllib.register()


def config_of(id="CartPole-v1", runner=rllib.PoolEnvRunner, algorithm=PPOConfig, num_envs=NUM, **options):
    return (algorithm().environment("cypool", env_config={"id": id, **options})
            .env_runners(num_env_runners=0, num_envs_per_env_runner=num_envs, env_runner_cls=runner,
                         gym_env_vectorize_mode="vector_entry_point")
            .debugging(seed=3, log_level="ERROR"))


def runner_of(config):
    torch.manual_seed(0)
    return config.env_runner_cls(config=config, worker_index=0)


def sample(runner, num_timesteps, explore):
    # the streams that actions are drawn from
    torch.manual_seed(num_timesteps)
    return runner.sample(num_timesteps=num_timesteps, explore=explore)


def parts(episodes):
    """Returns the contents of episodes, in an order that does not depend on who made them."""
    return sorted((episode.t_started, np.asarray(episode.get_observations()).tobytes(),
                   np.asarray(episode.get_actions()).tobytes(), np.asarray(episode.get_rewards()).tobytes(),
                   bool(episode.is_terminated), bool(episode.is_truncated), len(episode), episode.t,
                   *(np.asarray(episode.get_extra_model_outputs(name)).tobytes()
                     for name in sorted(episode.extra_model_outputs)), *sorted(episode.extra_model_outputs))
                  for episode in episodes)


@pytest.mark.parametrize("explore", [True, False])
@pytest.mark.parametrize("id, options", [
    ("CartPole-v1", {"max_episode_steps": 30}), ("Pendulum-v1", {"max_episode_steps": 20}),
    ("Pong-v5", {"max_episode_steps": 12, "num_threads": 2})])
def test_episodes_are_those_of_rllibs_runner(id, options, explore):
    ours, theirs = (runner_of(config_of(id, runner, **options)) for runner in (rllib.PoolEnvRunner,
                                                                               SingleAgentEnvRunner))
    whole = {}
    for num_timesteps in (7, 60, 5, 1, 98):
        got, want = (sample(runner, num_timesteps, explore) for runner in (ours, theirs))
        assert parts(got) == parts(want)
        for episode in got:
            episode.validate()
            # the parts of an episode have its id and continue each other
            assert whole.get(episode.id_, 0) == episode.t_started
            whole[episode.id_] = episode.t
        metrics = [{key: stat.peek() if hasattr(stat, "peek") else stat for key, stat in runner.get_metrics().items()
                    if "episode_" in key and "sec" not in key and "agent" not in key and "module" not in key}
                   for runner in (ours, theirs)]
        assert metrics[0].keys() == metrics[1].keys()
    assert len(whole) > NUM
    ours.stop()
    theirs.stop()


def test_where_steps_of_single_environments_are_asked_for():
    runner = runner_of(config_of(max_episode_steps=20))
    assert runner._whole_batches()
    assert all(episode.is_done for episode in runner.sample(num_episodes=6, explore=True))
    first = runner.sample(num_timesteps=50, explore=True)
    # the other way starts afresh
    assert all(episode.t_started == 0 for episode in first)
    assert sum(map(len, runner.sample(num_timesteps=50, random_actions=True))) >= 50
    assert all(episode.t_started == 0 for episode in runner.sample(num_timesteps=50, explore=True))
    started = []
    config = config_of().callbacks(on_episode_start=lambda episode, **kwargs: started.append(episode.id_))
    runner = runner_of(config)
    assert not runner._whole_batches()
    runner.sample(num_timesteps=20, explore=True)
    assert len(started) >= NUM


def test_what_is_made():
    vector, single = rllib.make({"id": "CartPole-v1", "num_envs": 3}), rllib.make({"id": "CartPole-v1"})
    assert vector.reset(seed=0)[1] == {} and vector.step([0] * 3)[4] == {}
    assert isinstance(single, gymnasium.Env)
    vector, single = rllib.make({"id": "Pong-v5", "num_envs": 2}), rllib.make({"id": "Pong-v5"})
    obs, alone = vector.reset(seed=0)[0], single.reset(seed=0)[0]
    frames = cypool.make("Pong-v5", num_envs=2).reset(seed=0)[0]
    assert (obs == np.moveaxis(frames, 1, -1) / np.float32(128) - 1).all() and (alone == obs[0]).all()
    assert obs in vector.observation_space and alone in single.observation_space
    assert vector.single_observation_space == single.observation_space
    with pytest.raises(ValueError, match="env_config: expected an 'id'"):
        rllib.make({"num_envs": 3})
    with pytest.raises(ValueError, match="ParallelPettingZooEnv"):
        rllib.make({"id": "mpe2/simple_spread-v3", "num_envs": 2})


@pytest.mark.parametrize("num_env_runners", [0, *exhaustive(2)])
def test_ppo_learns_cartpole(local_ray, num_env_runners):
    config = config_of(num_envs=16).env_runners(num_env_runners=num_env_runners)
    config.training(train_batch_size_per_learner=2048, minibatch_size=256, num_epochs=8, lr=1e-3, gamma=0.98)
    algorithm = config.build_algo()
    # at random it gets 22
    assert any(algorithm.train()["env_runners"]["episode_return_mean"] > 120 for _ in range(12))
    algorithm.stop()


@pytest.mark.exhaustive
def test_a_killed_runner_comes_back(local_ray):
    config = config_of().env_runners(num_env_runners=2).fault_tolerance(restart_failed_env_runners=True)
    algorithm = config.training(train_batch_size_per_learner=500).build_algo()
    algorithm.train()
    group = algorithm.env_runner_group
    group.foreach_env_runner(lambda runner: os.kill(os.getpid(), signal.SIGKILL), remote_worker_ids=[1],
                             local_env_runner=False)
    assert any(algorithm.train() and group.num_healthy_remote_workers() == 2 for _ in range(60))
    assert algorithm.train()["env_runners"]["num_env_steps_sampled"] >= 500
    algorithm.stop()


@pytest.mark.exhaustive
def test_dqn_trains(local_ray):
    algorithm = config_of(algorithm=DQNConfig).build_algo()
    for _ in range(2):
        algorithm.train()
    algorithm.stop()


@pytest.mark.parametrize("id", ["mpe2/simple_spread-v3", pytest.param("Foraging-8x8-2p-3f-v3",
                                                                       marks=pytest.mark.families("lbf"))])
def test_several_agents(local_ray, id):
    register_env("agents", lambda config: ParallelPettingZooEnv(cypool.parallel_env(id)))
    agents = cypool.make_spec(id).agent_names
    config = (PPOConfig().environment("agents").env_runners(num_env_runners=0, rollout_fragment_length=100)
              .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, *args, **kwargs: "shared")
              .training(train_batch_size_per_learner=100, minibatch_size=50, num_epochs=1)
              .debugging(log_level="ERROR"))
    algorithm = config.build_algo()
    results = algorithm.train()["env_runners"]
    assert set(results["agent_episode_returns_mean"]) == set(agents)
    algorithm.stop()
