"""PPO from pixels, in one file: pip install torch "cypool[dm-control]", then python examples/ppo_pixels.py

Trains on a task of the DeepMind Control Suite from the observations of DrQ and similar agents: three frames of 84 x 84
pixels, one after each repeated action. With software rendering, most of the time goes into the frames: 230 steps a
second on two cores. 50,000 steps raise the return from 264 to 399 (docs/reference/dm_control.md has the details).

Prints the mean return of the last 20 episodes and writes it to a CSV file, with steps and seconds.
"""
import argparse
import csv
import time
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

import cypool


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--env-id", default="dm_control/cartpole-balance-v0")
    parser.add_argument("--action-repeat", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--csv", default="ppo_pixels.csv")
    parser.add_argument("--total-timesteps", type=int, default=50_000, help="each with an action that is repeated")
    parser.add_argument("--learning-rate", type=float, default=7e-4)
    parser.add_argument("--num-envs", type=int, default=16)
    parser.add_argument("--num-steps", type=int, default=32)
    parser.add_argument("--num-minibatches", type=int, default=4)
    parser.add_argument("--update-epochs", type=int, default=6)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--max-grad-norm", type=float, default=0.5)
    return parser.parse_args()


def layer(module, std=2**0.5):
    nn.init.orthogonal_(module.weight, std)
    nn.init.zeros_(module.bias)
    return module


class Agent(nn.Module):
    """Policy and value of (n, 84, 84, 9) pixels."""

    def __init__(self, num_actions):
        super().__init__()
        self.body = nn.Sequential(
            layer(nn.Conv2d(9, 16, 8, stride=4)), nn.ReLU(), layer(nn.Conv2d(16, 32, 4, stride=2)), nn.ReLU(),
            nn.Flatten(), layer(nn.Linear(32 * 9 * 9, 128)), nn.ReLU())
        self.mean = layer(nn.Linear(128, num_actions), 0.01)
        self.log_std = nn.Parameter(torch.full((num_actions,), -0.5))
        self.critic = layer(nn.Linear(128, 1), 1.0)

    def forward(self, pixels):
        hidden = self.body(pixels.permute(0, 3, 1, 2) / 255 - 0.5)
        return Normal(self.mean(hidden), self.log_std.exp()), self.critic(hidden).squeeze(-1)


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    pool = cypool.make(args.env_id, num_envs=args.num_envs, seed=args.seed, autoreset_mode="SameStep",
                       episode_statistics=True, from_pixels=True, width=84, height=84, camera_id=0, frame_stack=3,
                       action_repeat=args.action_repeat, shadows=False)
    space = pool.single_action_space
    agent = Agent(space.shape[0]).to(device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros(*shape, *pool.single_observation_space["pixels"].shape, dtype=torch.uint8, device=device)
    actions = torch.zeros(*shape, *space.shape, device=device)
    logprobs, rewards, values, ends = (torch.zeros(shape, device=device) for _ in range(4))
    episodes = deque(maxlen=20)
    batch_size = args.num_steps * args.num_envs
    num_updates = args.total_timesteps // batch_size

    with open(args.csv, "w", newline="") as file:
        log = csv.writer(file)
        log.writerow(["step", "seconds", "return"])
        began = time.perf_counter()
        pixels = torch.from_numpy(pool.reset()[0]["pixels"]).to(device)
        for update in range(num_updates):
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - update / num_updates)
            for t in range(args.num_steps):
                obs[t] = pixels
                with torch.no_grad():
                    policy, values[t] = agent(pixels)
                actions[t] = policy.sample()
                logprobs[t] = policy.log_prob(actions[t]).sum(-1)
                chosen = np.clip(actions[t].double().cpu().numpy(), space.low, space.high)
                found, reward, terminated, truncated, info = pool.step(chosen)
                pixels = torch.from_numpy(found["pixels"]).to(device)
                # a mean, so that it does not depend on how often an action is repeated; values are then at most 1, and
                # their loss does not hide that of the policy
                rewards[t] = torch.from_numpy(reward / args.action_repeat) * (1 - args.gamma)
                ends[t] = torch.from_numpy(terminated | truncated)
                if "_final_obs" in info:
                    # a time limit is no real end: add the value of the last observation
                    cut = np.flatnonzero(truncated & ~terminated)
                    beyond = torch.from_numpy(np.stack([each["pixels"] for each in info["final_obs"][cut]])).to(device)
                    with torch.no_grad():
                        rewards[t, cut] += args.gamma * agent(beyond)[1]
                    episodes.extend(info["episode"]["r"][info["_episode"]].tolist())

            with torch.no_grad():
                following = agent(pixels)[1]
            advantages = torch.zeros_like(rewards)
            last = torch.zeros(args.num_envs, device=device)
            for t in reversed(range(args.num_steps)):
                going = 1 - ends[t]
                delta = rewards[t] + args.gamma * following * going - values[t]
                advantages[t] = last = delta + args.gamma * args.gae_lambda * going * last
                following = values[t]

            flat = [array.flatten(0, 1) for array in (obs, actions, logprobs, advantages, advantages + values)]
            for _ in range(args.update_epochs):
                for rows in torch.randperm(batch_size, device=device).chunk(args.num_minibatches):
                    b_obs, b_actions, b_logprobs, b_advantages, b_returns = (array[rows] for array in flat)
                    policy, value = agent(b_obs)
                    ratio = (policy.log_prob(b_actions).sum(-1) - b_logprobs).exp()
                    b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
                    clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                    policy_loss = -torch.min(b_advantages * ratio, b_advantages * clipped).mean()
                    loss = policy_loss + args.vf_coef * 0.5 * ((value - b_returns) ** 2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                    optimizer.step()

            step, seconds = (update + 1) * batch_size, time.perf_counter() - began
            mean = np.mean(episodes) if episodes else float("nan")
            log.writerow([step, f"{seconds:.1f}", f"{mean:.2f}"])
            file.flush()
            print(f"step {step:,} of {args.total_timesteps:,}: return {mean:.2f}, {step / seconds:,.0f} steps/s",
                  flush=True)
    pool.close()


if __name__ == "__main__":
    main()
