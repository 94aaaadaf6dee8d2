"""Plays all levels of MiniGrid and BabyAI next to minigrid, with directed play, and compares all, exactly.

Compares image, direction, mission, reward, ends, the whole grid at the begin and end of an episode, and the random
stream there. A third of the episodes has random actions, and a third more steps forward, pick-ups and toggles. In the
last third, BabyAI's own bot plays BabyAI, and a planner plays MiniGrid: it finds keys, opens doors and reaches the
goal of the mission. Says for each id how its episodes ended, and counts events in them. 1000 episodes of each take an
hour or two.
"""
import collections
import contextlib
import signal
from functools import partial

import gymnasium
import numpy as np
from envs.minigrid.planner import Planner
from minigrid.utils.baby_ai_bot import BabyAIBot
from sweeping import Run, chosen, ids_of

import cypool

DEFAULTS = {}
MOST_STEPS = 50, 100, 150  # of an episode, by style
# an id, and the episode for which minigrid finds no place for the agent and never comes back
ENDLESS = "BabyAI-SynthS5R2-v0", 484
BOT_SECONDS = 0.5  # it may search for ever


class TooLongError(Exception):
    pass


def _stop(*_):
    raise TooLongError


def plan(bot, last):
    """Returns the bot's next action; raises if it has none."""
    signal.setitimer(signal.ITIMER_VIRTUAL, BOT_SECONDS)
    try:
        return int(bot.replan(last))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def actions_of(env, style, chance):
    """Yields actions: random ones (0), directed ones (1), or those of BabyAI's bot or the planner (2)."""
    bot, last, num = None, None, env.action_space.n
    if style == 2:
        with contextlib.suppress(Exception):
            bot = BabyAIBot(env) if hasattr(env, "instrs") else Planner(env, chance)
    weights = np.array([2, 2, 6, 2, 1, 2, 0.5][:num] if style else [1] * num, float)
    while True:
        action = None
        if bot is not None and chance.random() > 0.02:
            try:
                action = plan(bot, last)
            except Exception:
                bot = None
        if action is None:
            action = int(chance.choice(num, p=weights / weights.sum()))
        last = action
        yield action


def play(id, episodes):
    """Returns counts of events in the episodes of an id; raises AssertionError where the two differ."""
    signal.signal(signal.SIGVTALRM, _stop)
    seen = collections.Counter()
    with cypool.make(id, num_envs=1, seed=0, num_threads=0, autoreset_mode="Disabled") as ours:
        full = cypool.make(id, num_envs=1, seed=0, num_threads=0, autoreset_mode="Disabled", obs_type="full")
        theirs = gymnasium.make(id, disable_env_checker=True).unwrapped
        chance = np.random.default_rng(1)
        for episode in range(episodes):
            seed = 0 if episode == 0 else None
            if (id, episode) == ENDLESS:
                with contextlib.suppress(cypool.EnvError):
                    ours.reset()
                    raise AssertionError(f"expected an EnvError in episode {episode}, as minigrid does not come back")
                seed = 1
            obs = ours.reset(seed=seed)[0]
            grid = full.reset(seed=seed)[0]["image"][0]
            want = theirs.reset(seed=seed)[0]
            same(ours, full, theirs, obs, grid, want, episode, 0)
            space = theirs.observation_space["mission"]
            seen["missions outside of MissionSpace"] += not space.contains(cypool.text(obs["mission"][0]))
            style = episode % 3
            actions = actions_of(theirs, style, chance)
            for step in range(1, MOST_STEPS[style] + 1):
                action = next(actions)
                held, ahead = theirs.carrying, theirs.grid.get(*theirs.front_pos)
                was_open, was_locked = getattr(ahead, "is_open", None), getattr(ahead, "is_locked", None)
                kind = getattr(ahead, "type", "")
                obs, reward, terminated, truncated, _ = ours.step([action])
                grid = full.step([action])[0]["image"][0]
                want, *rest, _ = theirs.step(action)
                assert [reward[0], terminated[0], truncated[0]] == rest, (episode, step, reward, rest)
                end = terminated[0] or truncated[0]
                same(ours, full, theirs, obs, grid, want, episode, step, end or step == MOST_STEPS[style])
                seen["steps"] += 1
                seen["unlocked"] += was_locked is True and not ahead.is_locked
                seen["opened"] += was_open is False and ahead.is_open
                seen["closed"] += was_open is True and not ahead.is_open
                seen["box opened"] += kind == "box" and action == theirs.actions.toggle
                seen["picked up"] += held is None and theirs.carrying is not None
                seen["dropped"] += held is not None and theirs.carrying is None
                seen["lava"] += bool(terminated[0]) and kind == "lava"
                seen["goal"] += bool(terminated[0]) and kind == "goal"
                if end:
                    break
            seen["episodes"] += 1
            seen["success"] += reward[0] > 0
            seen["failure"] += bool(terminated[0]) and reward[0] <= 0
            seen["truncated"] += bool(truncated[0])
        full.close()
    return seen


def same(ours, full, theirs, obs, grid, want, episode, step, whole=True):
    where = episode, step
    assert (obs["image"][0] == want["image"]).all(), (*where, "image")
    assert obs["direction"][0] == want["direction"], (*where, "direction")
    assert cypool.text(obs["mission"][0]) == want["mission"], (*where, want["mission"])
    if whole:
        expected = theirs.grid.encode()
        expected[tuple(theirs.agent_pos)] = 10, 0, theirs.agent_dir
        assert (grid == expected).all(), (*where, "grid")
        for pool in (ours, full):
            assert pool.save().rows[0]["rng"] == theirs.np_random.bit_generator.state, (*where, "random stream")


def add_arguments(parser):
    parser.add_argument("--episodes", type=int, default=1000)


def runs(arguments):
    for id in chosen(ids_of("minigrid"), arguments.patterns):
        yield Run(id, f"{arguments.episodes} episodes", partial(play, id, arguments.episodes))
