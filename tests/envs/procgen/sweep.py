"""Compares Procgen with procgen's own Python, all 50 pairs of game and mode, and plays random levels.

The first part steps a batch of `ProcgenGym3Env` next to a pool with `batch_seeds`, in autoreset mode SameStep:
pictures, rewards, ends and infos. It needs procgen's Python files, which run on any Python with NumPy. Unpack the
wheel, `pip install --no-deps gym3==0.3.3 gym==0.26.2 cffi pycparser filelock gym_notices glfw moderngl`, put the
folder on PYTHONPATH, and name it as CYPOOL_PROCGEN. Without them, this part is left out. The second part begins random
levels, each with two steps, and looks whether the library prints something: that is a difference, too. Ten minutes.
"""
from collections import Counter
from functools import partial

import numpy as np
from sweeping import Run, chosen

import cypool
from cypool.envs.procgen.games import GAMES, MAX_LEVEL
from cypool.envs.procgen.levels import play_level

try:
    from procgen import ProcgenGym3Env
except ImportError as error:
    print(f"without procgen's Python: {error}")
    ProcgenGym3Env = None

NUM_ENVS = 6
IS_QUIET = True
DEFAULTS = {}


def add_arguments(parser):
    parser.add_argument("--levels", type=int, default=2000, help="of each pair")


def compare(game, mode, num_steps, seed):
    """Returns counts of the comparisons; raises AssertionError where an array differs."""
    theirs = ProcgenGym3Env(num=NUM_ENVS, env_name=game, distribution_mode=mode, rand_seed=seed, num_threads=0)
    ours = cypool.make(f"procgen-{game}-v0", num_envs=NUM_ENVS, num_threads=2, seed=seed, distribution_mode=mode,
                       batch_seeds=True, autoreset_mode="SameStep")
    random, held = np.random.default_rng(seed), np.full(NUM_ENVS, 4)
    compared = ended = 0
    obs, info = ours.reset()
    reward, first = np.zeros(NUM_ENVS), np.ones(NUM_ENVS, bool)
    for step in range(num_steps):
        their_reward, their_obs, their_first = theirs.observe()
        their_info = theirs.get_info()
        pairs = {"observation": (obs, their_obs["rgb"]), "reward": (reward.astype(np.float32), their_reward),
                 "first": (first, their_first)}
        pairs |= {name: (info[name], np.array([each[name] for each in their_info])) for name in their_info[0]}
        for name, pair in pairs.items():
            assert np.array_equal(*pair), f"{name} at step {step}"
        compared += len(pairs)
        held = np.where(random.random(NUM_ENVS) < 0.3, random.integers(15, size=NUM_ENVS), held)
        theirs.act(held.astype(np.int32))
        obs, reward, terminated, truncated, info = ours.step(held)
        first = terminated | truncated
        ended += int(first.sum())
    theirs.close()
    ours.close()
    return Counter(arrays=compared, episodes=ended)


def play(game, mode, num_levels, seed):
    """Begins random levels, with a few steps in each."""
    random = np.random.default_rng(seed)
    with cypool.make(f"procgen-{game}-v0", num_envs=20, num_threads=2, seed=seed, distribution_mode=mode) as env:
        env.reset()
        for _ in range(-(-num_levels // 20)):
            play_level(env, random.integers(MAX_LEVEL, size=20).tolist())
            for action in random.integers(15, size=(2, 20)):
                env.step(action)
    return Counter(levels=-(-num_levels // 20) * 20)


def runs(arguments):
    for game in chosen(GAMES, arguments.patterns):
        for mode in GAMES[game].modes:
            for seed in arguments.seeds:
                if ProcgenGym3Env is not None:
                    yield Run(game, f"{mode}, seed {seed}", partial(compare, game, mode, arguments.num_steps, seed))
                yield Run(game, f"{mode}, levels of seed {seed}", partial(play, game, mode, arguments.levels, seed))
