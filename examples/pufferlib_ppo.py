r"""PPO with PufferLib's trainer, PuffeRL, on CPUs: environments write directly to its buffers.

    python examples/pufferlib_ppo.py
    python examples/pufferlib_ppo.py --env-id Pong-v5 --image-size 42 --num-envs 16 --num-steps 64 --num-minibatches 8 \
        --update-epochs 4 --learning-rate 7e-4 --gamma 0.99 --entropy 0.01 --total-timesteps 600000

docs/how_to/training_libraries.md explains how to install PufferLib. Importing it creates a link named "resources" in
the current folder.
"""
import argparse
import tempfile

import pufferlib.models
import torch
from pufferlib.pufferl import PuffeRL
from pufferlib.pytorch import layer_init
from torch import nn

from cypool.adapters import pufferlib as adapter


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="CartPole-v1")
    parser.add_argument("--image-size", type=int, help="size of Atari images; default: 84")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--total-timesteps", type=int, default=150_000)
    parser.add_argument("--num-steps", type=int, default=32, help="steps per environment between updates")
    parser.add_argument("--update-epochs", type=int, default=8)
    parser.add_argument("--num-minibatches", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--gamma", type=float, default=0.98)
    parser.add_argument("--entropy", type=float, default=0.0)
    parser.add_argument("--stop-at", type=float, default=float("inf"), help="stop at this mean return of 20 episodes")
    return parser.parse_args()


class Images(nn.Module):
    """A small policy for images, which it centers by the mean of the first ones."""

    def __init__(self, env, first_obs):
        super().__init__()
        channels, size, _ = env.single_observation_space.shape
        self.mean, self.std = float(first_obs.mean()), float(first_obs.std())
        parts = []
        for outputs, kernel in ((16, 4), (32, 4), (32, 3)):
            parts += [layer_init(nn.Conv2d(channels, outputs, kernel, 2)), nn.ReLU()]
            channels, size = outputs, (size - kernel) // 2 + 1
        self.body = nn.Sequential(*parts, nn.Flatten(), layer_init(nn.Linear(channels * size**2, 256)), nn.ReLU())
        self.actor = layer_init(nn.Linear(256, env.single_action_space.n), std=0.01)
        self.critic = layer_init(nn.Linear(256, 1), std=1)

    def forward(self, observations, state=None):
        hidden = self.body((observations - self.mean) / self.std)
        return self.actor(hidden), self.critic(hidden)

    forward_eval = forward


class Quiet(PuffeRL):
    """PuffeRL without its dashboard."""

    def print_dashboard(self, *args, **kwargs):
        pass


def main():
    args = parse_args()
    # networks this small gain nothing from a second thread
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    options = {"img_height": args.image_size, "img_width": args.image_size} if args.image_size else {}
    env = adapter.make(args.env_id, num_envs=args.num_envs, **options)
    first_obs, _ = env.reset(seed=args.seed)
    policy = Images(env, first_obs) if first_obs.ndim == 4 else pufferlib.models.Default(env)
    batch_size = env.num_agents * args.num_steps
    with tempfile.TemporaryDirectory() as folder:
        trainer = Quiet({
            "env": args.env_id, "seed": args.seed, "device": "cpu", "torch_deterministic": True, "cpu_offload": False,
            "total_timesteps": args.total_timesteps, "batch_size": batch_size, "bptt_horizon": args.num_steps,
            "minibatch_size": batch_size // args.num_minibatches, "max_minibatch_size": batch_size,
            "update_epochs": args.update_epochs, "compile": False, "use_rnn": False, "precision": "float32",
            "optimizer": "adam", "learning_rate": args.learning_rate, "anneal_lr": False, "adam_beta1": 0.9,
            "adam_beta2": 0.999, "adam_eps": 1e-8, "max_grad_norm": 0.5, "gamma": args.gamma, "gae_lambda": 0.95,
            "clip_coef": 0.2, "vf_coef": 0.5, "vf_clip_coef": 1e9, "ent_coef": args.entropy, "vtrace_rho_clip": 1.0,
            "vtrace_c_clip": 1.0, "prio_alpha": 0.0, "prio_beta0": 1.0, "data_dir": folder,
            "checkpoint_interval": 2**31}, env, policy)
        returns = []
        while trainer.global_step < args.total_timesteps:
            trainer.evaluate()
            returns = (returns + trainer.stats.pop("episode_return", []))[-20:]
            mean = sum(returns) / len(returns) if returns else float("nan")
            print(f"{trainer.global_step:,} steps, {trainer.uptime:.1f} s: mean return {mean:.1f}", flush=True)
            if mean >= args.stop_at:
                break
            trainer.train()
        trainer.close()


if __name__ == "__main__":
    main()
