"""Games with turns in training libraries: a policy that is trained with masks never chooses an illegal action."""
import gymnasium
import numpy as np
import pytest
import torch
from waiting import attempts

import cypool

pytestmark = [pytest.mark.large_packages, pytest.mark.families("board")]

# an illegal action raises a ValueError
GAME = "board/connect_four-v0"


def test_sb3_action_masks_are_those_of_the_next_step():
    sb3 = pytest.importorskip("cypool.adapters.sb3")
    env = sb3.make(GAME, num_envs=3, view="single", seed=0, num_threads=0)
    assert env.has_attr("action_masks")
    env.reset()
    rng, ended = np.random.default_rng(0), 0
    for _ in range(60):
        masks = env.env_method("action_masks")
        assert [each().tolist() for each in env.get_attr("action_masks", [2, 0])] == [
            masks[2].tolist(), masks[0].tolist()]
        _, _, done, infos = env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
        ended += done.sum()
        firsts = [env.reset_infos[i] if done[i] else infos[i] for i in range(3)]
        assert np.array_equal(env.env_method("action_masks"), [each["action_mask"] != 0 for each in firsts])
    assert ended > 3
    env.close()
    without = sb3.make("CartPole-v1", num_envs=1)
    assert not without.has_attr("action_masks")
    with pytest.raises(AttributeError, match="env_method: expected one of the methods"):
        without.env_method("action_masks")
    without.close()


def test_sb3_maskable_ppo_learns_connect_four():
    sb3, contrib = pytest.importorskip("cypool.adapters.sb3"), pytest.importorskip("sb3_contrib")
    env = sb3.make(GAME, num_envs=16, view="single", seat="alternate", seed=0, num_threads=0)
    agent = contrib.MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=256, n_epochs=4, learning_rate=1e-3, seed=0,
                                device="cpu")
    agent.learn(12_000)
    test = sb3.make(GAME, num_envs=50, view="single", seat="alternate", seed=1000, num_threads=0)
    obs, rewards = test.reset(), []
    while len(rewards) < 200:
        masks = np.stack(test.env_method("action_masks"))
        obs, reward, done, _ = test.step(agent.predict(obs, action_masks=masks)[0])
        rewards += reward[done].tolist()
    # at random it is 0
    assert np.mean(rewards) > 0.3
    env.close()
    test.close()


def tianshou_dqn(seed=0):
    from tianshou.algorithm import DQN
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.utils.net.common import Net

    torch.manual_seed(seed)
    spec = cypool.make_spec(GAME)
    net = Net(state_shape=spec.observation.shape, action_shape=spec.action.n, hidden_sizes=[64, 64])
    policy = DiscreteQLearningPolicy(model=net, action_space=gymnasium.spaces.Discrete(spec.action.n), eps_training=0.2)
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), n_step_return_horizon=3, target_update_freq=100)


def test_tianshou_dqn_learns_connect_four():
    from tianshou.algorithm.algorithm_base import policy_within_training_step
    from tianshou.data import Collector, CollectStats, VectorReplayBuffer

    from cypool.adapters import tianshou

    np.random.seed(0)
    algorithm = tianshou_dqn()
    env = tianshou.make(GAME, num_envs=16, view="single", seat="alternate", seed=0, num_threads=0)
    collector = Collector[CollectStats](algorithm, env, VectorReplayBuffer(20_000, 16), exploration_noise=True)
    collector.reset()
    for _ in range(40):
        with policy_within_training_step(algorithm.policy):
            collector.collect(n_step=160)
            for _ in range(4):
                algorithm.update(collector.buffer, sample_size=128)
    test = tianshou.make(GAME, num_envs=50, view="single", seat="alternate", seed=1000, num_threads=0)
    stats = Collector[CollectStats](algorithm, test).collect(n_episode=200, reset_before_collect=True)
    assert stats.returns.mean() > 0.2


def test_tianshou_multi_agent_policy_plays_both_sides():
    """Tianshou's wrapper of PettingZoo's API takes a game as it is."""
    pytest.importorskip("pettingzoo")
    from tianshou.algorithm.algorithm_base import policy_within_training_step
    from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
    from tianshou.data import Collector, CollectStats, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv, PettingZooEnv

    envs = DummyVectorEnv([lambda: PettingZooEnv(cypool.aec_env(GAME)) for _ in range(4)])
    env = PettingZooEnv(cypool.aec_env(GAME))
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[tianshou_dqn(), tianshou_dqn(1)], env=env)
    collector = Collector[CollectStats](algorithm, envs, VectorReplayBuffer(4_000, 4), exploration_noise=True)
    collector.reset()
    for _ in range(3):
        with policy_within_training_step(algorithm.policy):
            stats = collector.collect(n_step=200)
            algorithm.update(collector.buffer, sample_size=64)
    assert stats.n_collected_episodes > 5 and stats.returns.shape[1] == 2


@pytest.mark.parametrize("view", ["mover", "players", "single"])
def test_torchrl_masks_are_those_of_the_next_step(view):
    from torchrl.envs import ActionMask, TransformedEnv, check_env_specs

    from cypool.adapters import torchrl

    env = torchrl.make(GAME, num_envs=4, view=view, seed=0, num_threads=0)
    group = "player" if view == "players" else None
    if group is None:
        check_env_specs(env)
        key, action = "action_mask", "action"
    else:
        key, action = (group, "action_mask"), (group, "action")
    masked = TransformedEnv(env, ActionMask(action_key=action, mask_key=key))
    data = masked.rollout(100, break_when_any_done=False)
    mask = data[key]
    assert mask.dtype == torch.bool and mask.any(-1).all() and not mask.all()
    assert mask.gather(-1, data[action].unsqueeze(-1)).all() and data["next", "done"].sum() > 8
    if group is not None:
        acts = data[group, "mask"]
        assert (acts.sum(-1) == 1).all() and mask[~acts].all()


