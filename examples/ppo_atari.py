"""PPO for Atari, in one file: pip install torch, then python examples/ppo_atari.py --env-id Pong-v5

Prints the mean return of the last 20 games and writes it to a CSV file, with steps and seconds.
"""
import argparse
import csv
import random
import time
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import cypool


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--env-id", default="Pong-v5")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--csv", default="ppo_atari.csv")
    parser.add_argument("--total-timesteps", type=int, default=10_000_000)
    parser.add_argument("--learning-rate", type=float, default=2.5e-4)
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--num-steps", type=int, default=128)
    parser.add_argument("--num-minibatches", type=int, default=4)
    parser.add_argument("--update-epochs", type=int, default=4)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip-coef", type=float, default=0.1)
    parser.add_argument("--ent-coef", type=float, default=0.01)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--max-grad-norm", type=float, default=0.5)
    return parser.parse_args()


def layer(module, std=2**0.5):
    nn.init.orthogonal_(module.weight, std)
    nn.init.zeros_(module.bias)
    return module


class Agent(nn.Module):
    def __init__(self, num_actions):
        super().__init__()
        self.body = nn.Sequential(
            layer(nn.Conv2d(4, 32, 8, stride=4)), nn.ReLU(), layer(nn.Conv2d(32, 64, 4, stride=2)), nn.ReLU(),
            layer(nn.Conv2d(64, 64, 3)), nn.ReLU(), nn.Flatten(), layer(nn.Linear(64 * 7 * 7, 512)), nn.ReLU())
        self.actor = layer(nn.Linear(512, num_actions), 0.01)
        self.critic = layer(nn.Linear(512, 1), 1.0)

    def value(self, obs):
        return self.critic(self.body(obs / 255)).squeeze(-1)

    def forward(self, obs):
        hidden = self.body(obs / 255)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)


def main():
    args = parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device(args.device)

    # the next episode starts within the step that ends one, so every row is a transition
    envs = cypool.make(args.env_id, env_type="gymnasium", num_envs=args.num_envs, seed=args.seed,
                       autoreset_mode="SameStep", episode_statistics=True, episodic_life=True,
                       reward_clip=True).torch(device)
    agent = Agent(envs.single_action_space.n).to(device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    shape = (args.num_steps, args.num_envs)
    # on the device, each frame once
    obs = envs.rollout_buffers(args.num_steps, frames="once")
    actions = torch.zeros(shape, dtype=torch.int64, device=device)
    logprobs, rewards, values, ends = (torch.zeros(shape, device=device) for _ in range(4))
    games, returns = deque(maxlen=20), np.zeros(args.num_envs)
    batch_size = args.num_steps * args.num_envs
    num_updates = args.total_timesteps // batch_size

    with open(args.csv, "w", newline="") as file:
        log = csv.writer(file)
        log.writerow(["step", "seconds", "return"])
        began = time.perf_counter()
        next_obs, _ = envs.reset()
        for update in range(num_updates):
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - update / num_updates)
            obs.begin(next_obs)
            for t in range(args.num_steps):
                with torch.no_grad():
                    policy, values[t] = agent(next_obs)
                actions[t] = policy.sample()
                logprobs[t] = policy.log_prob(actions[t])
                next_obs, rewards[t], terminated, truncated, info = envs.step(actions[t])
                obs.add(next_obs)
                ends[t] = terminated | truncated
                if "_final_obs" in info:
                    # a time limit is no real end: add the value of the last observation
                    cut = (truncated & ~terminated)[info["_final_obs"]]
                    if cut.any():
                        with torch.no_grad():
                            beyond = agent.value(info["final_obs"][cut])
                        rewards[t, truncated & ~terminated] += args.gamma * beyond
                    # an episode is a life here; a game is over when the last one is
                    ended = info["_episode"]
                    returns[ended] += info["episode"]["r"][ended]
                    over = ended & (info["final_info"]["lives"] == 0)
                    games.extend(returns[over].tolist())
                    returns[over] = 0

            with torch.no_grad():
                following = agent.value(next_obs)
            advantages = torch.zeros_like(rewards)
            last = torch.zeros(args.num_envs, device=device)
            for t in reversed(range(args.num_steps)):
                going = 1 - ends[t]
                delta = rewards[t] + args.gamma * following * going - values[t]
                advantages[t] = last = delta + args.gamma * args.gae_lambda * going * last
                following = values[t]

            flat = [array.flatten(0, 1) for array in (actions, logprobs, advantages, advantages + values, values)]
            for _ in range(args.update_epochs):
                for rows in torch.randperm(batch_size, device=device).chunk(args.num_minibatches):
                    b_actions, b_logprobs, b_advantages, b_returns, b_values = (array[rows] for array in flat)
                    policy, value = agent(obs.stacks(rows))
                    ratio = (policy.log_prob(b_actions) - b_logprobs).exp()
                    b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
                    clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                    policy_loss = -torch.min(b_advantages * ratio, b_advantages * clipped).mean()
                    near = b_values + (value - b_values).clamp(-args.clip_coef, args.clip_coef)
                    value_loss = 0.5 * torch.max((value - b_returns) ** 2, (near - b_returns) ** 2).mean()
                    loss = policy_loss - args.ent_coef * policy.entropy().mean() + args.vf_coef * value_loss
                    optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                    optimizer.step()

            step, seconds = (update + 1) * batch_size, time.perf_counter() - began
            mean = np.mean(games) if games else float("nan")
            log.writerow([step, f"{seconds:.1f}", f"{mean:.2f}"])
            file.flush()
            print(f"step {step:,} of {args.total_timesteps:,}: return {mean:.2f}, {step / seconds:,.0f} steps/s")
    envs.close()


if __name__ == "__main__":
    main()
