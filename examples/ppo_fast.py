"""PPO that collects while it learns, on a CPU, in one file: pip install torch, then python examples/ppo_fast.py

    python examples/ppo_fast.py --env-id CartPole-v1 --seeds 0 1 2
    python examples/ppo_fast.py --env-id LunarLander-v3 --seeds 0 1 2
    python examples/ppo_fast.py --env-id MiniGrid-DoorKey-8x8-v0 --seeds 0 1 2
    python examples/ppo_fast.py --env-id Craftax-Classic-Symbolic-v1 --seeds 0
    python examples/ppo_fast.py --env-id HalfCheetah-v5 --seeds 0 1 2
    python examples/ppo_fast.py --env-id Ant-v5 --seeds 0 --physics mj_step

The engine collects on a thread: `cypool.MLP` draws the actions of a whole rollout, and returns log-probabilities and
values. Meanwhile, torch learns from the previous rollout, which is one update old. A run ends when the mean return of
the last 20 episodes reaches the goal. Each rollout adds a row to a CSV file. In DoorKey, where a random policy finds
the reward once in thirty thousand steps, the learner also gets a bonus for rare observations.
"""
import argparse
import csv
import math
import platform
import sys
import time
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import nn

import cypool

# the returns that count as solved, and settings that reach them quickly
SETTINGS = {
    "CartPole-v1": {"goal": 475, "num_envs": 16, "num_steps": 32, "gamma": 0.98, "learning_rate": 7e-3,
                    "update_epochs": 4, "minibatch_size": 512, "total_timesteps": 150_000},
    "LunarLander-v3": {"goal": 200, "num_envs": 32, "num_steps": 128, "gamma": 0.995, "learning_rate": 2e-3,
                       "update_epochs": 4, "minibatch_size": 256, "normalize": True, "total_timesteps": 600_000},
    "MiniGrid-DoorKey-8x8-v0": {"goal": 0.9, "num_envs": 64, "num_steps": 128, "gamma": 0.99, "learning_rate": 1e-3,
                                "update_epochs": 3, "minibatch_size": 512, "activation": "relu", "novelty": 0.05,
                                "value_std": 0.01, "env_options": {"obs_type": "onehot", "image_only": True},
                                "total_timesteps": 1_000_000},
    "Craftax-Classic-Symbolic-v1": {"goal": 6, "num_envs": 64, "num_steps": 128, "gamma": 0.99, "learning_rate": 1e-3,
                                    "update_epochs": 3, "minibatch_size": 2048, "activation": "relu",
                                    "total_timesteps": 4_000_000},
    "Craftax-Symbolic-v1": {"goal": 5, "num_envs": 64, "num_steps": 128, "gamma": 0.99, "learning_rate": 1e-3,
                            "update_epochs": 3, "minibatch_size": 2048, "activation": "relu",
                            "total_timesteps": 1_000_000},
    "HalfCheetah-v5": {"goal": 1200, "num_envs": 64, "num_steps": 64, "gamma": 0.99, "learning_rate": 1e-3,
                       "update_epochs": 5, "minibatch_size": 512, "entropy": 0, "normalize": True,
                       "total_timesteps": 2_000_000},
    "Ant-v5": {"goal": 400, "num_envs": 64, "num_steps": 64, "gamma": 0.99, "learning_rate": 1e-3,
               "update_epochs": 5, "minibatch_size": 512, "entropy": 0, "normalize": True,
               "total_timesteps": 2_000_000},
}
DEFAULTS = {"gae_lambda": 0.95, "entropy": 0.01, "clip": 0.2, "normalize": False, "activation": "tanh", "hidden": 64,
            "std": 1.0, "value_std": 1.0, "novelty": 0.0, "mirrors": None, "num_threads": 1, "env_options": {}}
NUMBERS = {"goal": float, "num_envs": int, "num_steps": int, "gamma": float, "gae_lambda": float,
           "learning_rate": float, "update_epochs": int, "minibatch_size": int, "entropy": float, "clip": float,
           "novelty": float, "total_timesteps": int}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="CartPole-v1", choices=SETTINGS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--csv", default="ppo_fast.csv")
    parser.add_argument("--torch-threads", type=int, default=1)
    parser.add_argument("--physics", choices=["lanes", "mj_step"], help="how to step MuJoCo robots")
    for name, kind in NUMBERS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, help="default: depends on the environment")
    args = parser.parse_args()
    for name, value in {**DEFAULTS, **SETTINGS[args.env_id]}.items():
        if getattr(args, name, None) is None:
            setattr(args, name, value)
    if args.physics:
        args.env_options = {**args.env_options, "physics": args.physics}
    if args.total_timesteps < args.num_steps * args.num_envs:
        parser.error(f"--total-timesteps: expected at least a rollout of {args.num_steps * args.num_envs} steps")
    return args


