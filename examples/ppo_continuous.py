"""PPO for continuous actions, in one file: pip install torch, then python examples/ppo_continuous.py

Observations and rewards are normalized by the pool. A HalfCheetah runs after some minutes:

    python examples/ppo_continuous.py --env-id HalfCheetah-v5 --gamma 0.99 --total-timesteps 500000

Writes the mean return of the last 20 episodes to a CSV file.
"""
import argparse
import csv
import random
import time
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

import cypool


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--env-id", default="Pendulum-v1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--csv", default="ppo_continuous.csv")
    parser.add_argument("--total-timesteps", type=int, default=1_000_000)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--num-envs", type=int, default=16)
    parser.add_argument("--num-steps", type=int, default=128)
    parser.add_argument("--num-minibatches", type=int, default=16)
    parser.add_argument("--update-epochs", type=int, default=10)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    parser.add_argument("--ent-coef", type=float, default=0.0)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--max-grad-norm", type=float, default=0.5)
    return parser.parse_args()


def layer(module, std=2**0.5):
    nn.init.orthogonal_(module.weight, std)
    nn.init.zeros_(module.bias)
    return module


class Agent(nn.Module):
    def __init__(self, num_obs, num_actions):
        super().__init__()

        def net(out, std):
            return nn.Sequential(layer(nn.Linear(num_obs, 64)), nn.Tanh(), layer(nn.Linear(64, 64)), nn.Tanh(),
                                 layer(nn.Linear(64, out), std))

        self.mean = net(num_actions, 0.01)
        self.log_std = nn.Parameter(torch.zeros(num_actions))
        self.critic = net(1, 1.0)

    def value(self, obs):
        return self.critic(obs).squeeze(-1)

    def forward(self, obs):
        return Normal(self.mean(obs), self.log_std.exp()), self.value(obs)


def main():
    args = parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device(args.device)

    pool = cypool.make(args.env_id, env_type="gymnasium", num_envs=args.num_envs, seed=args.seed,
                       autoreset_mode="SameStep", episode_statistics=True, normalize_obs=True, normalize_reward=True)
    pool.gamma = args.gamma
    space = pool.single_action_space
    low, high = (torch.tensor(bound, device=device) for bound in (space.low, space.high))
    agent = Agent(pool.single_observation_space.shape[0], space.shape[0]).to(device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros(*shape, *pool.single_observation_space.shape, device=device)
    actions = torch.zeros(*shape, *space.shape, device=device)
    logprobs, rewards, values, ends = (torch.zeros(shape, device=device) for _ in range(4))
    episodes = deque(maxlen=20)
    batch_size = args.num_steps * args.num_envs
    num_updates = args.total_timesteps // batch_size

    def tensor(array):
        return torch.from_numpy(array).to(device, torch.float32)

    with open(args.csv, "w", newline="") as file:
        log = csv.writer(file)
        log.writerow(["step", "seconds", "return"])
        began = time.perf_counter()
        next_obs = tensor(pool.reset()[0])
        for update in range(num_updates):
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - update / num_updates)
            for t in range(args.num_steps):
                obs[t] = next_obs
                with torch.no_grad():
                    policy, values[t] = agent(next_obs)
                actions[t] = policy.sample()
                logprobs[t] = policy.log_prob(actions[t]).sum(-1)
                # from the middle of the action space, in units of half its width, and never out of it
                action = ((low + high) / 2 + actions[t] * (high - low) / 2).clamp(low, high)
                found, reward, terminated, truncated, info = pool.step(action.cpu().numpy())
                next_obs, rewards[t], ends[t] = tensor(found), tensor(reward), tensor(terminated | truncated)
                if "_final_obs" in info:
                    # a time limit is no real end: add the value of the last observation
                    cut = np.flatnonzero(truncated & ~terminated)
                    if cut.size:
                        with torch.no_grad():
                            beyond = agent.value(tensor(np.stack(info["final_obs"][cut])))
                        rewards[t, cut] += args.gamma * beyond
                    episodes.extend(info["episode"]["r"][info["_episode"]].tolist())

            with torch.no_grad():
                following = agent.value(next_obs)
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
                    value_loss = 0.5 * ((value - b_returns) ** 2).mean()
                    entropy = policy.entropy().sum(-1).mean()
                    loss = policy_loss - args.ent_coef * entropy + args.vf_coef * value_loss
                    optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                    optimizer.step()

            step, seconds = (update + 1) * batch_size, time.perf_counter() - began
            mean = np.mean(episodes) if episodes else float("nan")
            log.writerow([step, f"{seconds:.1f}", f"{mean:.2f}"])
            file.flush()
            print(f"step {step:,} of {args.total_timesteps:,}: return {mean:.2f}, {step / seconds:,.0f} steps/s")
    pool.close()


if __name__ == "__main__":
    main()
