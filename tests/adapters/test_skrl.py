"""skrl: its own wrapper takes a pool, and learns the same with it as with Gymnasium's vector environments."""
import gymnasium
import numpy as np
import pytest
import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.envs.wrappers.torch.gymnasium_envs import GymnasiumWrapper
from skrl.envs.wrappers.torch.pettingzoo_envs import PettingZooWrapper
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer

import cypool

pytestmark = [pytest.mark.large_packages, pytest.mark.families("mpe2")]

NUM = 16


def network(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(),
                               torch.nn.Linear(64, outputs))


class Policy(CategoricalMixin, Model):
    def __init__(self, env):
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device="cpu")
        CategoricalMixin.__init__(self)
        self.net = network(self.num_observations, self.num_actions)

    def compute(self, inputs, role=""):
        return self.net(inputs["observations"]), {}


class Value(DeterministicMixin, Model):
    def __init__(self, env):
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device="cpu")
        DeterministicMixin.__init__(self)
        self.net = network(self.num_observations, 1)

    def compute(self, inputs, role=""):
        return self.net(inputs["observations"]), {}


def trained(vector, timesteps, seed=0):
    torch.manual_seed(seed)
    env = wrap_env(vector, verbose=False)
    assert type(env) is GymnasiumWrapper
    models = {"policy": Policy(env), "value": Value(env)}
    cfg = PPO_CFG(rollouts=32, learning_epochs=8, mini_batches=4, discount_factor=0.98, learning_rate=3e-3,
                  value_clip=0, value_loss_scale=0.5,
                  experiment={"write_interval": 0, "checkpoint_interval": 0})
    agent = PPO(models=models, memory=RandomMemory(memory_size=32, num_envs=NUM, device="cpu"), cfg=cfg,
                observation_space=env.observation_space, action_space=env.action_space, device="cpu")
    SequentialTrainer(env=env, agents=agent, cfg={"timesteps": timesteps, "headless": True, "disable_progressbar": True,
                                                  "close_environment_at_exit": False}).train()
    env.close()
    return models["policy"].net


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_learning_is_that_of_gymnasium(mode):
    ours = trained(cypool.make("CartPole-v1", num_envs=NUM, autoreset_mode=mode, max_episode_steps=40), 128)
    theirs = trained(gymnasium.make_vec("CartPole-v1", NUM, "sync", max_episode_steps=40,
                                        vector_kwargs={"autoreset_mode": mode}), 128)
    for name, value in ours.state_dict().items():
        assert (value == theirs.state_dict()[name]).all(), name


def mean_return(net):
    """Returns the mean return of 20 episodes of the most likely actions."""
    env = cypool.make("CartPole-v1", num_envs=20, seed=7)
    obs, _ = env.reset()
    alive, returns = np.ones(20, np.bool_), np.zeros(20)
    while alive.any():
        with torch.no_grad():
            actions = net(torch.from_numpy(obs)).argmax(1).numpy()
        obs, _, terminated, truncated, _ = env.step(actions)
        returns += alive
        alive &= ~(terminated | truncated)
    return returns.mean()


def test_ppo_solves_cartpole():
    def solved(seed):
        env = cypool.make("CartPole-v1", num_envs=NUM, autoreset_mode="SameStep")
        return mean_return(trained(env, 2600, seed)) >= 475

    # the result of one seed depends on the CPU's rounding
    assert any(solved(seed) for seed in range(5))


def test_several_agents():
    env = wrap_env(cypool.parallel_env("mpe2/simple_spread-v3"), verbose=False)
    assert isinstance(env, PettingZooWrapper)
    obs, _ = env.reset()
    twin = cypool.parallel_env("mpe2/simple_spread-v3")
    want, _ = twin.reset(seed=0)
    for _ in range(5):
        for name, row in want.items():
            assert (obs[name].numpy()[0] == row).all()
        obs, *_ = env.step({name: torch.tensor([[1]]) for name in want})
        want, *_ = twin.step(dict.fromkeys(want, 1))
    env.close()
    twin.close()