class Network(nn.Module):
    """A perceptron with two hidden layers, in a form that the engine can also run.

    `mirrors` are matrices that mirror a robot's inputs and outputs. With them, the network has parameters for half of
    the units. The other half receives mirrored inputs, so mirrored inputs give mirrored outputs.
    """

    def __init__(self, inputs, outputs, std, args, mirrors=None):
        super().__init__()
        self.activation, self.mirrors = getattr(torch, args.activation), mirrors
        # set for a policy whose outputs are means of Gaussians
        self.register_parameter("log_std", None)
        units = args.hidden if mirrors is None else args.hidden // 2
        sizes = [(inputs, units), (args.hidden, units), (units, outputs)]
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in sizes)
        for layer, scale in zip(self.layers, (2**0.5, 2**0.5, std), strict=True):
            nn.init.orthogonal_(layer.weight, scale)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        *hidden, (weight, bias) = zip(*self.for_engine(), strict=True)
        for w, b in hidden:
            x = self.activation(nn.functional.linear(x, w, b))
        return nn.functional.linear(x, weight, bias)

    def for_engine(self):
        """Returns the weights and biases of all units."""
        weights, biases = [layer.weight for layer in self.layers], [layer.bias for layer in self.layers]
        if self.mirrors is None:
            return weights, biases
        (first, middle, last), (inputs, outputs) = weights, self.mirrors
        weights = [torch.cat([first, first @ inputs]), torch.cat([middle, middle.roll(len(first), 1)]),
                   torch.cat([last, outputs @ last], 1)]
        return weights, [biases[0].repeat(2), biases[1].repeat(2), biases[2] + outputs @ biases[2]]


def policy_for(spec, inputs, args):
    """Returns a network and the kind of its outputs: logits of actions, or means of Gaussians."""
    if hasattr(spec.action, "n"):
        return Network(inputs, spec.action.n, 0.01, args), "categorical"
    policy = Network(inputs, spec.action.low.size, 0.01, args, args.mirrors)
    policy.log_std = nn.Parameter(torch.full((spec.action.low.size,), math.log(args.std)))
    return policy, "gaussian"


def judge(policy, obs, actions):
    """Returns the log-probabilities of actions, and the entropies."""
    out = policy(obs)
    if policy.log_std is None:
        logs = out.log_softmax(-1)
        return logs.gather(1, actions[:, None]).squeeze(1), -(logs.exp() * logs).sum(-1)
    constant = 0.5 * math.log(2 * math.pi)
    logs = -0.5 * ((actions - out) * (-policy.log_std).exp()).square() - policy.log_std - constant
    return logs.sum(-1), (policy.log_std + 0.5 + constant).sum()


def for_engine(policy, value):
    """Returns arguments for `cypool.MLP` and its `update`."""
    weights, biases = policy.for_engine()
    return {"weights": weights, "biases": biases, "value": value.for_engine(), "log_std": policy.log_std}


class Novelty:
    """Counts views of MiniGrid's one-hot cells, by the kinds of cells in view and the object that the agent carries."""

    def __init__(self):
        self.counts = Counter()

    def bonus(self, obs):
        """Counts observations (..., 7, 7, 20), and returns 1 / sqrt(number of times that their view was seen)."""
        # the agent's cell shows the object that it carries
        kinds = np.concatenate([obs.max((-3, -2)), obs[..., 3, 6, :]], -1)
        found, which, counts = np.unique(kinds @ (1 << np.arange(kinds.shape[-1])), return_inverse=True,
                                         return_counts=True)
        self.counts.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        return np.array([self.counts[kind] for kind in found.tolist()])[which].reshape(obs.shape[:-3]) ** -0.5


class Collector:
    """Collects rollouts, and keeps the returns of the latest episodes."""

    def __init__(self, args, seed):
        self.env = cypool.make(args.env_id, num_envs=args.num_envs, seed=seed, num_threads=args.num_threads,
                               episode_statistics=True, normalize_obs=args.normalize,
                               normalize_reward=args.normalize, **args.env_options)
        if args.normalize:
            self.env.gamma = args.gamma
        self.env.reset()
        self.episodes, self.num_steps = deque(maxlen=20), args.num_steps

    def collect(self, mlp):
        rollout = self.env.rollout(self.num_steps, policy=mlp)
        if "episode" in rollout.info:
            self.episodes.extend(rollout.info["episode"]["r"][rollout.info["_episode"]].tolist())
        return rollout


def advantages_of(args, rollout, rewards, following):
    """Returns generalized advantages. After a truncation, the next row has the value of the last observation."""
    values = np.concatenate([rollout.value, following[None]])
    advantages, last = np.zeros_like(rollout.value), np.zeros_like(following)
    over = rollout.terminated | rollout.truncated
    deltas = rewards + args.gamma * values[1:] * ~rollout.terminated - values[:-1]
    factors = args.gamma * args.gae_lambda * ~over
    for t in reversed(range(len(rewards))):
        advantages[t] = last = deltas[t] + factors[t] * last
    return advantages


