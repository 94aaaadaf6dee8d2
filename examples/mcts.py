"""Monte Carlo tree search: plays without any training, and is compared with random actions.

    pip install "cypool[atari]"
    python examples/mcts.py --env-id Taxi-v4
    python examples/mcts.py --env-id Boxing-v5 --num-steps 100 --horizon 20 --hold 2 --rounds 2

With --film boxing.gif, it writes a video instead; this also needs cypool[video].

A node of the tree is a sequence of actions from the game's current state. In each round, the search descends the tree
many times using upper confidence bounds, adds a node each time, and continues with random actions. `search` plays all
these sequences at once, each in one of the planner's environments. Copies are exact, so the best sequence gives the
same result in the game, and the next tree begins with it. (Kocsis and Szepesvari, 2006: Bandit based Monte-Carlo
planning.)
"""
import argparse
import time

import numpy as np

import cypool


class Node:
    """A sequence of actions: how often it was continued, and the sum of the returns."""

    def __init__(self):
        self.children = {}
        self.visits, self.total = 0, 0.0


def descend(root, num_actions, horizon, scale, exploration, rng):
    """Returns the path to a new node, and its actions; counts the visit, so that the next path differs."""
    path, actions = [root], []
    while len(actions) < horizon:
        node = path[-1]
        fresh = [a for a in range(num_actions) if a not in node.children]
        if fresh:
            actions.append(int(rng.choice(fresh)))
            path.append(node.children.setdefault(actions[-1], Node()))
            break
        action = max(node.children, key=lambda a: node.children[a].total / node.children[a].visits
                     + exploration * scale * np.sqrt(np.log(node.visits) / node.children[a].visits))
        actions.append(action)
        path.append(node.children[action])
    for node in path:
        node.visits += 1
    return path, actions


def plan(planner, state, best, args, rng):
    """Returns the best sequence of actions from a state: the previous best, or a better one found in the tree."""
    num_actions, count = planner.single_action_space.n, planner.num_envs
    root, best_return, scale = Node(), -np.inf, 1.0
    for _ in range(args.rounds):
        sequences = np.repeat(rng.integers(0, num_actions, (count, -(-args.horizon // args.hold))), args.hold, axis=1)
        sequences = sequences[:, :args.horizon]
        paths = []
        for k in range(1, count):
            path, actions = descend(root, num_actions, args.horizon, scale, args.exploration, rng)
            paths.append(path)
            sequences[k, :len(actions)] = actions
        # the previous plan, with new actions at its end
        sequences[0, :len(best)] = best
        futures = planner.search(state, sequences)
        # among equal returns, prefer the sequence that ends sooner
        returns = futures.reward - 1e-3 * futures.length
        for path, value in zip(paths, returns[1:], strict=True):
            for node in path:
                node.total += value
        scale = max(scale, returns.max() - returns.min())
        if returns.max() > best_return:
            best_return, best = returns.max(), sequences[returns.argmax()]
    return best


def play(args, choose):
    """Plays until the episode ends, or for a number of steps; returns the sum of rewards and the number of steps."""
    env = cypool.make(args.env_id, seed=args.seed, **args.options)
    env.reset()
    total, steps, over = 0.0, 0, False
    while steps < args.num_steps and not over:
        _, reward, terminated, truncated, _ = env.step([choose(env)])
        total, steps, over = total + float(reward[0]), steps + 1, terminated[0] or truncated[0]
    return total, steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env-id", default="Taxi-v4")
    parser.add_argument("--num-steps", type=int, default=200, help="maximum number of steps")
    parser.add_argument("--num-envs", type=int, default=64, help="sequences played at once")
    parser.add_argument("--rounds", type=int, default=16, help="search rounds before each step")
    parser.add_argument("--horizon", type=int, default=30, help="actions in a sequence")
    parser.add_argument("--hold", type=int, default=1, help="how often a random action is repeated")
    parser.add_argument("--exploration", type=float, default=0.7, help="exploration, in units of the range of returns")
    parser.add_argument("--num-random", type=int, default=20, help="games with random actions, for comparison")
    parser.add_argument("--num-threads", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--film", help="video file to write, such as boxing.gif")
    args = parser.parse_args()

    # for Atari: unclipped rewards, and observations that are fast to compute
    is_atari = "full_action_space" in cypool.make_spec(args.env_id).options
    args.options = {"obs_type": "ram", "stack_num": 1, "reward_clip": False, "noop_max": 0} if is_atari else {}
    planner = cypool.make(args.env_id, num_envs=args.num_envs, num_threads=args.num_threads,
                          autoreset_mode="Disabled", **args.options)
    rng, num_actions = np.random.default_rng(args.seed), planner.single_action_space.n
    rest = np.zeros(0, int)

    def choose(env):
        nonlocal rest
        best = plan(planner, env.save(), rest, args, rng)
        rest = best[1:]
        return best[0]

    if args.film:
        env = cypool.make(args.env_id, seed=args.seed, **args.options)
        rewards = cypool.record(env, args.film, actions=lambda _: [choose(env)], num_steps=args.num_steps)
        print(f"{args.film}: return {rewards.sum():g} in {args.num_steps} steps")
        return
    begun = time.perf_counter()
    total, steps = play(args, choose)
    seconds = time.perf_counter() - begun
    by_chance = [play(args, lambda _: rng.integers(num_actions))[0] for _ in range(args.num_random)]
    print(f"{args.env_id}: return {total:g} in {steps} steps, {seconds:.0f} s; random actions have "
          f"{np.mean(by_chance):.1f} on average, {max(by_chance):g} at best")


if __name__ == "__main__":
    main()
