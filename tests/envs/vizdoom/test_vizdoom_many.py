"""Doom at a scale that takes minutes: 64 games at once, matches of 8 players, many matches side by side."""
import os
import signal
import time
from contextlib import suppress

import numpy as np
import psutil
import pytest
from engine.threads import meanwhile
from envs.vizdoom.engines import engines, steps_while_harmed
from waiting import LIMIT

import cypool

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive, pytest.mark.usefixtures("leaves_nothing")]


def test_64_games():
    with cypool.make("Basic-v1", num_envs=64, num_threads=16, seed=0, engine_pid=True) as env:
        _, info = env.reset()
        assert len(set(info["engine_pid"])) == 64
        for turn in range(10):
            for _ in range(10):
                *_, truncated, info = env.step(np.zeros((64, 3)))
                assert not info["engine_restarted"].any()
            victims = np.random.default_rng(turn).choice(64, 5, replace=False)
            for victim in victims:
                if info["engine_pid"][victim]:
                    os.kill(info["engine_pid"][victim], signal.SIGKILL)
            *_, truncated, info = env.step(np.zeros((64, 3)))
            # some of them had come to their end: these were found dead by the reset
            assert set(np.flatnonzero(info["engine_restarted"])) == set(victims)


def test_8_players():
    config = {"available_game_variables": ["PLAYER_NUMBER", "PLAYER_COUNT"], "screen_resolution": "RES_160X120"}
    rng = np.random.default_rng(0)
    with cypool.make("VizdoomBasic-MultiBinary-v1", scenario_config_file="cig.cfg", config=config, num_envs=2,
                     num_players=8, num_bots=2, max_episode_steps=20, frame_skip=4, seed=0, num_threads=2,
                     engine_pid=True) as env:
        _, info = env.reset()
        for t in range(100):
            actions = {"binary": rng.integers(0, 2, (2, 8, 8)), "continuous": rng.normal(0, 3, (2, 8, 2))}
            obs, _, terminated, truncated, info = env.step(actions)
            assert obs["gamevariables"][..., 0].tolist() == [list(range(8))] * 2
            assert info["players"]["env_id"].tolist() == [0] * 8 + [1] * 8
            assert truncated.tolist() == [t % 21 == 19] * 2 and not terminated.any()
        for player in (0, 7):
            os.kill(info["engine_pid"][1, player], signal.SIGKILL)
            *_, truncated, info = env.step(actions)
            assert truncated[1] and info["engine_restarted"].tolist() == [False, True]
            *_, truncated, info = env.step(actions)
            assert not truncated[1] and not info["engine_restarted"].any()


def test_engines_of_matches_killed_at_any_moment():
    rng, kills, actions = np.random.default_rng(0), [], np.zeros((2, 2, 3), np.int8)

    def kill():
        time.sleep(rng.random() * 2)
        # one may end at this moment; there may be none
        with suppress(psutil.NoSuchProcess, ValueError):
            victim = rng.choice(engines())
            victim.kill()
            kills.append(victim.pid)

    # a call that waited for the time limit would wait for ever
    with cypool.make("VizdoomBasic-MultiBinary-v1", scenario_config_file="multi_duel.cfg", num_envs=2, num_players=2,
                     frame_skip=2, seed=0, num_threads=2, engine_timeout=1e5) as env:
        env.reset()
        with meanwhile(kill):
            for _, batch, causes in steps_while_harmed(env, lambda: actions, kills, 40, 11, 2 * LIMIT):
                assert all("failed 3 times" in str(cause) for cause in causes.values())
                assert causes or not (batch[3] & ~batch[4]["engine_restarted"]).any()
        env.reset()
        assert not env.step(actions)[3].any()


def test_engines_stopped_at_any_moment():
    rng, stops = np.random.default_rng(0), []

    def stop():
        time.sleep(rng.random() / 2)
        for process in engines():
            # one may end at this moment
            with suppress(psutil.NoSuchProcess):
                if rng.random() < 0.15:
                    process.suspend()
                    stops.append(process.pid)

    # one that starts must not seem hung, however slow the machine
    began = time.monotonic()
    with cypool.make("VizdoomBasic-v1", num_envs=4, num_threads=4) as env:
        env.reset()
    patience = 3 + 10 * (time.monotonic() - began)
    with cypool.make("VizdoomBasic-v1", num_envs=4, frame_skip=4, seed=0, num_threads=4,
                     engine_timeout=patience) as env:
        env.reset()
        with meanwhile(stop):
            for *_, causes in steps_while_harmed(env, lambda: rng.integers(0, 4, 4), stops, 40, 3, 2 * LIMIT):
                assert all("failed 3 times" in str(cause) for cause in causes.values())
        env.reset()
        assert not env.step([0] * 4)[3].any()


def test_a_hung_engine_ends_the_match():
    with cypool.make("VizdoomBasic-MultiBinary-v1", scenario_config_file="multi_duel.cfg", num_envs=2, num_players=2,
                     seed=0, num_threads=2, engine_timeout=15, engine_pid=True) as env:
        _, info = env.reset()
        for player in (0, 1):
            os.kill(info["engine_pid"][1, player], signal.SIGSTOP)
            *_, truncated, info = env.step(np.zeros((2, 2, 3), np.int8))
            assert truncated.tolist() == info["engine_restarted"].tolist() == [False, True]
            *_, truncated, info = env.step(np.zeros((2, 2, 3), np.int8))
            assert not truncated.any() and not info["engine_restarted"].any()
        os.kill(info["engine_pid"][0, 1], signal.SIGSTOP)
        _, info = env.reset()
        assert info["engine_restarted"].tolist() == [True, False]
