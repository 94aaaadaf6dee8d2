"""Trains agents with MAPPO: one policy for all of them, and a critic that sees the whole state.

    pip install "cypool[torch]" && python examples/mappo.py
    python examples/mappo.py --id pettingzoo:mpe2/simple_spread_v3    # the same with mpe2's own environments
    python examples/mappo.py --id Foraging-8x8-2p-3f-v3
    python examples/mappo.py --id rware-tiny-2ag-v2

The agents of simple_spread should cover three landmarks without touching each other. In level-based foraging and the
warehouse, each agent learns from the sum of the agents' rewards. Each output row contains the total steps so far,
seconds, and the mean return of the episodes since the last row: per agent, or with `--common-reward` for all agents
together.
"""
import argparse
import csv
import itertools
import platform
import sys
import time

import numpy as np
import torch
from torch import nn

import cypool

# environments that need other settings than simple_spread
RECIPES = {
    "Foraging-8x8-2p-3f-v3": {
        "num_envs": 128, "total_steps": 1_000_000, "gamma": 0.99, "common_reward": True, "updates_per_row": 5,
        # the limit of 50 steps does not end the task
        "env_options": {"truncate": True}},
    "rware-tiny-2ag-v2": {
        "num_envs": 256, "num_steps": 128, "total_steps": 12_000_000, "learning_rate": 7e-4, "gamma": 0.99, "epochs": 3,
        "minibatches": 16, "common_reward": True, "updates_per_row": 5, "env_options": {"truncate": True}},
}


def layers(*sizes, last):
    """Returns a network with tanh between linear layers; the weights of the last one are scaled by `last`."""
    parts = []
    for inputs, outputs in itertools.pairwise(sizes):
        parts += [nn.Linear(inputs, outputs), nn.Tanh()]
        nn.init.orthogonal_(parts[-2].weight, 2**0.5)
        nn.init.zeros_(parts[-2].bias)
    with torch.no_grad():
        parts[-2].weight *= last
    return nn.Sequential(*parts[:-1])


def train(args, out):
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    pool = cypool.make(args.id, num_envs=args.num_envs, num_threads=args.num_threads, seed=args.seed,
                       autoreset_mode="SameStep", episode_statistics=True, **args.env_options)
    ((name, group),) = pool.env_spec.agents.items()
    count, num_obs, num_actions = group.count, group.observation.shape[0], group.action.n
    actor = layers(num_obs, 64, 64, num_actions, last=0.01)
    critic = layers(count * num_obs, 64, 64, count, last=0.01)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], args.learning_rate, eps=1e-5)
    began, cpu, returns = time.perf_counter(), time.process_time(), []
    obs, _ = pool.reset()
    out.write(f"# {' '.join(['python', *sys.argv])}\n# {platform.platform()}, python {platform.python_version()}, "
              f"cypool {cypool.__version__}, numpy {np.__version__}, torch {torch.__version__}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["steps", "seconds", "cpu_seconds", "return"])
    shape = (args.num_steps, args.num_envs, count)
    for update in itertools.count(1):
        seen = np.zeros((*shape, num_obs), np.float32)
        actions, logs = torch.zeros(shape, dtype=torch.int64), torch.zeros(shape)
        rewards, ends, values = torch.zeros(shape), torch.zeros(shape[:2]), torch.zeros(args.num_steps + 1, *shape[1:])
        for t in range(args.num_steps):
            seen[t] = obs
            with torch.no_grad():
                policy = torch.distributions.Categorical(logits=actor(torch.from_numpy(obs)))
                actions[t] = policy.sample()
                logs[t] = policy.log_prob(actions[t])
                values[t] = critic(torch.from_numpy(obs).reshape(args.num_envs, -1))
            obs, reward, terminated, truncated, info = pool.step(actions[t].numpy())
            rewards[t] = torch.from_numpy(reward[:, None] if args.common_reward else info["agents"][name]["reward"])
            over = terminated | truncated
            if over.any():
                episodes = info["episode"]["agents"][name]["r"][over]
                returns += (episodes.sum(1) if args.common_reward else episodes.mean(1)).tolist()
            if (cut := truncated & ~terminated).any():
                # a truncated episode was only cut off: its last state has a value
                last = np.stack([info["final_obs"][i] for i in np.flatnonzero(cut)])
                with torch.no_grad():
                    rewards[t, cut] += args.gamma * critic(torch.from_numpy(last).reshape(len(last), -1))
            ends[t] = torch.from_numpy(over)
        with torch.no_grad():
            values[-1] = critic(torch.from_numpy(obs).reshape(args.num_envs, -1))
        advantages, following = torch.zeros(shape), torch.zeros(shape[1:])
        for t in reversed(range(args.num_steps)):
            goes_on = (1 - ends[t])[:, None]
            delta = rewards[t] + args.gamma * values[t + 1] * goes_on - values[t]
            following = advantages[t] = delta + args.gamma * 0.95 * goes_on * following
        wanted = (advantages + values[:-1]).flatten(0, 1)
        flat = torch.from_numpy(seen).flatten(0, 1)
        actions, logs = actions.flatten(0, 1), logs.flatten(0, 1)
        advantages = ((advantages - advantages.mean()) / (advantages.std() + 1e-8)).flatten(0, 1)
        for _ in range(args.epochs):
            for rows in torch.randperm(len(flat)).split(len(flat) // args.minibatches):
                # all agents share one policy: its rows are agents; the critic's rows are environments
                policy = torch.distributions.Categorical(logits=actor(flat[rows]))
                ratio = (policy.log_prob(actions[rows]) - logs[rows]).exp()
                gain = torch.min(ratio * advantages[rows], ratio.clamp(0.8, 1.2) * advantages[rows]).mean()
                error = (critic(flat[rows].flatten(1)) - wanted[rows]).square().mean()
                loss = -gain + 0.5 * error - args.entropy * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
                optimizer.step()
        steps = update * args.num_steps * args.num_envs
        if returns and (update % args.updates_per_row == 0 or steps >= args.total_steps):
            writer.writerow([steps, f"{time.perf_counter() - began:.2f}", f"{time.process_time() - cpu:.2f}",
                             f"{np.mean(returns):.3f}"])
            out.flush()
            returns = []
        if steps >= args.total_steps:
            break
    pool.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--id", default="mpe2/simple_spread-v3")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--num-threads", type=int, default=2, help="threads, or processes for Python environments")
    parser.add_argument("--num-steps", type=int, default=50, help="steps per environment between updates")
    parser.add_argument("--total-steps", type=int, default=400_000, help="total steps of all environments")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--common-reward", action=argparse.BooleanOptionalAction, default=False,
                        help="let agents learn from the sum of their rewards")
    parser.add_argument("--updates-per-row", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.set_defaults(**{"env_options": {}, **RECIPES.get(parser.parse_known_args()[0].id, {})})
    train(parser.parse_args(), sys.stdout)


if __name__ == "__main__":
    main()
