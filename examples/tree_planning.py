"""Plans in CartPole without learning: compares trees with random sequences, for about the same number of steps.

    python examples/tree_planning.py

A tree search runs before each step, and values positions by the returns of random games. CartPole's reward is 1 per
step, so the mean return of the simulations is also their mean number of steps. The sequences are tried by
`pool.search`, and the first action of the best one is taken.
"""
import argparse

import numpy as np

import cypool


def play(args, seed, choose):
    """Plays an episode; returns its return, and the mean number of planning steps before each of its steps."""
    env = cypool.make("CartPole-v1", seed=seed, autoreset_mode="Disabled", max_episode_steps=args.num_steps)
    env.reset()
    planner, planned, total = choose(args, env, seed), 0.0, 0
    while True:
        action, steps = planner()
        planned, total = planned + steps, total + 1
        _, _, terminated, truncated, _ = env.step([action])
        if terminated[0] or truncated[0]:
            return total, planned / total


def with_trees(args, env, seed):
    search = cypool.TreeSearch(env, simulations=args.simulations, seed=seed)

    def plan():
        result = search.run("rollout")
        return result.action[0], (args.simulations + 1) * result.value[0]

    return plan


def with_sequences(args, env, seed):
    planner = cypool.make("CartPole-v1", num_envs=args.sequences, autoreset_mode="Disabled",
                          max_episode_steps=args.num_steps)
    rng = np.random.default_rng(seed)

    def plan():
        sequences = rng.integers(0, 2, (args.sequences, args.horizon))
        futures = planner.search(env.save(), sequences)
        return sequences[futures.reward.argmax(), 0], futures.length.sum()

    return plan


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--num-steps", type=int, default=500, help="maximum steps per episode")
    parser.add_argument("--simulations", type=int, default=32, help="simulations per tree")
    parser.add_argument("--sequences", type=int, default=48)
    parser.add_argument("--horizon", type=int, default=30, help="actions in a sequence")
    args = parser.parse_args()
    for name, choose in (("trees", with_trees), ("sequences", with_sequences)):
        returns, steps = zip(*(play(args, seed, choose) for seed in range(args.seeds)), strict=True)
        print(f"{name}: returns {', '.join(map(str, returns))}; {np.mean(steps):.0f} steps before each step")


if __name__ == "__main__":
    main()
