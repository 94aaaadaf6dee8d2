"""Measures Tianshou's Collector with a small network, with cypool's vector environments and with its own.

    pip install torch && pip install ".[tianshou]" && python benchmarks/tianshou_collectors.py CartPole-v1 --per-second
"""
import gymnasium
import numpy as np
import torch
from measuring import Table, parser, repeated, show
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, SubprocVectorEnv

import cypool
from cypool.adapters import tianshou


def gymnasium_env(id):
    if "lives" not in cypool.make_spec(id).info:
        return gymnasium.make(id)
    import ale_py
    from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

    gymnasium.register_envs(ale_py)
    env = gymnasium.make(f"ALE/{id}", frameskip=1, repeat_action_probability=0.0)
    return FrameStackObservation(AtariPreprocessing(env), 4)


class Network(torch.nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.is_image = spec.observation.dtype == np.uint8
        size = int(np.prod(spec.observation.shape))
        self.net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(size, 64), torch.nn.Tanh(),
                                       torch.nn.Linear(64, spec.action.n))

    def forward(self, obs, state=None, info=None):
        obs = torch.from_numpy(np.asarray(obs)).float()
        return self.net(obs / 255 if self.is_image else obs), state


def steps_of(spec, env, num_envs):
    policy = ProbabilisticActorPolicy(
        actor=Network(spec), dist_fn=lambda logits: torch.distributions.Categorical(logits=logits),
        action_scaling=False, action_bound_method=None, action_space=gymnasium.spaces.Discrete(spec.action.n),
        deterministic_eval=False)
    collector = Collector(policy, env, VectorReplayBuffer(64 * num_envs, num_envs))
    collector.reset()
    return repeated(lambda: collector.collect(n_step=32 * num_envs), steps=32 * num_envs)


def rows(arguments):
    num_envs = arguments.num_envs
    for id in arguments.patterns or ["CartPole-v1"]:
        envs = {"cypool": tianshou.make(id, num_envs=num_envs),
                "DummyVectorEnv": DummyVectorEnv([lambda id=id: gymnasium_env(id)] * num_envs),
                "SubprocVectorEnv": SubprocVectorEnv([lambda id=id: gymnasium_env(id)] * num_envs)}
        yield id, {name: steps_of(cypool.make_spec(id), env, num_envs) for name, env in envs.items()}
        for env in envs.values():
            env.close()


if __name__ == "__main__":
    torch.set_num_threads(1)
    show({"steps": Table(rows, ("cypool", "DummyVectorEnv", "SubprocVectorEnv"), clocks=("wall",))},
         parser(__doc__, rounds=7, seconds=1.0, num_envs=16))
