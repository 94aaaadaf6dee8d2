r"""PPO on Procgen, trained on some levels and tested on all, in one file: pip install torch matplotlib

    cypool get procgen
    python examples/ppo_procgen.py                        # three million steps: half an hour on one core
    python examples/ppo_procgen.py --image-size 64 --widths 16 32 32 --num-steps 256 --num-minibatches 8 \
        --total-timesteps 25_000_000  # as in the paper

This is the protocol of the Procgen paper: easy mode, 200 training levels, and all levels for testing. While the agent
trains, it also plays in a second pool, which has all levels and from which it never learns. For each rollout, the mean
returns of the last 100 episodes in both pools are written to a CSV file, with a plot next to it.
"""
import argparse
import csv
import platform
import sys
import time
from collections import deque
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import cypool


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="coinrun")
    parser.add_argument("--distribution-mode", default="easy")
    parser.add_argument("--num-levels", type=int, default=200, help="number of training levels; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--total-timesteps", type=int, default=3_000_000)
    parser.add_argument("--max-seconds", type=float, default=float("inf"), help="time limit for rollouts")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--num-test-envs", type=int, default=16)
    parser.add_argument("--num-steps", type=int, default=128)
    parser.add_argument("--num-minibatches", type=int, default=16)
    parser.add_argument("--update-epochs", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--gamma", type=float, default=0.999)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.01, help="weight of the policy's entropy")
    parser.add_argument("--image-size", type=int, default=32, choices=[16, 32, 64],
                        help="size of the network's input: means over squares of pixels")
    parser.add_argument("--widths", type=int, nargs="*", default=[], metavar="N",
                        help="channels of IMPALA's blocks; default: a small network for CPUs")
    parser.add_argument("--torch-threads", type=int, default=torch.get_num_threads(), metavar="N")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--csv", default="ppo_procgen.csv")
    args = parser.parse_args()
    if args.total_timesteps < args.num_steps * args.num_envs:
        parser.error(f"--total-timesteps: expected at least a rollout of {args.num_steps * args.num_envs} steps")
    return args


class Residual(nn.Module):
    """Two convolutions whose output is added to their input."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(width, width, 3, padding=1))

    def forward(self, x):
        return x + self.body(x)


def make_body(widths, image_size):
    """Returns a network that computes 256 features of an image: IMPALA's, or a small one if `widths` is empty."""
    if not widths:
        side = image_size // 4 - 2
        return nn.Sequential(nn.Conv2d(3, 16, 4, 2), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.Flatten(),
                             nn.Linear(32 * side**2, 256), nn.ReLU())
    parts, channels = [], 3
    for width in widths:
        parts += [nn.Conv2d(channels, width, 3, padding=1), nn.MaxPool2d(3, 2, 1), Residual(width), Residual(width)]
        channels = width
    side = image_size // 2**len(widths)
    return nn.Sequential(*parts, nn.Flatten(), nn.ReLU(), nn.Linear(channels * side**2, 256), nn.ReLU())


class Agent(nn.Module):
    """Policy and value for images (n, 3, image_size, image_size)."""

    def __init__(self, widths, image_size, num_actions):
        super().__init__()
        self.body = make_body(widths, image_size)
        self.actor, self.critic = nn.Linear(256, num_actions), nn.Linear(256, 1)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.orthogonal_(layer.weight, 0.01 if layer is self.actor else 2**0.5)
                nn.init.zeros_(layer.bias)

    def forward(self, pictures):
        hidden = self.body(pictures.float() / 255)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)


class RewardScale:
    """Divides rewards by the standard deviation of their discounted sums, as the paper does."""

    def __init__(self, num_envs, gamma):
        self.sums, self.gamma = np.zeros(num_envs), gamma
        self.count, self.mean, self.squares = 1e-4, 0.0, 0.0

    def __call__(self, reward, over):
        self.sums = self.sums * self.gamma + reward
        delta = self.sums.mean() - self.mean
        total = self.count + len(reward)
        self.squares += self.sums.var() * len(reward) + delta**2 * self.count * len(reward) / total
        self.mean, self.count = self.mean + delta * len(reward) / total, total
        self.sums[over] = 0
        return np.clip(reward / np.sqrt(self.squares / self.count + 1e-8), -10, 10).astype(np.float32)


def make_pool(args, num_envs, num_levels, seed):
    # as in procgen, the step that ends an episode returns the first image of the next one
    return cypool.make(f"procgen-{args.game}-v0", num_envs=num_envs, seed=seed, channel_first=True,
                       autoreset_mode="SameStep", episode_statistics=True, distribution_mode=args.distribution_mode,
                       num_levels=num_levels)


