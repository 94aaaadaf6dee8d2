"""Plans in NetHack: tries keys from a saved state to descend the dungeon, compared with random actions.

    cypool get nethack
    python examples/nethack_search.py --seconds 60

The task is `NetHackScout-v0`, which rewards each cell seen for the first time. From the game's current state, `search`
plays many sequences of keys: running in a direction, going down, searching, kicking. The value of a sequence is the
number of new cells, plus a bonus for each level further down, minus a penalty for dying. The first half of the best
sequence is then played in the game, and the next plan begins there. A saved state is a copy of the game's memory, so
the search foresees everything, including monsters and random events.
"""
import argparse
import time

import numpy as np

import cypool
from cypool.envs.nethack.actions import OF_TASKS

KEYS = ("glyphs", "blstats")
RUNS = [OF_TASKS.index(name) for name in OF_TASKS if name.startswith("far_")]
STEPS = [OF_TASKS.index(name) for name in ("north", "east", "south", "west", "northeast", "southwest")]
DOWN, SEARCH, KICK, MORE = (OF_TASKS.index(name) for name in ("down", "search", "kick", "more"))
HEALTH, DEPTH = 10, 12  # in blstats
BONUS, LOSS = 300, 1000


def candidates(count, horizon, chance):
    """Returns sequences of actions: mostly runs, often followed by going down, which takes no time where it fails."""
    moves = chance.choice(RUNS * 6 + STEPS * 2 + [SEARCH, KICK, MORE], size=(count, horizon))
    moves[:, 1::2] = np.where(chance.random(moves[:, 1::2].shape) < 0.6, DOWN, moves[:, 1::2])
    return moves


def values_of(futures, depth):
    """Returns the values of sequences."""
    blstats = futures.obs["blstats"]
    over = futures.terminated | futures.truncated
    # the last screen of a game is empty
    deeper = np.where(over, 0, blstats[:, DEPTH] - depth)
    return futures.reward + BONUS * deeper - LOSS * over


def play(seconds, count, horizon, seed):
    """Plays one game by planning; returns its results, and the number of planned steps."""
    chance = np.random.default_rng(seed)
    env = cypool.make("NetHackScout-v0", num_envs=1, num_threads=0, seed=seed, observation_keys=KEYS,
                      autoreset_mode="Disabled")
    planner = cypool.make("NetHackScout-v0", num_envs=16, observation_keys=KEYS, autoreset_mode="Disabled")
    obs, _ = env.reset()
    depth, steps, planned, begin, score = 1, 0, 0, time.monotonic(), 0.0
    while time.monotonic() - begin < seconds:
        sequences = candidates(count, horizon, chance)
        values = values_of(planner.search(env.save(), sequences), depth)
        planned += sequences.size
        best = sequences[values.argmax()]
        for action in best[:horizon // 2]:
            obs, reward, terminated, truncated, _ = env.step([action])
            steps += 1
            score += float(reward[0])
            if terminated[0] or truncated[0]:
                return depth, score, steps, planned
        if obs["blstats"][0, DEPTH] > depth:
            depth = int(obs["blstats"][0, DEPTH])
            print(f"{time.monotonic() - begin:5.1f} s: level {depth} after {steps} steps, "
                  f"{int(obs['blstats'][0, HEALTH])} hit points", flush=True)
    return depth, score, steps, planned


def play_at_random(games, num_steps, horizon, seed):
    """Returns the deepest level reached in each of several games with random actions of the same kind."""
    chance = np.random.default_rng(seed)
    env = cypool.make("NetHackScout-v0", num_envs=games, seed=seed, observation_keys=KEYS)
    obs, _ = env.reset()
    deepest, over = obs["blstats"][:, DEPTH].copy(), np.zeros(games, bool)
    for _ in range(-(-num_steps // horizon)):
        for actions in candidates(games, horizon, chance).T:
            obs, _, terminated, truncated, _ = env.step(actions)
            over |= terminated | truncated
            deepest = np.where(over, deepest, np.maximum(deepest, obs["blstats"][:, DEPTH]))
    return deepest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--sequences", type=int, default=128, help="sequences per plan")
    parser.add_argument("--horizon", type=int, default=16, help="keys per sequence")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", type=int, default=20, help="games with random actions, for comparison")
    args = parser.parse_args()
    depth, score, steps, planned = play(args.seconds, args.sequences, args.horizon, args.seed)
    print(f"planning: level {depth}, {score:.0f} points in {steps} steps, {planned} planned")
    if args.games:
        deepest = play_at_random(args.games, max(steps, args.horizon), args.horizon, args.seed)
        print(f"random: level {deepest.mean():.2f} on average, {deepest.max()} at most, {args.games} games of as many "
              "steps")


if __name__ == "__main__":
    main()
