"""TorchRL: cypool.adapters.torchrl."""
import numpy as np
import pytest
import torch
from adapters.torchrl_ppo import trained
from tensordict.nn import TensorDictModule
from torchrl.envs.utils import check_env_specs
from torchrl.modules import ProbabilisticActor, ValueOperator

import cypool
from cypool.adapters import torchrl

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari")]

NUM = 4


@pytest.mark.parametrize("id", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Pong-v5"])
def test_specs(id):
    check_env_specs(torchrl.make(id, num_envs=NUM, seed=0, max_episode_steps=10))


@pytest.mark.parametrize("seed", [0, 5])
def test_rollouts_are_those_of_the_pool(seed):
    env = torchrl.make("CartPole-v1", num_envs=NUM, max_episode_steps=25)
    twin = cypool.make("CartPole-v1", num_envs=NUM, max_episode_steps=25, autoreset_mode="SameStep")
    env.set_seed(seed)
    torch.manual_seed(seed)
    data = env.rollout(60, break_when_any_done=False)
    obs, _ = twin.reset(seed=seed)
    ended = 0
    for t in range(60):
        step = data[:, t]
        assert (step["observation"].numpy() == obs).all()
        obs, reward, terminated, truncated, info = twin.step(step["action"].numpy())
        last = obs.copy()
        for row in np.flatnonzero(terminated | truncated):
            last[row] = info["final_obs"][row]
            ended += 1
        after = step["next"]
        assert (after["observation"].numpy() == last).all() and (after["reward"][:, 0].numpy() == reward).all()
        assert (after["terminated"][:, 0].numpy() == terminated).all()
        assert (after["truncated"][:, 0].numpy() == truncated).all()
        assert (after["done"][:, 0].numpy() == terminated | truncated).all()
    assert ended > NUM and data["next", "truncated"].any()


def test_infos_and_resets_of_some():
    env = torchrl.make("Breakout-v5", infos=["lives"], num_envs=NUM, seed=0)
    data = env.reset()
    assert data["lives"].tolist() == [5] * NUM and data["observation"].shape == (NUM, 4, 84, 84)
    data = env.rand_step(data)["next"]
    data["_reset"] = torch.tensor([[False], [True], [False], [False]])
    before = data["observation"].clone()
    after = env.reset(data)["observation"]
    assert torch.equal(after[[0, 2, 3]], before[[0, 2, 3]]) and after.shape == before.shape
    with pytest.raises(ValueError, match="^infos: expected names from"):
        torchrl.make("Breakout-v5", infos=["life"])
    with pytest.raises(TypeError, match="^pool: expected an array or a dict"):
        torchrl.make("Blackjack-v1")
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.pool.reset()


def test_ppo_solves_cartpole():
    torch.manual_seed(0)
    env = torchrl.make("CartPole-v1", num_envs=16, seed=0)

    def net(out):
        return torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(),
                                   torch.nn.Linear(64, out))

    actor = ProbabilisticActor(TensorDictModule(net(2), ["observation"], ["logits"]), in_keys=["logits"],
                               distribution_class=torch.distributions.Categorical, return_log_prob=True)
    critic = ValueOperator(net(1), in_keys=["observation"])
    best = 0
    for count, _ in enumerate(trained(env, actor, critic, 40, 10), 1):
        if best < 475 and count % 8 == 0:
            best = max(best, evaluate(actor))
    assert best >= 475


def evaluate(actor):
    env = torchrl.make("CartPole-v1", num_envs=10, seed=100)
    with torch.no_grad():
        data = env.rollout(500, actor, break_when_any_done=False)
    alive = data["next", "done"][..., 0].cumsum(1) == 0
    return alive.sum(1).float().mean().item() + 1


def test_actions_that_are_dicts(walker):
    env = torchrl.make("walker/Levers-v0", num_envs=NUM)
    assert set(env.action_keys) == {("action", "push"), ("action", "lever")}
    check_env_specs(env)
    data = env.rollout(30, break_when_any_done=False)
    twin = cypool.make("walker/Levers-v0", num_envs=NUM, autoreset_mode="SameStep")
    twin.reset()
    for t in range(30):
        action = {name: data["action", name][:, t].numpy() for name in ("push", "lever")}
        _, reward, terminated, truncated, _ = twin.step(action)
        after = data["next"][:, t]
        assert (after["reward"][:, 0].numpy() == reward.astype(np.float32)).all()
        assert (after["done"][:, 0].numpy() == terminated | truncated).all()
    assert set(data["action", "lever"].unique().tolist()) == {0, 1, 2} and data["next", "done"].any()
