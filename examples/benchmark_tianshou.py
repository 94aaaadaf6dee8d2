"""Tianshou's Collector with its own vector environments and with cypool's, in turn.

    pip install torch && pip install ".[tianshou]" && python examples/benchmark_tianshou.py --env-id CartPole-v1

Steps per second with a small network, medians of the rounds; ratios are taken round by round, in brackets their
quartiles.
"""
import argparse
import time

import gymnasium
import numpy as np
import torch
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
    def __init__(self, id):
        super().__init__()
        spec = cypool.make_spec(id)
        self.is_image = spec.observation.dtype == np.uint8
        size = int(np.prod(spec.observation.shape))
        self.net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(size, 64), torch.nn.Tanh(),
                                       torch.nn.Linear(64, spec.action.n))

    def forward(self, obs, state=None, info=None):
        obs = torch.from_numpy(np.asarray(obs)).float()
        return self.net(obs / 255 if self.is_image else obs), state


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="CartPole-v1")
    parser.add_argument("--num-envs", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each sample, about")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    fns = [lambda: gymnasium_env(args.env_id)] * args.num_envs
    envs = {"DummyVectorEnv": DummyVectorEnv(fns), "SubprocVectorEnv": SubprocVectorEnv(fns),
            "cypool": tianshou.make(args.env_id, num_envs=args.num_envs)}
    collectors, steps = {}, {}
    for name, env in envs.items():
        policy = ProbabilisticActorPolicy(
            actor=Network(args.env_id), dist_fn=lambda logits: torch.distributions.Categorical(logits=logits),
            action_scaling=False, action_bound_method=None,
            action_space=gymnasium.spaces.Discrete(cypool.make_spec(args.env_id).action.n), deterministic_eval=False)
        collector = collectors[name] = Collector(policy, env, VectorReplayBuffer(64 * args.num_envs, args.num_envs))
        collector.reset()
        began = time.perf_counter()
        collector.collect(n_step=32 * args.num_envs)
        rounds = 32 * args.seconds / (time.perf_counter() - began)
        steps[name] = max(int(rounds), 1) * args.num_envs
    speeds = {name: [] for name in envs}
    for k in range(args.rounds):
        for name in list(envs)[::-1] if k % 2 else envs:
            began = time.perf_counter()
            collectors[name].collect(n_step=steps[name])
            speeds[name].append(steps[name] / (time.perf_counter() - began))
    for env in envs.values():
        env.close()
    for name, found in speeds.items():
        low, middle, high = np.quantile(np.divide(speeds["cypool"], found), [0.25, 0.5, 0.75])
        ratio = f"{middle:.2f} ({low:.2f}..{high:.2f})"
        print(f"{name:18}{np.median(found):10,.0f} steps/s; cypool's are {ratio} times as many")


if __name__ == "__main__":
    main()