def test_torchrl_masked_ppo_learns_connect_four():
    from adapters.torchrl_ppo import trained
    from tensordict.nn import TensorDictModule
    from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator

    from cypool.adapters import torchrl

    torch.manual_seed(0)

    def net(out):
        return torch.nn.Sequential(torch.nn.Flatten(-3), torch.nn.Linear(126, 64), torch.nn.Tanh(),
                                   torch.nn.Linear(64, out))

    actor = ProbabilisticActor(TensorDictModule(net(7), ["observation"], ["logits"]),
                               in_keys={"logits": "logits", "mask": "action_mask"},
                               distribution_class=MaskedCategorical, return_log_prob=True)
    critic = ValueOperator(net(1), in_keys=["observation"])
    env = torchrl.make(GAME, num_envs=16, view="single", seat="alternate", seed=0, num_threads=0)
    returns = [data["next", "reward"].sum() / data["next", "done"].sum() for data in trained(env, actor, critic, 24, 6)]
    # at random it is 0
    assert np.mean(returns[-6:]) > 0.3


@pytest.fixture
def rllib(local_ray):
    pytest.importorskip("ray.rllib", reason="ray[rllib] is not installed")
    from cypool.adapters import rllib

    rllib.register()
    return rllib


def masked_ppo(view, num_envs):
    """Returns PPO's configuration, and RLlib's own module that reads masks."""
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

    model = DefaultModelConfig(conv_filters=[(32, 3, 1)], head_fcnet_hiddens=[64], vf_share_layers=True)
    config = PPOConfig().environment("cypool", env_config={"id": GAME, "seed": 0, **view})
    config.env_runners(num_env_runners=0, num_envs_per_env_runner=num_envs).debugging(seed=0, log_level="ERROR")
    return config, RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=model)


OF_RLLIB = ["ignore:.*Overriding environment", "ignore::UserWarning", "ignore::ResourceWarning"]


@pytest.mark.filterwarnings(*OF_RLLIB)
def test_rllib_masked_ppo_learns_connect_four(rllib):
    config, module = masked_ppo({"view": "single", "seat": "alternate"}, 16)
    config.env_runners(env_runner_cls=rllib.PoolEnvRunner, gym_env_vectorize_mode="vector_entry_point")
    config.rl_module(rl_module_spec=module)
    config.training(train_batch_size_per_learner=1024, minibatch_size=256, num_epochs=10, lr=1e-3, gamma=0.98)
    algorithm = config.build_algo()
    # at random it is 0
    assert any(algorithm.train()["env_runners"]["episode_return_mean"] > 0.3 for _ in range(12))
    algorithm.stop()


@pytest.mark.filterwarnings(*OF_RLLIB)
def test_rllib_multi_agent_ppo_plays_both_sides(rllib):
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec

    config, module = masked_ppo({"view": "players"}, 2)
    config.multi_agent(policies={"first", "second"},
                       policy_mapping_fn=lambda agent, *args, **kwargs: {"player_0": "first"}.get(agent, "second"))
    config.rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"first": module, "second": module}))
    config.training(train_batch_size_per_learner=200, minibatch_size=50, num_epochs=1)
    algorithm = config.build_algo()
    for _ in range(2):
        results = algorithm.train()
    returns = results["env_runners"]["agent_episode_returns_mean"]
    assert set(returns) == {"player_0", "player_1"} and sum(returns.values()) == pytest.approx(0, abs=1e-9)
    assert {"first", "second"} <= set(results["learners"]) and results["env_runners"]["num_episodes"] > 2
    algorithm.stop()


@pytest.mark.filterwarnings(*OF_RLLIB)
@pytest.mark.parametrize("num_envs", [{}, {"num_envs": 1}])
def test_rllib_observations_have_masks(num_envs):
    adapter = pytest.importorskip("cypool.adapters.rllib")
    env = adapter.make({"id": GAME, "view": "single", "seat": 0, "seed": 5, **num_envs})
    pool = cypool.make(GAME, num_envs=1, view="single", seat=0, seed=5)
    seen, (obs, info) = env.reset()[0], pool.reset()
    rng = np.random.default_rng(0)
    for _ in attempts():
        rows = {name: part if num_envs else part[None] for name, part in seen.items()}
        assert seen in env.observation_space and rows["observations"].tobytes() == obs.tobytes()
        assert np.array_equal(rows["action_mask"], info["action_mask"])
        action = rng.choice(np.flatnonzero(info["action_mask"][0]), 1)
        seen = env.step(action if num_envs else action[0])[0]
        obs, _, over, _, info = pool.step(action)
        if over[0]:
            break


@pytest.mark.filterwarnings(*OF_RLLIB)
def test_rllib_multi_agent_environment_is_the_game():
    adapter = pytest.importorskip("cypool.adapters.rllib")
    env, game = adapter.make({"id": GAME, "view": "players"}), cypool.aec_env(GAME)
    obs, _ = env.reset(seed=1)
    game.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in attempts():
        (agent, seen), = obs.items()
        assert agent == game.agent_selection and seen in env.observation_spaces[agent]
        own = game.observe(agent)
        assert (seen["observations"] == own["observation"]).all() and (seen["action_mask"] == own["action_mask"]).all()
        action = rng.choice(np.flatnonzero(seen["action_mask"]))
        game.step(action)
        obs, rewards, done, _, _ = env.step({agent: action})
        if done["__all__"]:
            break
    assert rewards == game._cumulative_rewards and set(obs) == set(game.possible_agents)
