"""Checkpoints of training libraries: an interrupted run equals one that was not, to the last bit."""
import gc
import hashlib
import io
import random
import re
from pathlib import Path

import numpy as np
import pytest
import torch

import cypool

pytestmark = pytest.mark.large_packages
torch.set_num_threads(1)


def digest_of(*arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def weights_of(module):
    return [tensor.detach().numpy() for tensor in module.state_dict().values() if isinstance(tensor, torch.Tensor)]


def disturb():
    """Puts all generators somewhere else, as in another process."""
    gc.collect()
    torch.manual_seed(12345)
    np.random.seed(12345)
    random.seed(12345)


def sb3_agent(kind, env):
    from stable_baselines3 import DQN, PPO, SAC

    from cypool.adapters.sb3_replay import SB3ReplayBuffer

    options = {"seed": 3, "device": "cpu"}
    if kind == "PPO":
        return PPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=2, **options)
    options.update(replay_buffer_class=SB3ReplayBuffer, replay_buffer_kwargs={"env": env}, buffer_size=500,
                   learning_starts=60, batch_size=32)
    if kind == "SAC":
        return SAC("MlpPolicy", env, policy_kwargs={"net_arch": [16]}, **options)
    return DQN("MlpPolicy", env, exploration_fraction=1.0, target_update_interval=100, **options)


def sb3_env(kind):
    from cypool.adapters import sb3

    id, options = ("Pendulum-v1", {}) if kind == "SAC" else ("CartPole-v1", {"normalize_obs": kind == "PPO"})
    return sb3.make(id, num_envs=4, seed=0, normalize_reward=kind == "PPO", **options)


def sb3_learn(agent):
    """Returns a digest of a thousand steps, and of what was learnt."""
    seen = []

    def note(variables, _):
        # only the newest are there in a later step
        seen.extend([variables["new_obs"].copy(), variables["rewards"].copy()])

    agent.learn(1_000, reset_num_timesteps=False, callback=note)
    return digest_of(*seen, *weights_of(agent.policy)), agent.num_timesteps


@pytest.mark.parametrize("kind", ["PPO", "DQN", "SAC"])
def test_sb3_continues_with_the_same_bits(tmp_path, kind):
    env = sb3_env(kind)
    agent = sb3_agent(kind, env).learn(700)
    model, buffer = io.BytesIO(), io.BytesIO()
    agent.save(model)
    if kind != "PPO":
        agent.save_replay_buffer(buffer)
    cypool.save_checkpoint(
        tmp_path / "run", env=env, model=model.getvalue(), buffer=buffer.getvalue(), torch=torch.get_rng_state(),
        numpy=np.random.get_state(), random=random.getstate(), actions=agent.action_space.np_random.bit_generator.state)
    wanted = sb3_learn(agent)
    cls = type(agent)
    del agent, env
    disturb()

    env = sb3_env(kind)
    saved = cypool.load_checkpoint(tmp_path / "run", env=env)
    options = {} if kind == "PPO" else {"replay_buffer_kwargs": {"env": env}}
    agent = cls.load(io.BytesIO(saved["model"]), env=env, force_reset=False, device="cpu", **options)
    if kind != "PPO":
        agent.load_replay_buffer(io.BytesIO(saved["buffer"]))
    # behind `load`, which seeds them
    torch.set_rng_state(saved["torch"])
    np.random.set_state(saved["numpy"])
    random.setstate(saved["random"])
    agent.action_space.np_random.bit_generator.state = saved["actions"]
    assert sb3_learn(agent) == wanted


def test_sb3_reset_after_a_checkpoint_continues_unless_it_has_a_seed(tmp_path):
    env, again = sb3_env("DQN"), sb3_env("DQN")
    env.reset()
    for _ in range(20):
        obs, *_ = env.step(np.array([0, 1, 0, 1]))
    cypool.save_checkpoint(tmp_path / "run", env=env)
    again.seed(5)
    cypool.load_checkpoint(tmp_path / "run", env=again)
    assert (again.reset() == obs).all()
    assert (again.reset() != obs).any()
    cypool.load_checkpoint(tmp_path / "run", env=again)
    again.step(np.zeros(4, int))
    assert (again.reset() != obs).any()
    cypool.load_checkpoint(tmp_path / "run", env=again)
    again.seed(5)
    with pytest.warns(UserWarning, match="^reset: the seed starts new episodes.*force_reset"):
        assert (again.reset() != obs).any()


def tianshou_run(seed=0):
    """Returns (vector, algorithm, buffer, collector, optimizers) of DQN."""
    from tianshou.algorithm import DQN
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector
    from tianshou.utils.net.common import Net

    from cypool.adapters import tianshou
    from cypool.adapters.tianshou_replay import FramePrioritizedReplayBuffer

    env = tianshou.make("CartPole-v1", num_envs=4, seed=0)
    space = env.pool.single_action_space
    network = Net(state_shape=(4,), action_shape=2, hidden_sizes=[16])
    policy = DiscreteQLearningPolicy(model=network, action_space=space,
                                     observation_space=env.pool.single_observation_space, eps_training=0.2)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=0.99, n_step_return_horizon=2,
                    target_update_freq=20)
    buffer = FramePrioritizedReplayBuffer(env, 600, alpha=0.6, beta=0.4, random_seed=1)
    return env, algorithm, buffer, Collector(algorithm, env, buffer, exploration_noise=True)


