"""Compares Box2D's environments with the installed Gymnasium, byte for byte.

Random play, and play that lands, walks and follows the track; observations, rewards, ends, infos and random streams,
and pictures of `render()`. `--num-steps` is for each setting and seed; CarRacing gets a quarter of it.
"""
import warnings
from collections import Counter
from functools import partial

import gymnasium
import numpy as np
from family_tests import playing
from sweeping import Run, chosen, parity

import cypool

# of the modules that SWIG made
with warnings.catch_warnings(action="ignore"):
    from gymnasium.envs.box2d.bipedal_walker import BipedalWalkerHeuristics
    from gymnasium.envs.box2d.lunar_lander import heuristic

DEFAULTS = {"num_steps": 2500}


def lands(env, obs):
    return heuristic(env, obs)


def walks(env, obs):
    if env._elapsed_steps == 0:
        # they remember
        env.heuristics = BipedalWalkerHeuristics()
    return env.heuristics.step_heuristic(obs)


def follows_track(env, obs):
    """Steers towards the track ahead."""
    env = env.unwrapped
    hull, nodes = env.car.hull, np.array([node[2:4] for node in env.track])
    place = np.array(hull.position)
    ahead = nodes[(np.argmin(((nodes - place) ** 2).sum(1)) + 4) % len(nodes)] - place
    forward, speed = hull.GetWorldVector((0, 1)), np.hypot(*hull.linearVelocity)
    turn = forward[0] * ahead[1] - forward[1] * ahead[0]
    action = [np.clip(-turn / 6, -1, 1), 0.25 if speed < 35 else 0, 0.3 if speed > 45 else 0]
    if env.continuous:
        return action
    return 1 if action[0] > 0.3 else 2 if action[0] < -0.3 else 3 if speed < 35 else 4


def straight_on(env, obs):
    return [0, 0.5, 0]


CASES = [
    *[(id, play, options) for id in ("LunarLander-v3", "LunarLanderContinuous-v3") for play in (None, lands)
      for options in ({}, {"enable_wind": True, "gravity": -7.0},
                      {"enable_wind": True, "wind_power": 19.0, "turbulence_power": 1.9})],
    ("LunarLanderContinuous-v3", lands, {"action_dtype": "float64"}),
    *[(id, play, {}) for id in ("BipedalWalker-v3", "BipedalWalkerHardcore-v3") for play in (None, walks)],
    ("BipedalWalker-v3", walks, {"action_dtype": "float64"}),
    ("BipedalWalkerHardcore-v3", None, {"action_dtype": "float64"}),
    ("CarRacing-v3", None, {}),
    ("CarRacing-v3", follows_track, {}),
    ("CarRacing-v3", follows_track, {"domain_randomize": True, "action_dtype": "float64"}),
    ("CarRacing-v3", follows_track, {"continuous": False}),
    ("CarRacing-v3", None, {"continuous": False, "domain_randomize": True}),
    ("CarRacing-v3", straight_on, {"lap_complete_percent": 0.5}),
]


def compare(id, play, **options):
    """Returns the counts of `parity`; `play` takes an environment of Gymnasium and what it saw; None: random play."""
    def choose(batch, sampled):
        if play is None:
            return sampled
        seen = zip(batch.envs, batch._env_obs, strict=True)
        # from float64, for actions of that
        return np.array([play(env, obs.astype(np.float64)) for env, obs in seen]).astype(sampled.dtype)

    with playing(choose):
        return parity(id, num_threads=0, autoreset_mode="Disabled", **options)


def compare_pictures(id, seed, num_steps, every=1):
    """Compares the pictures of random play in one environment; returns their count."""
    theirs = gymnasium.make(id, disable_env_checker=True, render_mode="rgb_array")
    theirs.reset(seed=seed)
    with cypool.make(id, num_envs=1, num_threads=0, seed=seed, autoreset_mode="Disabled") as ours:
        ours.reset()
        ours.action_space.seed(seed)
        for step in range(num_steps):
            if step % every == 0:
                np.testing.assert_array_equal(ours.render()[0], theirs.render(), f"{id}, seed {seed}, step {step}")
            action = ours.action_space.sample()
            _, _, terminated, truncated, _ = ours.step(action)
            theirs.step(action[0])
            if terminated[0] or truncated[0]:
                ours.reset()
                theirs.reset()
    return Counter(pictures=len(range(0, num_steps, every)))


def runs(arguments):
    steps, seeds = arguments.num_steps, arguments.seeds
    ids = chosen(dict.fromkeys(id for id, *_ in CASES), arguments.patterns)
    for id, play, options in CASES:
        if id in ids:
            yield Run(id, f"{play.__name__ if play else 'random'} {options} {seeds}", partial(
                compare, id, play, num_envs=4, num_steps=steps // 4 if id.startswith("CarRacing") else steps,
                seeds=seeds, **options))
    for id in ids:
        for seed in seeds:
            yield Run(id, f"pictures {seed}", partial(compare_pictures, id, seed, steps // 5))
