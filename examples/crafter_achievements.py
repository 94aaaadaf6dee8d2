"""Prints the success rates of Crafter's 22 achievements and the score, as reported in papers.

    python examples/crafter_achievements.py                                   # random actions, a million steps
    python examples/crafter_achievements.py --policy module:function --obs-type rgb

A success rate is the percentage of episodes in which the achievement is unlocked. To compute the score, add 1 to each
rate, take the geometric mean, and subtract 1 (arXiv:2109.06780). With 1 M steps, the paper's random agent has a score
of 1.6 and a return of 2.1.

Needs `pip install "cypool[crafter]"`.
"""
import argparse
import pkgutil

import numpy as np

import cypool
from cypool.envs.crafter.assets import ACHIEVEMENTS


def play(policy, num_steps, num_envs, obs_type, seed):
    """Plays episodes.

    Args:
        policy: A function that maps a batch of observations to actions; None: random actions.
        num_steps: Total number of steps in all environments.
        num_envs, obs_type, seed: Arguments for the pool.

    Returns:
        Whether each episode unlocked each achievement, (episodes, 22), and the episodes' returns.
    """
    unlocked, returns = [], []
    with cypool.make("CrafterReward-v1", num_envs=num_envs, seed=seed, obs_type=obs_type, semantic=False,
                     episode_statistics=True) as env:
        env.action_space.seed(seed)
        obs, _ = env.reset()
        for _ in range(num_steps // num_envs):
            actions = env.action_space.sample() if policy is None else policy(obs)
            obs, _, terminated, truncated, info = env.step(actions)
            over = terminated | truncated
            if over.any():
                unlocked.append(info["achievements"][over] > 0)
                returns.append(info["episode"]["r"][over])
    return np.concatenate(unlocked), np.concatenate(returns)


def score_of(rates):
    """Returns the geometric mean of percentages, as defined in the paper."""
    return np.exp(np.log(1 + rates).mean()) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--policy", help="module:function that maps observations to actions; default: random")
    parser.add_argument("--obs-type", default="semantic", help="observation type: rgb, semantic or symbolic")
    parser.add_argument("--num-steps", type=int, default=1_000_000)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    policy = pkgutil.resolve_name(arguments.policy) if arguments.policy else None
    unlocked, returns = play(policy, arguments.num_steps, arguments.num_envs, arguments.obs_type, arguments.seed)
    rates = 100 * unlocked.mean(axis=0)
    for name, rate in zip(ACHIEVEMENTS, rates, strict=True):
        print(f"{name.replace('_', ' '):20} {rate:6.2f} %")
    print(f"{'score':20} {score_of(rates):6.2f}")
    print(f"{'return':20} {returns.mean():6.2f} +- {returns.std():.2f}, {len(returns):,} episodes")


if __name__ == "__main__":
    main()
