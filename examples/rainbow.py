"""Rainbow in one file: pip install torch, then python examples/rainbow.py --env-id Pong-v5

This is DQN with n-step returns, prioritized replay, a dueling network with noisy layers, return distributions (C51) and
double Q-learning. Several environments fill one replay buffer. With `--env-id CartPole-v1`, it learns in minutes on a
CPU. The mean return of the last 20 games is written to a CSV file.
"""
import argparse
import csv
import math
import time
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import cypool


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--env-id", default="Pong-v5")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--csv", default="rainbow.csv")
    parser.add_argument("--total-timesteps", type=int, default=10_000_000)
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--learning-rate", type=float, default=6.25e-5)
    parser.add_argument("--buffer-size", type=int, default=1_000_000, help="number of rows; in Atari, 7 KB each")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-starts", type=int, default=20_000)
    parser.add_argument("--steps-per-update", type=int, default=4)
    parser.add_argument("--target-frequency", type=int, default=2000, help="updates between copies of the network")
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--n-step", type=int, default=3)
    parser.add_argument("--alpha", type=float, default=0.5, help="exponent of priorities")
    parser.add_argument("--beta", type=float, default=0.4, help="initial exponent of importance weights; grows to 1")
    parser.add_argument("--sigma", type=float, default=0.5, help="initial noise of the network")
    parser.add_argument("--num-atoms", type=int, default=51)
    parser.add_argument("--v-min", type=float, default=-10)
    parser.add_argument("--v-max", type=float, default=10)
    return parser.parse_args()