def tianshou_learn(algorithm, buffer, collector, rounds):
    from tianshou.utils.torch_utils import policy_within_training_step, torch_train_mode

    seen = []
    for _ in range(rounds):
        with policy_within_training_step(algorithm.policy):
            collector.collect(n_step=20)
            if len(buffer) > 60:
                with torch_train_mode(algorithm.policy):
                    statistics = algorithm.update(buffer=buffer, sample_size=32)
                seen.append(statistics.loss)
        seen.append(collector._pre_collect_obs_RO.copy())
    return digest_of(*map(np.asarray, seen), *weights_of(algorithm))


def test_tianshou_continues_with_the_same_bits(tmp_path):
    import pickle

    disturb()
    env, algorithm, buffer, collector = tianshou_run()
    collector.reset()
    tianshou_learn(algorithm, buffer, collector, 30)
    cypool.save_checkpoint(
        tmp_path / "run", env=env, algorithm=algorithm, torch=torch.default_generator, numpy=np.random.get_state(),
        updates=algorithm._iter, buffer=pickle.dumps(buffer))
    wanted = tianshou_learn(algorithm, buffer, collector, 50)
    disturb()

    env, algorithm, _, collector = tianshou_run()
    saved = cypool.load_checkpoint(tmp_path / "run", env=env, algorithm=algorithm, torch=torch.default_generator)
    np.random.set_state(saved["numpy"])
    algorithm._iter = saved["updates"]
    collector.buffer = buffer = pickle.loads(saved["buffer"])
    # the observations of the checkpoint: no new episodes
    collector.reset(reset_buffer=False)
    assert tianshou_learn(algorithm, buffer, collector, 50) == wanted


def torchrl_run():
    from tensordict.nn import TensorDictModule, TensorDictSequential
    from torch import nn
    from torchrl.collectors import Collector
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
    from torchrl.modules import EGreedyModule, QValueModule
    from torchrl.objectives import DQNLoss, SoftUpdate

    from cypool.adapters import torchrl
    from cypool.adapters.torchrl_replay import FrameStorage

    env = torchrl.make("CartPole-v1", num_envs=4, seed=0)
    network = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    values = TensorDictSequential(TensorDictModule(network, ["observation"], ["action_value"]),
                                  QValueModule(spec=env.action_spec_unbatched, action_space="categorical"))
    explorer = TensorDictSequential(values, EGreedyModule(env.action_spec_unbatched, annealing_num_steps=2_000))
    loss = DQNLoss(values, action_space="categorical", delay_value=True)
    loss.make_value_estimator(gamma=0.99)
    parts = {"env": env, "loss": loss, "explorer": explorer, "optimizer": torch.optim.Adam(loss.parameters(), 1e-3),
             "buffer": TensorDictReplayBuffer(storage=FrameStorage(env, 400, spare=0.2), batch_size=32),
             "plain": TensorDictReplayBuffer(storage=LazyTensorStorage(400), batch_size=32),
             "torch": torch.default_generator}
    collector = Collector(env, explorer, frames_per_batch=40, total_frames=-1, track_traj_ids=False)
    return parts, SoftUpdate(loss, eps=0.95), collector


def torchrl_learn(parts, updater, collector, rounds):
    seen, batches = [], iter(collector)
    for _ in range(rounds):
        data = next(batches).transpose(0, 1).reshape(-1)
        parts["explorer"][-1].step(40)
        for name in ("buffer", "plain"):
            parts[name].extend(data)
            sample = parts[name].sample()
            loss = parts["loss"](sample)["loss"]
            parts["optimizer"].zero_grad()
            loss.backward()
            parts["optimizer"].step()
            updater.step()
            seen.append(loss.detach().numpy())
        seen += [data["observation"].numpy(), data["action"].numpy()]
    return digest_of(*seen, *weights_of(parts["loss"]))


def test_torchrl_continues_with_the_same_bits(tmp_path):
    disturb()
    parts, updater, collector = torchrl_run()
    torchrl_learn(parts, updater, collector, 15)
    cypool.save_checkpoint(tmp_path / "run", **parts)
    wanted = torchrl_learn(parts, updater, collector, 25)
    disturb()

    parts, updater, collector = torchrl_run()
    # last, as it draws random numbers when it is made
    cypool.load_checkpoint(tmp_path / "run", **parts)
    # the observations of the checkpoint: no new episodes
    collector.reset()
    assert torchrl_learn(parts, updater, collector, 25) == wanted


def test_torchrl_reset_after_a_checkpoint_continues_once(tmp_path):
    from cypool.adapters import torchrl

    env, again = (torchrl.make("CartPole-v1", num_envs=3, seed=0) for _ in "12")
    data = env.rollout(20, break_when_any_done=False)
    obs = env.step(env.rand_step(data[:, -1]))["next", "observation"]
    cypool.save_checkpoint(tmp_path / "run", env=env)
    again.set_seed(4)
    cypool.load_checkpoint(tmp_path / "run", env=again)
    assert torch.equal(again.reset()["observation"], torch.from_numpy(cypool.load_checkpoint(
        tmp_path / "run", env=again)["env"][0]))
    assert obs.shape == (3, 4)
    assert not torch.equal(again.reset()["observation"], again.reset()["observation"])


PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "checkpoints.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if PAGE.is_file() else []


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: re.search("cypool.adapters import (\\w+)|$", block)[1])
def test_example_of_the_page_runs(run_python, block):
    run_python(block, check=True)
