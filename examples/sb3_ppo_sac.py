"""PPO or SAC with Stable-Baselines3.

    pip install stable-baselines3, then
    python examples/sb3_ppo_sac.py --algorithm ppo --env-id Pong-v5
    python examples/sb3_ppo_sac.py --algorithm sac --env-id HalfCheetah-v5 --num-envs 4
"""
import argparse

from stable_baselines3 import PPO, SAC
from stable_baselines3.common.evaluation import evaluate_policy

import cypool
from cypool.adapters import sb3


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", choices=["ppo", "sac"], default="ppo")
    parser.add_argument("--env-id", default="Pong-v5")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--total-timesteps", type=int, default=10_000_000)
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--num-games", type=int, default=10, help="games for the final evaluation")
    return parser.parse_args()


def main():
    args = parse_args()
    is_atari = "lives" in cypool.make_spec(args.env_id).info
    env = sb3.make(args.env_id, num_envs=args.num_envs, seed=args.seed, **({"reward_clip": True} if is_atari else {}))
    common = {"seed": args.seed, "device": args.device, "verbose": 1}
    if args.algorithm == "sac":
        # the same number of gradient steps as environment steps
        agent = SAC("MlpPolicy", env, gradient_steps=-1, **common)
    elif is_atari:
        # as in SB3's zoo
        agent = PPO("CnnPolicy", env, n_steps=128, batch_size=256, n_epochs=4, learning_rate=2.5e-4, clip_range=0.1,
                    ent_coef=0.01, vf_coef=0.5, **common)
    else:
        agent = PPO("MlpPolicy", env, **common)
    agent.learn(args.total_timesteps)
    test = sb3.make(args.env_id, num_envs=args.num_envs, seed=args.seed + args.num_envs)
    mean, std = evaluate_policy(agent, test, n_eval_episodes=args.num_games)
    print(f"return of {args.num_games} games: {mean:.2f} +- {std:.2f}")


if __name__ == "__main__":
    main()