def shrink(pictures, args):
    """Shrinks images (n, 3, 64, 64) to the network's input size: each pixel is the mean of a square of pixels."""
    pictures = torch.from_numpy(pictures).to(args.device)
    if args.image_size == 64:
        return pictures
    return nn.functional.avg_pool2d(pictures.float(), 64 // args.image_size).byte()


def learn(args):
    """Yields (steps, seconds, mean return on the training levels, mean return on all levels) after each rollout."""
    torch.manual_seed(args.seed)
    device, began = torch.device(args.device), time.perf_counter()
    train = make_pool(args, args.num_envs, args.num_levels, args.seed)
    test = make_pool(args, args.num_test_envs, 0, args.seed + args.num_envs)
    agent = Agent(args.widths, args.image_size, train.single_action_space.n).to(device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    scale = RewardScale(args.num_envs, args.gamma)
    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros(*shape, 3, args.image_size, args.image_size, dtype=torch.uint8, device=device)
    actions = torch.zeros(shape, dtype=torch.long, device=device)
    logprobs, rewards, values, ends = (torch.zeros(shape, device=device) for _ in range(4))
    episodes = deque(maxlen=100), deque(maxlen=100)
    following = shrink(np.concatenate([train.reset()[0], test.reset()[0]]), args)
    rollout_size = args.num_steps * args.num_envs
    for update in range(args.total_timesteps // rollout_size):
        for t in range(args.num_steps):
            obs[t] = following[:args.num_envs]
            with torch.no_grad():
                policy, value = agent(following)
            chosen = policy.sample()
            actions[t], values[t] = chosen[:args.num_envs], value[:args.num_envs]
            logprobs[t] = policy.log_prob(chosen)[:args.num_envs]
            chosen = chosen.cpu().numpy()
            next_obs, reward, terminated, truncated, info = train.step(chosen[:args.num_envs])
            test_obs, *_, test_info = test.step(chosen[args.num_envs:])
            for each, returns in zip((info, test_info), episodes, strict=True):
                if "_episode" in each:
                    returns.extend(each["episode"]["r"][each["_episode"]].tolist())
            over = terminated | truncated
            rewards[t], ends[t] = torch.from_numpy(scale(reward, over)), torch.from_numpy(over)
            cut = np.flatnonzero(truncated & ~terminated)
            if len(cut):
                # a time limit is not a real end: add the value of the last observation
                beyond = shrink(np.stack(info["final_obs"][cut]), args)
                with torch.no_grad():
                    rewards[t, cut] += args.gamma * agent(beyond)[1]
            following = shrink(np.concatenate([next_obs, test_obs]), args)
        with torch.no_grad():
            coming = agent(following[:args.num_envs])[1]
        advantages, last = torch.zeros_like(rewards), torch.zeros_like(coming)
        for t in reversed(range(args.num_steps)):
            going = 1 - ends[t]
            delta = rewards[t] + args.gamma * coming * going - values[t]
            advantages[t] = last = delta + args.gamma * args.gae_lambda * going * last
            coming = values[t]
        improve(args, agent, optimizer, [part.flatten(0, 1) for part in (
            obs, actions, logprobs, advantages, advantages + values)])
        yield ((update + 1) * rollout_size, time.perf_counter() - began,
               *(np.mean(returns) if returns else float("nan") for returns in episodes))
    train.close()
    test.close()


def improve(args, agent, optimizer, batch):
    for _ in range(args.update_epochs):
        for rows in torch.randperm(len(batch[0]), device=batch[0].device).chunk(args.num_minibatches):
            obs, actions, logprobs, advantages, returns = (part[rows] for part in batch)
            policy, value = agent(obs)
            ratio = (policy.log_prob(actions) - logprobs).exp()
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            gain = torch.min(advantages * ratio, advantages * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
            loss = 0.5 * (value - returns).square().mean() - gain - args.entropy * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def draw(rows, args):
    """Plots the returns in both pools over steps."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(6, 4))
    steps, _, trained, tested = zip(*rows, strict=True)
    axis.plot(steps, trained, label=f"{args.num_levels or 'all'} training levels")
    axis.plot(steps, tested, label="all levels, to test")
    axis.set(xlabel="steps", ylabel=f"return in {args.game}, {args.distribution_mode}: mean of 100 episodes")
    axis.legend()
    figure.tight_layout()
    figure.savefig(Path(args.csv).with_suffix(".png"), dpi=100)


def main():
    args = parse_args()
    torch.set_num_threads(args.torch_threads)
    rows = []
    with open(args.csv, "w", newline="") as file:
        file.write(f"# {' '.join(['python', *sys.argv])}\n# {platform.platform()}, python {platform.python_version()}, "
                   f"cypool {cypool.__version__}, numpy {np.__version__}, torch {torch.__version__}\n")
        table = csv.writer(file)
        table.writerow(["step", "seconds", "train", "test"])
        for step, seconds, trained, tested in learn(args):
            rows.append((step, seconds, trained, tested))
            table.writerow([step, f"{seconds:.1f}", f"{trained:.3f}", f"{tested:.3f}"])
            file.flush()
            print(f"step {step:,} of {args.total_timesteps:,}: return {trained:.2f}, on all levels {tested:.2f}, "
                  f"{step / seconds:,.0f} steps/s", flush=True)
            if seconds > args.max_seconds:
                break
    draw(rows, args)


if __name__ == "__main__":
    main()
