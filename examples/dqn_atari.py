"""DQN for Atari, in one file: pip install torch, then python examples/dqn_atari.py --env-id Breakout-v5

Several environments fill one replay buffer. The mean return of the last 20 games is written to a CSV file.
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
    parser.add_argument("--buffer-size", type=int, default=100_000, help="number of rows, each with one frame (7 KB)")
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
    memory = cypool.ReplayBuffer(envs, args.buffer_size, gamma=args.gamma, seed=args.seed)
    games, returns = deque(maxlen=20), np.zeros(args.num_envs)
    num_updates = 0

    with open(args.csv, "w", newline="") as file:
        log = csv.writer(file)
        log.writerow(["step", "seconds", "return"])
        began = reported = time.perf_counter()
        obs, _ = memory.reset()
        for step in range(0, args.total_timesteps, args.num_envs):
            progress = step / (args.exploration_fraction * args.total_timesteps)
            epsilon = max(args.end_e, args.start_e + (args.end_e - args.start_e) * progress)
            with torch.no_grad():
                actions = network(torch.from_numpy(obs).to(device)).argmax(1).cpu().numpy()
            explore = rng.random(args.num_envs) < epsilon
            actions[explore] = rng.integers(num_actions, size=explore.sum())
            obs, _, _, _, info = memory.step(actions)
            if "episode" in info:
                # here, each episode is one life; a game ends with the last life
                ended = info["_episode"]
                returns[ended] += info["episode"]["r"][ended]
                over = ended & (info["final_info"]["lives"] == 0)
                games.extend(returns[over].tolist())
                returns[over] = 0

            if step > args.learning_starts:
                # the same number of updates as with one environment and an update every fourth step
                for _ in range(max(args.num_envs // 4, 1)):
                    batch = memory.sample(args.batch_size)
                    b_obs, b_actions, b_rewards, b_next, b_discount = (torch.from_numpy(part).to(device) for part in (
                        batch.obs, batch.action, batch.reward, batch.next_obs, batch.discount))
                    with torch.no_grad():
                        wanted = b_rewards + b_discount * target(b_next).max(1).values
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
