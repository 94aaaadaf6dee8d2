r"""Compares SB3's DQN with its own replay buffer and with cypool's: returns, times and memory.

    pip install "cypool[sb3]" matplotlib psutil
    python benchmarks/learning_replay.py --total-timesteps 250000

Both learn at the same time, each in a separate process with one thread. Writes a CSV file, whose first lines contain
the command, machine and versions, and next to it a picture of return and memory over steps. With equal seeds, both
learn the same, row for row.
"""
import argparse
import csv
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import psutil

CANDIDATES = "cypool", "sb3"
COLUMNS = "candidate", "step", "seconds", "cpu_seconds", "megabytes", "return"


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="Pong-v5")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--total-timesteps", type=int, default=250_000)
    parser.add_argument("--image-size", type=int, default=42)
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--buffer-size", type=int, default=100_000)
    parser.add_argument("--learning-rate", type=float, default=2.5e-4)
    parser.add_argument("--learning-starts", type=int, default=10_000)
    parser.add_argument("--gradient-steps", type=int, default=4, help="gradient steps per step of all environments")
    parser.add_argument("--target-update-interval", type=int, default=2000)
    parser.add_argument("--exploration-fraction", type=float, default=0.15)
    parser.add_argument("--out", default="learning_replay.csv")
    parser.add_argument("--candidate", choices=CANDIDATES, help="run only this candidate, and print its rows")
    return parser.parse_args()


def learn(args):
    """Prints a row every thousand steps."""
    import torch
    from stable_baselines3 import DQN
    from stable_baselines3.common.callbacks import BaseCallback

    from cypool.adapters import sb3
    from cypool.adapters.sb3_replay import SB3ReplayBuffer

    class Log(BaseCallback):
        """Watches the learning without taking part in it."""

        def _on_training_start(self):
            self.began, self.cpu = time.perf_counter(), time.process_time()

        def _on_step(self):
            if self.num_timesteps % 1000 < self.training_env.num_envs:
                games = [game["r"] for game in self.model.ep_info_buffer][-20:]
                print(args.candidate, self.num_timesteps, f"{time.perf_counter() - self.began:.2f}",
                      f"{time.process_time() - self.cpu:.2f}", f"{psutil.Process().memory_info().rss / 1e6:.1f}",
                      f"{np.mean(games) if games else float('nan'):.3f}", sep=",", flush=True)
            return True

    torch.set_num_threads(1)
    env = sb3.make(args.env_id, num_envs=args.num_envs, num_threads=1, img_height=args.image_size,
                   img_width=args.image_size, reward_clip=True)
    own = {"replay_buffer_class": SB3ReplayBuffer, "replay_buffer_kwargs": {"env": env}}
    model = DQN("CnnPolicy", env, seed=args.seed, buffer_size=args.buffer_size, learning_rate=args.learning_rate,
                learning_starts=args.learning_starts, train_freq=1, gradient_steps=args.gradient_steps,
                target_update_interval=args.target_update_interval, exploration_fraction=args.exploration_fraction,
                exploration_final_eps=0.01, device="cpu", **(own if args.candidate == "cypool" else {}))
    model.learn(args.total_timesteps, Log())


def draw(rows, args):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4))
    for candidate, style in zip(CANDIDATES, ("-", "--"), strict=True):
        own = [row for row in rows if row["candidate"] == candidate]
        for axis, column, scale in zip(axes, ("return", "megabytes"), (1, 1e-3), strict=True):
            axis.plot([int(row["step"]) for row in own], [float(row[column]) * scale for row in own], style,
                      label=f"DQN with the buffer of {candidate}")
    axes[0].set(xlabel="steps", ylabel=f"return in {args.env_id}")
    axes[1].set(xlabel="steps", ylabel="GB of the process", ylim=(0, None))
    axes[1].legend()
    figure.tight_layout()
    figure.savefig(Path(args.out).with_suffix(".png"), dpi=100)


def main():
    args = parse_args()
    if args.candidate:
        learn(args)
        return
    command = [sys.executable, __file__, *sys.argv[1:], "--candidate"]
    learners = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in CANDIDATES]
    rows = []
    for learner in learners:
        lines, _ = learner.communicate()
        if learner.returncode:
            sys.exit(learner.returncode)
        rows += csv.DictReader(lines.splitlines(), COLUMNS)
    machine = f"{platform.platform()}, {platform.machine()}, python {platform.python_version()}, " + ", ".join(
        f"{name} {version(name)}" for name in ("cypool", "stable-baselines3", "numpy", "torch"))
    with open(args.out, "w", newline="") as file:
        file.write(f"# {' '.join(['python', *sys.argv])}\n# {machine}\n")
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)
    for candidate in CANDIDATES:
        last = [row for row in rows if row["candidate"] == candidate][-1]
        print(f"{candidate}: return {last['return']} after {last['step']} steps, {last['seconds']} s, "
              f"{last['cpu_seconds']} s of CPU, {last['megabytes']} MB")
    draw(rows, args)


if __name__ == "__main__":
    main()
