"""Compares Procgen with procgen's own Python, all 50 pairs of game and mode, and plays random levels.

    python tests/sweeps/sweep_procgen.py                           # ten minutes
    python tests/sweeps/sweep_procgen.py coinrun maze --steps 300 --levels 200

The first part steps a batch of `ProcgenGym3Env` next to a pool with `batch_seeds`, in autoreset mode SameStep:
pictures, rewards, ends and infos. It needs procgen's Python files, which run on any Python with NumPy. Unpack the
wheel, `pip install --no-deps gym3==0.3.3 gym==0.26.2 cffi pycparser filelock gym_notices glfw moderngl`, put the
folder on PYTHONPATH, and name it as CYPOOL_PROCGEN. Without them, this part is left out. The second part begins random
levels, each with two steps, and looks whether the library prints something. Ends with 1 if there is a difference, or a
line.
"""
import argparse
import os
import sys
import tempfile
import time

import numpy as np

import cypool
from cypool.envs.procgen.games import GAMES, MAX_LEVEL
from cypool.envs.procgen.levels import play_level

try:
    from procgen import ProcgenGym3Env
except ImportError as error:
    print(f"without procgen's Python: {error}")
    ProcgenGym3Env = None

NUM_ENVS = 6


def compare(game, mode, num_steps, seed):
    """Returns how many arrays were compared, how many of them differ, and how many episodes ended."""
    theirs = ProcgenGym3Env(num=NUM_ENVS, env_name=game, distribution_mode=mode, rand_seed=seed, num_threads=0)
    ours = cypool.make(f"procgen-{game}-v0", num_envs=NUM_ENVS, num_threads=2, seed=seed, distribution_mode=mode,
                       batch_seeds=True, autoreset_mode="SameStep")
    random, held = np.random.default_rng(seed), np.full(NUM_ENVS, 4)
    compared = differ = ended = 0
    obs, info = ours.reset()
    reward, first = np.zeros(NUM_ENVS), np.ones(NUM_ENVS, bool)
    for _ in range(num_steps):
        their_reward, their_obs, their_first = theirs.observe()
        their_info = theirs.get_info()
        pairs = [(obs, their_obs["rgb"]), (reward.astype(np.float32), their_reward), (first, their_first)]
        pairs += [(info[name], np.array([each[name] for each in their_info])) for name in their_info[0]]
        differ += sum(not np.array_equal(*pair) for pair in pairs)
        compared += len(pairs)
        held = np.where(random.random(NUM_ENVS) < 0.3, random.integers(15, size=NUM_ENVS), held)
        theirs.act(held.astype(np.int32))
        obs, reward, terminated, truncated, info = ours.step(held)
        first = terminated | truncated
        ended += int(first.sum())
    theirs.close()
    ours.close()
    return compared, differ, ended


def play(game, mode, num_levels, seed):
    """Begins random levels, with a few steps in each."""
    random = np.random.default_rng(seed)
    with cypool.make(f"procgen-{game}-v0", num_envs=20, num_threads=2, seed=seed, distribution_mode=mode) as env:
        env.reset()
        for _ in range(-(-num_levels // 20)):
            play_level(env, random.integers(MAX_LEVEL, size=20).tolist())
            for action in random.integers(15, size=(2, 20)):
                env.step(action)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", default=list(GAMES))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--levels", type=int, default=2000, help="of each pair")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    total, levels, printed, began = np.zeros(3, int), 0, b"", time.monotonic()
    for game in arguments.games:
        for mode in GAMES[game].modes:
            if ProcgenGym3Env is not None:
                counts = compare(game, mode, arguments.steps, arguments.seed)
                total += counts
                print(f"{game} {mode}: {counts[0]:,} arrays, {counts[1]} differ, {counts[2]} episodes", flush=True)
            sys.stdout.flush()
            kept = os.dup(1), os.dup(2)
            with tempfile.TemporaryFile() as file:
                for number in (1, 2):
                    os.dup2(file.fileno(), number)
                try:
                    play(game, mode, arguments.levels, arguments.seed)
                finally:
                    for number, old in zip((1, 2), kept, strict=True):
                        os.dup2(old, number)
                        os.close(old)
                file.seek(0)
                printed += file.read()
            levels += -(-arguments.levels // 20) * 20
    print(f"{total[0]:,} arrays, {total[1]} differ, {total[2]:,} episodes; {levels:,} levels, {len(printed)} bytes "
          f"printed, in {time.monotonic() - began:.0f} s")
    sys.exit(bool(total[1] or printed))


if __name__ == "__main__":
    main()
