"""Doom's ids of EnvPool compared with EnvPool: `pip install envpool==1.2.5`.

EnvPool now and then waits for ever for an engine that does not start, or crashes: so it plays in separate processes,
several times if need be.
"""
import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import envpool
import envpool_assets
import numpy as np
import pytest
from markers import exhaustive

import cypool
from cypool.envs.vizdoom.specs import INFO

pytestmark = pytest.mark.large_packages

ASSETS = Path(*envpool_assets.__path__, "vizdoom")
# the same pictures: theirs has an older Freedoom
DATA = {"iwad_path": str(ASSETS / "bin" / "freedoom2.wad")}
DELTAS = {"TURN_LEFT_RIGHT_DELTA": (3, -10.0, 10.0), "MOVE_LEFT_RIGHT_DELTA": (2, -5.0, 5.0)}
SHORT = {"max_episode_steps": 25}
# id, how many episodes end at least, options
RUNS = [
    *((f"{name}-v1", 4, SHORT) for name in ("BasicNotifications", "D2Navigation", "DefendTheLine", "MyWayHome")),
    *exhaustive(*((f"{name}-v1", 4, SHORT) for name in (
        "Basic", "D1Basic", "D3Battle", "D4Battle2", "DeadlyCorridor", "Deathmatch", "DefendTheCenter",
        "HealthGathering", "HealthGatheringSupreme", "PredictPosition", "RocketBasic", "SimplerBasic", "TakeCover"))),
    ("MultiDuel-v1", 4, {"max_episode_steps": 25, "game_args": "-deathmatch"}),
    ("Cig-v1", 4, {"max_episode_steps": 25, "game_args": "-deathmatch"}),
    ("Basic-v1", 0, {}),
    ("D3Battle-v1", 1, {"use_inter_area_resize": False, "img_height": 60, "img_width": 160, "frame_skip": 9}),
    ("Deathmatch-v1", 0, {"use_combined_action": True, "force_speed": True, "delta_button_config": DELTAS,
                          "weapon_duration": 3, "selected_weapon_reward_config": {2: 0.5, 1: -0.1}, "stack_num": 2,
                          "reward_config": {"AMMO2": (0.3, 0.7), "HEALTH": (1.0, -1.0), "HITCOUNT": (1.0, 0.5)}}),
    ("D4Battle2-v1", 0, {"use_combined_action": True, "frame_skip": 6}),
    ("DeadlyCorridor-v1", 4, {"episodic_life": True, "frame_skip": 10, "use_inter_area_resize": False}),
    ("TakeCover-v1", 4, {"episodic_life": True, "frame_skip": 10, "stack_num": 1, "use_combined_action": True}),
    ("HealthGathering-v1", 2, {"frame_skip": 31, "img_height": 240, "img_width": 320})]


PLAY = """
import pickle, sys
import envpool
import numpy as np

id, seed, options, num_steps = pickle.load(sys.stdin.buffer)
env = envpool.make_gymnasium(id, num_envs=2, seed=[seed, seed + 1], **options)
rng = np.random.default_rng(seed)
results, actions = [env.reset()], []
for _ in range(num_steps):
    if options.get("use_combined_action"):
        actions.append(rng.integers(0, env.action_space.n, 2))
    else:
        actions.append(rng.integers(0, 2, (2, *env.action_space.shape)).astype(float))
    results.append(env.step(actions[-1]))
with open("played", "wb") as file:
    pickle.dump((env.action_space, actions, results), file)
"""


def played_by_envpool(id, seed, options, num_steps=100):
    """Returns the action space of an environment, random actions, and the results of reset and steps of two."""
    played = Path("played")
    played.unlink(missing_ok=True)
    for _ in range(10):
        process = subprocess.Popen([sys.executable, "-c", PLAY], stdin=subprocess.PIPE, start_new_session=True)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(pickle.dumps((id, seed, options, num_steps)), timeout=60)
        # with its engines, also where it crashed
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(300)
        # it may have crashed, too
        if played.exists():
            break
    return pickle.loads(played.read_bytes())


@pytest.mark.parametrize(("id", "least", "options"), RUNS, ids=str)
def test_equals_envpool(id, least, options):
    ended = 0
    for seed in (3, 20):
        space, actions, results = played_by_envpool(id, seed, options)
        with cypool.make(id, num_envs=2, seed=[seed, seed + 1], **options, **DATA) as env:
            if options.get("use_combined_action"):
                assert env.single_action_space == space
            for t, (their_obs, *want, their_info) in enumerate(results):
                obs, *got, info = env.step(actions[t - 1]) if t else env.reset()
                assert obs.dtype == their_obs.dtype and np.array_equal(obs, their_obs), f"seed {seed}, step {t}"
                for name in (*INFO, "elapsed_step"):
                    assert info[name].tolist() == their_info[name].tolist(), f"{name}, seed {seed}, step {t}"
                if got:
                    ended += (got[1] | got[2]).sum()
                    # an end in the last step of the limit, of which they report one part
                    got[1] &= ~got[2]
                for a, b in zip(got, want, strict=True):
                    assert a.tolist() == b.tolist(), f"seed {seed}, step {t}"
    assert ended >= least


def test_ids_options_and_infos_are_envpools():
    maps = {path.stem for path in (ASSETS / "maps").glob("*.cfg") if path.with_suffix(".wad").is_file()}
    ids = {"".join(part.capitalize() for part in name.split("_")) + "-v1" for name in (*maps, "vizdoom_custom")}
    assert ids <= set(cypool.list_all_envs()) & set(envpool.list_all_envs()) and len(ids) == 21
    spec, theirs = cypool.make_spec("D1Basic-v1"), envpool.make_spec("D1Basic-v1")
    # the options of all their environments, which are the pool's here
    config = theirs.config._asdict()
    common = set(envpool.make_spec("CartPole-v1").config._asdict())
    assert set(config) - common <= set(spec.options)
    assert config["max_episode_steps"] == spec.max_episode_steps
    for name, value in config.items():
        # files, which are where they are
        if name in spec.options and name not in ("cfg_path", "wad_path", "iwad_path", "vzd_path"):
            ours = spec.options[name]
            if isinstance(value, dict):
                assert ours.keys() == value.keys()
                ours, value = (np.array([each[key] for key in value], np.float32).tolist() for each in (ours, value))
            assert ours == value, name
    infos = {name.removeprefix("info:") for name in theirs._state_keys if name.startswith("info:")}
    assert infos == {"env_id", "players.env_id", *INFO}
