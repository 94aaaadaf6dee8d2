"""DQN for Atari, in one file: pip install torch, then python examples/dqn_atari.py --env-id Breakout-v5

Several environments fill one replay memory. Writes the mean return of the last 20 games to a CSV file.
"""
import argparse
import csv
import random
import time
from collections import deque

import numpy as np
import torch
from torch import nn

import cypool


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--env-id", default="Breakout-v5")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--csv", default="dqn_atari.csv")
    parser.add_argument("--total-timesteps", type=int, default=10_000_000)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--buffer-size", type=int, default=100_000, help="steps; 28 KB each")
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--target-frequency", type=int, default=1000, help="updates between copies of the network")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--start-e", type=float, default=1.0)
    parser.add_argument("--end-e", type=float, default=0.01)
    parser.add_argument("--exploration-fraction", type=float, default=0.1)
    parser.add_argument("--learning-starts", type=int, default=20_000)
    return parser.parse_args()


class QNetwork(nn.Module):
    def __init__(self, num_actions):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(4, 32, 8, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 4, stride=2), nn.ReLU(), nn.Conv2d(64, 64, 3),
            nn.ReLU(), nn.Flatten(), nn.Linear(64 * 7 * 7, 512), nn.ReLU(), nn.Linear(512, num_actions))

    def forward(self, obs):
        return self.net(obs / 255)


class Replay:
    """Steps of all environments, in a ring; what followed an observation is the row after it."""

    def __init__(self, num_rows, num_envs, shape):
        self.obs = np.zeros((num_rows, num_envs, *shape), np.uint8)
        self.action = np.zeros((num_rows, num_envs), np.int64)
        self.reward = np.zeros((num_rows, num_envs), np.float32)
        self.terminated = np.zeros((num_rows, num_envs), np.bool_)
        # the row after it is of another episode, and what followed was not kept
        self.cut = np.zeros((num_rows, num_envs), np.bool_)
        self.next, self.full = 0, False

    def add(self, obs, action, reward, terminated, cut):
        t = self.next
        self.obs[t], self.action[t], self.reward[t], self.terminated[t], self.cut[t] = (
            obs, action, reward, terminated, cut)
        self.next = (t + 1) % len(self.obs)
        self.full |= self.next == 0

    def sample(self, count, random):
        # the newest row has nothing after it
        newest = (self.next - 1) % len(self.obs)
        rows = np.zeros(0, np.int64)
        envs = np.zeros(0, np.int64)
        while len(rows) < count:
            t = random.integers(len(self.obs) if self.full else newest, size=count)
            i = random.integers(self.obs.shape[1], size=count)
            good = (t != newest) & ~self.cut[t, i]
            rows, envs = np.append(rows, t[good])[:count], np.append(envs, i[good])[:count]
        following = self.obs[(rows + 1) % len(self.obs), envs]
        return (self.obs[rows, envs], self.action[rows, envs], self.reward[rows, envs], following,
                self.terminated[rows, envs])


def main():
    args = parse_args()
    random.seed(args.seed)
    rng = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device(args.device)

    envs = cypool.make(args.env_id, env_type="gymnasium", num_envs=args.num_envs, seed=args.seed,
                       autoreset_mode="SameStep", episode_statistics=True, episodic_life=True, reward_clip=True)
    num_actions = int(envs.single_action_space.n)
    network, target = QNetwork(num_actions).to(device), QNetwork(num_actions).to(device)
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate)
    memory = Replay(args.buffer_size // args.num_envs, args.num_envs, envs.single_observation_space.shape)
    games, returns = deque(maxlen=20), np.zeros(args.num_envs)
    num_updates = 0

    with open(args.csv, "w", newline="") as file:
        log = csv.writer(file)
        log.writerow(["step", "seconds", "return"])
        began = reported = time.perf_counter()
        obs, _ = envs.reset()
        for step in range(0, args.total_timesteps, args.num_envs):
            progress = step / (args.exploration_fraction * args.total_timesteps)
            epsilon = max(args.end_e, args.start_e + (args.end_e - args.start_e) * progress)
            with torch.no_grad():
                actions = network(torch.from_numpy(obs).to(device)).argmax(1).cpu().numpy()
            explore = rng.random(args.num_envs) < epsilon
            actions[explore] = rng.integers(num_actions, size=explore.sum())
            next_obs, reward, terminated, truncated, info = envs.step(actions)
            memory.add(obs, actions, reward, terminated, truncated & ~terminated)
            obs = next_obs
            if "episode" in info:
                # an episode is a life here; a game is over when the last one is
                ended = info["_episode"]
                returns[ended] += info["episode"]["r"][ended]
                over = ended & (info["final_info"]["lives"] == 0)
                games.extend(returns[over].tolist())
                returns[over] = 0

            if step > args.learning_starts:
                # as many updates as with one environment and an update every fourth step
                for _ in range(max(args.num_envs // 4, 1)):
                    batch = (torch.from_numpy(part).to(device) for part in memory.sample(args.batch_size, rng))
                    b_obs, b_actions, b_rewards, b_next, b_terminated = batch
                    with torch.no_grad():
                        best = target(b_next).max(1).values
                        wanted = b_rewards + args.gamma * best * ~b_terminated
                    value = network(b_obs).gather(1, b_actions[:, None]).squeeze(1)
                    loss = nn.functional.mse_loss(value, wanted)
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
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
                      f"{done / (now - began):,.0f} steps/s, {num_updates:,} updates")
    envs.close()


if __name__ == "__main__":
    main()
