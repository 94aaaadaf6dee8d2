"""Compares Box2D's environments with the installed Gymnasium, byte for byte.

Random play, and play that lands, walks and follows the track, in single environments of Gymnasium next to a pool;
observations, rewards, ends, infos and random streams, and pictures of `render()`. `--num-steps` is for each setting
and seed; CarRacing gets a quarter of it.
"""
import warnings
from collections import Counter
from functools import partial

import numpy as np
from sweeping import Run, chosen

import cypool

DEFAULTS = {"num_steps": 2500, "seeds": [0, 1, 2, 3]}


def lands(theirs, obs, rng):
    from gymnasium.envs.box2d.lunar_lander import heuristic

    action = heuristic(theirs, obs)
    return np.asarray(action, np.float32) if theirs.unwrapped.continuous else int(action)


class Walks:
    """Gymnasium's heuristics, which remember."""

    def __init__(self):
        from gymnasium.envs.box2d.bipedal_walker import BipedalWalkerHeuristics

        self.heuristics = BipedalWalkerHeuristics()

    def __call__(self, theirs, obs, rng):
        return self.heuristics.step_heuristic(obs).astype(np.float32)


def follows_track(theirs, obs, rng):
    """Steers towards the track ahead."""
    env = theirs.unwrapped
    hull, nodes = env.car.hull, np.array([node[2:4] for node in env.track])
    place = np.array(hull.position)
    ahead = nodes[(np.argmin(((nodes - place) ** 2).sum(1)) + 4) % len(nodes)] - place
    forward, speed = hull.GetWorldVector((0, 1)), np.hypot(*hull.linearVelocity)
    turn = forward[0] * ahead[1] - forward[1] * ahead[0]
    action = np.array([np.clip(-turn / 6, -1, 1), 0.25 if speed < 35 else 0, 0.3 if speed > 45 else 0], np.float32)
    if env.continuous:
        return action
    return 1 if action[0] > 0.3 else 2 if action[0] < -0.3 else 3 if speed < 35 else 4


def straight_on(theirs, obs, rng):
    return np.array([0, 0.5, 0], np.float32)


def plays_randomly(theirs, obs, rng):
    space = theirs.action_space
    return int(rng.integers(space.n)) if hasattr(space, "n") else rng.uniform(space.low, space.high).astype(space.dtype)


CASES = [
    *[(id, play, options) for id in ("LunarLander-v3", "LunarLanderContinuous-v3") for play in (plays_randomly, lands)
      for options in ({}, {"enable_wind": True, "gravity": -7.0},
                      {"enable_wind": True, "wind_power": 19.0, "turbulence_power": 1.9})],
    ("LunarLanderContinuous-v3", lands, {"action_dtype": "float64"}),
    *[(id, play, {}) for id in ("BipedalWalker-v3", "BipedalWalkerHardcore-v3") for play in (plays_randomly, Walks)],
    ("BipedalWalker-v3", Walks, {"action_dtype": "float64"}),
    ("BipedalWalkerHardcore-v3", plays_randomly, {"action_dtype": "float64"}),
    ("CarRacing-v3", plays_randomly, {}),
    ("CarRacing-v3", follows_track, {}),
    ("CarRacing-v3", follows_track, {"domain_randomize": True, "action_dtype": "float64"}),
    ("CarRacing-v3", follows_track, {"continuous": False}),
    ("CarRacing-v3", plays_randomly, {"continuous": False, "domain_randomize": True}),
    ("CarRacing-v3", straight_on, {"lap_complete_percent": 0.5}),
]


def compare(id, play, options, seeds, num_steps, render_every=0):
    """Compares a pool with one environment of Gymnasium for each seed, each for `num_steps`.

    Returns counts of the comparisons; raises AssertionError where they differ.
    """
    import gymnasium

    # of the modules that SWIG made
    with warnings.catch_warnings(action="ignore"):
        theirs = [gymnasium.make(id, disable_env_checker=True, render_mode="rgb_array" if render_every else None,
                                 **{name: value for name, value in options.items() if name != "action_dtype"})
                  for _ in seeds]
        seen = [env.reset(seed=seed)[0] for env, seed in zip(theirs, seeds, strict=True)]
    ours = cypool.make(id, num_envs=len(seeds), num_threads=0, seed=list(seeds), autoreset_mode="Disabled", **options)
    rngs, pictures, ends = [np.random.default_rng(seed) for seed in seeds], 0, 0
    choosers = [play() if isinstance(play, type) else play for _ in seeds]
    got, _ = ours.reset()
    for step in range(num_steps):
        where = id, options, seeds, step
        assert got.tobytes() == np.stack(seen).tobytes(), where
        if render_every and step % render_every == 0:
            for env, picture in zip(theirs, ours.render(), strict=True):
                want = env.render()
                assert picture.shape == want.shape and (picture == want).all(), where
                pictures += 1
        actions = [choose(*given) for choose, given in zip(choosers, zip(theirs, seen, rngs, strict=True), strict=True)]
        if options.get("action_dtype") == "float64":
            actions = [np.clip(action + rng.normal(0, 1e-9, action.shape), env.action_space.low, env.action_space.high)
                       for action, rng, env in zip(actions, rngs, theirs, strict=True)]
        got, reward, terminated, truncated, info = ours.step(np.asarray(actions))
        ended = terminated | truncated
        for k, (env, action) in enumerate(zip(theirs, actions, strict=True)):
            seen[k], reward_, terminated_, truncated_, info_ = env.step(action)
            assert np.float64(reward_).tobytes() == reward[k].tobytes(), (*where, k, reward_, reward[k])
            assert (terminated_, truncated_) == (terminated[k], truncated[k]), (*where, k)
            assert all(info[name][k] == value for name, value in info_.items()), (*where, k)
            if ended[k]:
                assert got[k].tobytes() == seen[k].tobytes(), (*where, k)
                assert ours.save([k]).rows[0]["rng"] == env.unwrapped.np_random.bit_generator.state, (*where, k)
                seen[k], _ = env.reset()
                choosers[k] = play() if isinstance(play, type) else play
                ends += 1
        if ended.any():
            got, _ = ours.reset(options={"reset_mask": ended})
    ours.close()
    return Counter(steps=len(seeds) * num_steps, episodes=ends, pictures=pictures)


def runs(arguments):
    steps, seeds = arguments.num_steps, arguments.seeds
    ids = chosen(dict.fromkeys(id for id, *_ in CASES), arguments.patterns)
    for id, play, options in CASES:
        if id in ids:
            num_steps = steps // 4 if id.startswith("CarRacing") else steps
            yield Run(id, f"{play.__name__} {options} {seeds}", partial(compare, id, play, options, seeds, num_steps))
    for id in ids:
        yield Run(id, f"pictures {seeds}", partial(compare, id, plays_randomly, {}, seeds, steps // 20, 1))