def update(args, optimizer, parameters, policy, value, batch):
    obs, actions, log_probs, advantages, returns = batch
    for _ in range(args.update_epochs):
        for rows in torch.randperm(len(obs)).split(args.minibatch_size):
            some = obs.index_select(0, rows)
            logs, entropies = judge(policy, some, actions[rows])
            ratio = (logs - log_probs[rows]).exp()
            gains = advantages[rows]
            gains = (gains - gains.mean()) / (gains.std() + 1e-8)
            gain = torch.min(gains * ratio, gains * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
            errors = value(some).squeeze(-1) - returns[rows]
            loss = 0.5 * errors.square().mean() - gain - args.entropy * entropies.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()


def learn(args, seed, learnt=None):
    """Yields (steps, seconds, CPU seconds, mean return of the last 20 episodes) after each rollout.

    If `learnt` is a dict, the policy and, if used, the normalization of its observations are stored in it.
    """
    torch.manual_seed(seed)
    began, cpu = time.perf_counter(), time.process_time()
    collector = Collector(args, seed)
    spec = collector.env.env_spec
    inputs = int(np.prod(spec.observation.shape))
    policy, output = policy_for(spec, inputs, args)
    value = Network(inputs, 1, args.value_std, args, args.mirrors and (args.mirrors[0], torch.eye(1)))
    parameters = [*policy.parameters(), *value.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=args.learning_rate, eps=1e-5, fused=True)
    novelty = Novelty()
    mlp = cypool.MLP(spec, **for_engine(policy, value), activation=args.activation, output=output, seed=seed)
    rollout_size = args.num_steps * args.num_envs
    num_updates = args.total_timesteps // rollout_size
    with collector.env, ThreadPoolExecutor(1) as thread:
        future = thread.submit(collector.collect, mlp)
        for k in range(num_updates):
            rollout = future.result()
            episodes = list(collector.episodes)
            following = mlp.values(rollout.last_obs)
            # collect the next rollout with the current policy, while learning from this one
            if k + 1 < num_updates:
                mlp.update(**for_engine(policy, value))
                future = thread.submit(collector.collect, mlp)
            if learnt is not None:
                learnt.update(policy=policy, normalization=collector.env.normalization() if args.normalize else None)
            yield ((k + 1) * rollout_size, time.perf_counter() - began, time.process_time() - cpu,
                   np.mean(episodes) if episodes else float("nan"))
            rewards = np.clip(rollout.reward, -10, 10) if args.normalize else rollout.reward
            if args.novelty:
                rewards = rewards + args.novelty * novelty.bonus(rollout.next_obs)
            advantages = advantages_of(args, rollout, rewards.astype(np.float32), following)
            # steps that begin an episode are not transitions
            chosen = torch.from_numpy(rollout.valid.reshape(-1))
            obs = rollout.obs.astype(np.float32).reshape(*rollout.reward.shape, inputs)
            actions = rollout.action if policy.log_std is None else rollout.raw_action
            batch = [torch.from_numpy(part.reshape(rollout_size, *part.shape[2:]))[chosen]
                     for part in (obs, actions, rollout.log_prob, advantages, advantages + rollout.value)]
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - k / num_updates)
            update(args, optimizer, parameters, policy, value, batch)


def warm_up():
    """Makes torch import the modules that an optimizer needs for its first step."""
    layer = nn.Linear(1, 1)
    layer(torch.zeros(1, 1)).sum().backward()
    torch.optim.Adam(layer.parameters(), fused=True).step()


def header():
    """Returns comments for a table: the command and versions."""
    return (f"# {' '.join(['python', *sys.argv])}\n# {platform.platform()}, python {platform.python_version()}, "
            f"cypool {cypool.__version__}, numpy {np.__version__}, torch {torch.__version__}\n")


def main():
    args = parse_args()
    torch.set_num_threads(args.torch_threads)
    warm_up()
    with open(args.csv, "w", newline="") as file:
        file.write(header())
        table = csv.writer(file)
        table.writerow(["seed", "step", "seconds", "cpu_seconds", "return"])
        for seed in args.seeds:
            for step, seconds, cpu, mean in learn(args, seed):
                table.writerow([seed, step, f"{seconds:.3f}", f"{cpu:.3f}", f"{mean:.3f}"])
                if mean >= args.goal:
                    break
            print(f"seed {seed}: return {mean:.2f} after {step:,} steps, {seconds:.2f} s and {cpu:.2f} CPU s, "
                  f"{step / seconds:,.0f} steps/s", flush=True)


if __name__ == "__main__":
    main()
