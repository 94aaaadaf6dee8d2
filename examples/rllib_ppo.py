"""PPO with RLlib: each environment runner steps a pool.

    pip install "ray[rllib]" torch, then
    python examples/rllib_ppo.py
    python examples/rllib_ppo.py --env-id HalfCheetah-v5 --num-env-runners 2 --total-timesteps 1000000
"""
import argparse

import torch
from ray.rllib.algorithms.ppo import PPOConfig

from cypool.adapters import rllib


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="CartPole-v1")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num-env-runners", type=int, default=0, help="processes, each with a pool; 0: this process")
    parser.add_argument("--num-envs", type=int, default=64, help="environments per environment runner")
    parser.add_argument("--total-timesteps", type=int, default=100_000)
    parser.add_argument("--batch-size", type=int, default=4096)
    return parser.parse_args()


def main():
    args = parse_args()
    # networks this small gain nothing from a second thread
    torch.set_num_threads(1)
    rllib.register()
    config = (
        PPOConfig()
        .environment("cypool", env_config={"id": args.env_id, "num_threads": 1})
        .env_runners(env_runner_cls=rllib.PoolEnvRunner, gym_env_vectorize_mode="vector_entry_point",
                     num_env_runners=args.num_env_runners, num_envs_per_env_runner=args.num_envs)
        .training(train_batch_size_per_learner=args.batch_size, minibatch_size=256, num_epochs=8, lr=1e-3, gamma=0.98)
        .debugging(seed=args.seed, log_level="ERROR"))
    algorithm = config.build_algo()
    steps = 0
    while steps < args.total_timesteps:
        results = algorithm.train()["env_runners"]
        steps = results["num_env_steps_sampled_lifetime"]
        # no episode may have ended yet
        print(f"{steps:,.0f} steps: mean return {results.get('episode_return_mean', float('nan')):.1f}")
    algorithm.stop()


if __name__ == "__main__":
    main()