class NoisyLinear(nn.Module):
    """A layer whose weights have noise of learned size (Fortunato et al., 2018)."""

    def __init__(self, inputs, outputs, sigma):
        super().__init__()
        bound = 1 / math.sqrt(inputs)
        self.weight = nn.Parameter(torch.empty(outputs, inputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(outputs).uniform_(-bound, bound))
        self.weight_sigma = nn.Parameter(torch.full((outputs, inputs), sigma * bound))
        self.bias_sigma = nn.Parameter(torch.full((outputs,), sigma * bound))
        self.register_buffer("noise_in", torch.zeros(inputs))
        self.register_buffer("noise_out", torch.zeros(outputs))

    def draw(self):
        for noise in (self.noise_in, self.noise_out):
            values = torch.randn_like(noise)
            noise.copy_(values.sign() * values.abs().sqrt())

    def forward(self, x):
        noise = torch.outer(self.noise_out, self.noise_in)
        return F.linear(x, self.weight + self.weight_sigma * noise, self.bias + self.bias_sigma * self.noise_out)


class Network(nn.Module):
    """Log-probabilities of returns: (n, actions, atoms)."""

    def __init__(self, obs_shape, num_actions, args):
        super().__init__()
        self.num_actions, self.num_atoms, self.is_image = num_actions, args.num_atoms, len(obs_shape) == 3
        if self.is_image:
            self.body = nn.Sequential(
                nn.Conv2d(obs_shape[0], 32, 8, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 4, stride=2), nn.ReLU(),
                nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten())
            width, hidden = self.body(torch.zeros(1, *obs_shape)).shape[1], 512
        else:
            self.body = nn.Sequential(nn.Linear(obs_shape[0], 128), nn.ReLU())
            width, hidden = 128, 128
        self.value, self.advantage = (
            nn.Sequential(NoisyLinear(width, hidden, args.sigma), nn.ReLU(),
                          NoisyLinear(hidden, outputs * args.num_atoms, args.sigma)) for outputs in (1, num_actions))

    def forward(self, obs):
        hidden = self.body(obs / 255 if self.is_image else obs)
        value = self.value(hidden).view(-1, 1, self.num_atoms)
        advantage = self.advantage(hidden).view(-1, self.num_actions, self.num_atoms)
        return F.log_softmax(value + advantage - advantage.mean(1, keepdim=True), 2)

    def draw(self):
        for module in self.modules():
            if isinstance(module, NoisyLinear):
                module.draw()


def projected(probability, reward, discount, support):
    """Projects the returns reward + discount * support onto the support (Bellemare et al., 2017)."""
    low, high, count = support[0], support[-1], len(support)
    place = ((reward[:, None] + discount[:, None] * support).clamp(low, high) - low) / (high - low) * (count - 1)
    # rounding may go beyond the last atom
    place = place.clamp(0, count - 1)
    # each atom takes probability from places less than one atom away
    near = (1 - (place[:, :, None] - torch.arange(count, device=place.device)).abs()).clamp(min=0)
    return (probability[:, :, None] * near).sum(1)


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    options = {}
    if "lives" in cypool.make_spec(args.env_id).info:
        options = {"episodic_life": True, "reward_clip": True}
    envs = cypool.make(args.env_id, env_type="gymnasium", num_envs=args.num_envs, seed=args.seed,
                       autoreset_mode="SameStep", episode_statistics=True, **options)
    network, target = (Network(envs.single_observation_space.shape, int(envs.single_action_space.n), args).to(device)
                       for _ in "12")
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate, eps=1.5e-4)
    memory = cypool.ReplayBuffer(envs, args.buffer_size, n_step=args.n_step, gamma=args.gamma, alpha=args.alpha,
                                 seed=args.seed)
    support = torch.linspace(args.v_min, args.v_max, args.num_atoms, device=device)
    games, returns = deque(maxlen=20), np.zeros(args.num_envs)
    num_updates = 0

    with open(args.csv, "w", newline="") as file:
        log = csv.writer(file)
        log.writerow(["step", "seconds", "return"])
        began = reported = time.perf_counter()
        obs, _ = memory.reset()
        for step in range(0, args.total_timesteps, args.num_envs):
            # the noise makes the agent explore
            network.draw()
            with torch.no_grad():
                values = (network(torch.from_numpy(obs).to(device)).exp() * support).sum(2)
            obs, _, _, _, info = memory.step(values.argmax(1).cpu().numpy())
            if "episode" in info:
                # here, an episode may be one life; a game ends with the last life
                ended = info["_episode"]
                returns[ended] += info["episode"]["r"][ended]
                over = ended & (info["final_info"]["lives"] == 0) if options else ended
                games.extend(returns[over].tolist())
                returns[over] = 0

            if step > args.learning_starts:
                for _ in range(max(args.num_envs // args.steps_per_update, 1)):
                    beta = args.beta + (1 - args.beta) * step / args.total_timesteps
                    batch = memory.sample(args.batch_size, beta=beta)
                    b_obs, b_actions, b_rewards, b_next, b_discount, b_weight = (
                        torch.from_numpy(part).to(device) for part in (
                            batch.obs, batch.action, batch.reward, batch.next_obs, batch.discount, batch.weight))
                    network.draw()
                    target.draw()
                    rows = torch.arange(args.batch_size, device=device)
                    with torch.no_grad():
                        # one network chooses the action, the other evaluates it
                        chosen = (network(b_next).exp() * support).sum(2).argmax(1)
                        wanted = projected(target(b_next)[rows, chosen].exp(), b_rewards, b_discount, support)
                    losses = -(wanted * network(b_obs)[rows, b_actions]).sum(1)
                    optimizer.zero_grad()
                    (b_weight * losses).mean().backward()
                    nn.utils.clip_grad_norm_(network.parameters(), 10)
                    optimizer.step()
                    memory.update_priorities(batch.index, losses.detach().cpu().numpy())
                    num_updates += 1
                    if num_updates % args.target_frequency == 0:
                        target.load_state_dict(network.state_dict())

            now = time.perf_counter()
            if now - reported > 10 or step + args.num_envs >= args.total_timesteps:
                reported, done = now, step + args.num_envs
                mean = np.mean(games) if games else float("nan")
                log.writerow([done, f"{now - began:.1f}", f"{mean:.2f}"])
                file.flush()
                print(f"step {done:,} of {args.total_timesteps:,}: return {mean:.2f}, "
                      f"{done / (now - began):,.0f} steps/s, {num_updates:,} updates", flush=True)
    envs.close()


if __name__ == "__main__":
    main()
