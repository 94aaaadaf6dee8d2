"""Atari's presets, against the packages that they follow, as installed: all equal.

EnvPool is compared in test_envpool.py; all games are in sweep.py.
"""
import inspect

import ale_py
import gymnasium
import numpy as np
import pytest
from ale_py.env import AtariEnv
from ale_py.vector_env import AtariVectorEnv
from gymnasium.wrappers import AtariPreprocessing
from markers import exhaustive, slow
from receiving import started

import cypool
from cypool.envs.atari import reference
from cypool.testing import check_parity

gymnasium.register_envs(ale_py)

LIVES = {"episodic_life": True}
# id, how many episodes end at least, options
RUNS = [
    ("Breakout-v5", 0, {}),
    # lives, games and frames end within a step
    ("Breakout-v5", 10, {**LIVES, "frame_skip": 12}),
    ("Breakout-v5", 10, {**LIVES, "frame_skip": 9, "repeat_action_probability": 0.3, "gray_scale": False}),
    ("Klax-v5", 1, {**LIVES, "frame_skip": 13}),
    ("MsPacman-v5", 1, {**LIVES, "frame_skip": 13, "autoreset_mode": "SameStep"}),
    ("Seaquest-v5", 12, {"max_num_frames_per_episode": 61, "frame_skip": 7}),
    ("Seaquest-v5", 8, {"max_num_frames_per_episode": 120, "frame_skip": 6, "noop_max": 10, "mode": 0}),
    ("Breakout-v5", 12, {**LIVES, "max_num_frames_per_episode": 150, "frame_skip": 8, "autoreset_mode": "SameStep"}),
    ("MsPacman-v5", 12, {"max_num_frames_per_episode": 40, "frame_skip": 5}),
    ("Pong-v5", 20, {"max_num_frames_per_episode": 9, "frame_skip": 1, "noop_max": 0}),
    # the no-ops of a reset end its game
    ("Pong-v5", 12, {"max_num_frames_per_episode": 33, "noop_max": 90}),
    # a game that plays frames itself before an episode
    ("DoubleDunk-v5", 12, {"max_num_frames_per_episode": 200, "frame_skip": 20}),
    ("Breakout-v5", 0, {"frame_skip": 1}),
    ("Breakout-v5", 0, {"frame_skip": 2, "stack_num": 1, "noop_max": 1, "full_action_space": True}),
    ("AirRaid-v5", 0, {"gray_scale": False, "img_height": 61, "img_width": 100, "stack_num": 3}),
    ("Breakout-v5", 0, {"continuous": True, "continuous_action_threshold": 0.3, "noop_max": 0}),
]


# one of each kind
QUICK = [RUNS[k] for k in (2, 7, 14, 15)]
OTHERS = [run for run in RUNS if run not in QUICK]


@pytest.mark.parametrize(("preset", "id", "least", "options"), [
    *slow(*[("gymnasium", *run) for run in QUICK[::2]], *[("ale", *run) for run in QUICK[1::2]]),
    *exhaustive(*[("gymnasium", *run) for run in QUICK[1::2]], *[("ale", *run) for run in QUICK[::2]],
                *[(preset, *run) for preset in ("gymnasium", "ale") for run in OTHERS])], ids=str)
def test_presets_equal_what_they_follow(preset, id, least, options, seeds=(1, 2)):
    options = {name: value for name, value in options.items() if preset == "gymnasium" or name != "mode"}
    report = check_parity(id, preset=preset, num_envs=2, num_steps=100, seeds=seeds, **options)
    assert report.num_episodes >= least


@pytest.mark.parametrize(("id", "least", "options"), QUICK, ids=str)
def test_a_preset_equals_what_it_follows(id, least, options):
    test_presets_equal_what_they_follow("gymnasium", id, least // 2, options, seeds=(1,))


@pytest.mark.parametrize(("preset", "options"), [
    ("ale", {"reward_clip": False, "use_fire_reset": False, "repeat_action_probability": 1.0}),
    ("gymnasium", {"autoreset_mode": "Disabled", "frame_skip": 12}),
    *slow(("gymnasium", {"mode": 4, "difficulty": 1, "max_episode_steps": 30})),
])
def test_options_that_only_one_has(preset, options):
    check_parity("Breakout-v5", preset=preset, num_envs=2, num_steps=100, seeds=(3,), **options)


@pytest.mark.parametrize(("id", "options"), [
    *slow(("Breakout-v0", {}), ("Breakout-v4", {"obs_type": "ram"}),
          ("ALE/Breakout-v5", {"mode": 4, "difficulty": 1}), ("Skiing-v0", {"full_action_space": True}),
          ("Pong-v4", {"max_num_frames_per_episode": 50}),
          ("ALE/Pong-v5", {}), ("Pong-v4", {}), ("BreakoutNoFrameskip-v4", {}), ("TicTacToe3D-v4", {}),
          ("PongNoFrameskip-v0", {}), ("KlaxNoFrameskip-v4", {}),
          ("Seaquest-v0", {"gray_scale": True, "stack_num": 3}),
          ("ALE/DoubleDunk-v5", {"max_num_frames_per_episode": 90, "autoreset_mode": "SameStep"})),
    ("ALE/Breakout-v5", {"frame_skip": (1, 20), "autoreset_mode": "Disabled"}),
])
def test_ids_equal_those_of_gymnasium(id, options):
    check_parity(id, num_envs=2, num_steps=150, seeds=(5,), **options)


def defaults_of(function):
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


def test_defaults_are_those_of_what_is_followed():
    ours = cypool.make_spec("Pong-v5", preset="ale").options
    theirs = defaults_of(AtariVectorEnv.__init__)
    for name, their_name in reference._VECTOR_ENV.items():
        assert ours[name] == theirs[their_name], name
    ours = cypool.make_spec("Pong-v5", preset="gymnasium").options
    theirs = defaults_of(AtariPreprocessing.__init__)
    for name, their_name in reference._PREPROCESSING.items():
        assert ours[name] == theirs[their_name], name
    kwargs = gymnasium.spec("ALE/Pong-v5").kwargs
    for name in ("repeat_action_probability", "full_action_space", "max_num_frames_per_episode"):
        assert ours[name] == kwargs[name], name
    for preset in ("ale", "gymnasium"):
        assert cypool.make_spec("Pong-v5", preset=preset).max_episode_steps is None
    for preset in (None, "envpool"):
        assert cypool.make_spec("Pong-v5", preset=preset).max_episode_steps == 27_000
        assert cypool.make_spec("Pong-v5", preset=preset, max_episode_steps=9).max_episode_steps == 9


def test_defaults_of_ids_are_those_of_gymnasiums():
    ids = set(cypool.list_all_envs())
    specs = [spec for spec in gymnasium.registry.values() if spec.entry_point == "ale_py.env:AtariEnv"]
    assert len(specs) == 104 + 4 * 62 and {spec.id for spec in specs} <= ids
    for spec in specs:
        options = cypool.make_spec(spec.id).options
        kwargs = {**defaults_of(AtariEnv.__init__), **spec.kwargs}
        assert options["task"] == kwargs["game"] and options["frame_skip"] == kwargs["frameskip"]
        for name in ("repeat_action_probability", "full_action_space", "max_num_frames_per_episode"):
            assert options[name] == kwargs[name], spec.id


# parity with the reference


def assert_same(got, want, where):
    *batch, info = got
    *their_batch, their_info = want
    for a, b in zip(batch, their_batch, strict=True):
        assert np.array_equal(a, b), where
    for key in ("lives", "frame_number", "episode_frame_number"):
        # after a partial reset Gymnasium reports only those that were reset
        present = their_info[f"_{key}"]
        assert present.any() and np.array_equal(info[key][present], their_info[key][present]), (key, where)


@pytest.mark.parametrize("preset, options", [
    ("ale", {"episodic_life": True, "frame_skip": 11}),
    *slow(("gymnasium", {}), ("ale", {}), ("gymnasium", {"episodic_life": True, "frame_skip": 11}))], ids=str)
def test_resets_whenever_the_user_wants(preset, options):
    options = {"preset": preset, "repeat_action_probability": 0.25, **options}
    ours = cypool.make("Breakout-v5", num_envs=2, seed=4, **options)
    theirs, *_ = reference.make(ours, 4, options)
    mask = np.array([False, True])
    rng = np.random.default_rng(0)
    for reset in ("seed 4", "", "seed 8", "mask", "", *(["none"] * (preset == "ale")), "seeds"):
        seed = {"seed 4": 4, "seed 8": 8, "seeds": np.array([5, 2**31 - 1])}.get(reset)
        their_seed = seed.tolist() if reset == "seeds" and preset == "gymnasium" else seed
        # Gymnasium takes the mask out of its options
        given, to_them = ({"options": {"reset_mask": mask & (reset == "mask")}} if reset in ("mask", "none") else {}
                          for _ in "12")
        assert_same(ours.reset(seed=seed, **given), theirs.reset(seed=their_seed, **to_them), reset)
        for k in range(23):
            actions = rng.integers(4, size=2)
            assert_same(ours.step(actions), theirs.step(actions), (reset, k))


def columns(batch):
    obs, *flags, info = batch
    return [obs, *flags, *(info[key] for key in sorted(info))]


@pytest.mark.parametrize("options", [
    {"preset": "envpool"}, {"preset": "gymnasium", "gray_scale": False},
    {"preset": "ale", "frame_skip": (1, 14), "zero_discount_on_life_loss": True},
    *slow({"preset": "ale", "max_num_frames_per_episode": 150}, {"frame_skip": (2, 14)},
          {"preset": "gymnasium", "max_num_frames_per_episode": 150}),
], ids=str)
@pytest.mark.parametrize("num_threads", [2, *slow(0, 1, 5)])
def test_states_and_threads(options, num_threads):
    options = {"num_envs": 5, "episodic_life": True, "repeat_action_probability": 0.25, "frame_skip": 9, **options}
    actions = np.random.default_rng(1).integers(4, size=(60, 5))
    alone = started(cypool.make("Breakout-v5", num_threads=0, seed=3, **options))
    want = [columns(alone.step(row)) for row in actions]
    pool = started(cypool.make("Breakout-v5", num_threads=num_threads, seed=3, **options))
    other = started(cypool.make("Breakout-v5", num_threads=num_threads, seed=4, **options))
    for k, row in enumerate(actions):
        # episodes that continue do so as if nothing had happened
        pool, other = (other, pool) if k % 3 == 2 else (pool, other)
        if k % 3 == 2:
            pool.load(other.save())
        for got, expected in zip(columns(pool.step(row)), want[k], strict=True):
            assert np.array_equal(got, expected), k
    # a reset after all that: the streams are where they should be
    alone.reset()
    pool.reset()
    for got, expected in zip(columns(pool.step(row)), columns(alone.step(row)), strict=True):
        assert np.array_equal(got, expected)
    assert sum(sum(batch[2] | batch[3]) for batch in want) > 10


@pytest.mark.parametrize("seed", [2**70, *slow(0, 7, 2**31)])
def test_gymnasiums_seeds_are_hashed(seed):
    # of the ALE seeds some are negative
    ours = cypool.make("ALE/Pong-v5", num_envs=5, seed=seed, obs_type="ram")
    env = gymnasium.make("ALE/Pong-v5", obs_type="ram")
    obs, _ = ours.reset()
    for i in range(5):
        assert np.array_equal(obs[i], env.reset(seed=seed + i)[0])


# other options


SWITCHES = {"lives": ["lives"], "raw_reward": ["reward"], "game_over": ["terminated"], "ram": ["ram"],
            "frame_numbers": ["frame_number", "episode_frame_number"], "zero_discount_on_life_loss": ["discount"]}


def test_each_info_can_be_switched_off():
    options = {"num_envs": 2, "seed": 1, "episodic_life": True, "frame_skip": 16}
    full = cypool.make("Breakout-v5", **options, **dict.fromkeys(SWITCHES, True))
    pools = {name: cypool.make("Breakout-v5", **options, **{**dict.fromkeys(SWITCHES, True), name: False})
             for name in SWITCHES}
    pools["none"] = cypool.make("Breakout-v5", **options, **dict.fromkeys(SWITCHES, False))
    everything = {"env_id", "elapsed_step"}.union(*SWITCHES.values())
    left_out = {**SWITCHES, "none": [key for keys in SWITCHES.values() for key in keys]}
    for env in (full, *pools.values()):
        env.reset()
    for _ in range(40):
        obs, _, _, _, want = full.step([1, 3])
        assert set(want) == everything
        for name, env in pools.items():
            got_obs, _, _, _, info = env.step([1, 3])
            assert np.array_equal(got_obs, obs) and set(info) == everything - set(left_out[name])
            for key in info:
                assert np.array_equal(info[key], want[key]), key


@pytest.mark.parametrize("episodic_life", [False, True])
def test_discount_is_zero_where_a_life_is_lost(episodic_life):
    options = {"num_envs": 3, "seed": 1, "frame_skip": 12, "episodic_life": episodic_life, "max_episode_steps": 20,
               "zero_discount_on_life_loss": True}
    env = cypool.make("Breakout-v5", **options)
    dm = cypool.make("Breakout-v5", "dm", **options)
    _, info = env.reset()
    step = dm.reset()
    lives = info["lives"]
    assert info["discount"].tolist() == step.discount.tolist() == [1] * 3
    seen, reset = set(), np.zeros(3, bool)
    for _ in range(150):
        _, _, terminated, truncated, info = env.step([1] * 3)
        step = dm.step([1] * 3)
        want = ~(terminated | (info["lives"] < lives)) | reset
        assert info["discount"].dtype == np.float32 and step.discount.dtype == np.float64
        assert np.array_equal(info["discount"], want) and np.array_equal(step.discount, want)
        assert "discount" not in step.observation._fields
        lives, reset = info["lives"], terminated | truncated
        seen.update(zip(want.tolist(), terminated.tolist(), truncated.tolist(), strict=True))
    # a lost life has discount 0, also where the episode continues; a time limit has 1
    assert (True, False, True) in seen and ((False, False, False) in seen) == (not episodic_life)


def test_random_frame_skips():
    env = cypool.make("Pong-v5", num_envs=4, seed=3, frame_skip=(2, 6), frame_numbers=True)
    assert env.env_spec.options["frame_skip"] == (2, 6)
    before = env.reset()[1]["frame_number"]
    skips = []
    for _ in range(100):
        now = env.step([0] * 4)[4]["frame_number"]
        skips.append(now - before)
        before = now
    # as Gymnasium's generator of that seed draws them
    streams = [np.random.Generator(np.random.PCG64(3 + i)) for i in range(4)]
    assert np.array_equal(skips, [[stream.integers(2, 6) for stream in streams] for _ in range(100)])


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ({"preset": "gym"}, ValueError, "preset: expected one of 'envpool', 'ale', 'gymnasium', got 'gym'"),
    ({"preset": True}, ValueError, "preset: "),
    ({"frame_skip": (2,)}, ValueError, "frame_skip: expected an int, or a range of two ints"),
    ({"frame_skip": (2, 2)}, ValueError, r"frame_skip\[1\]: expected 3 to 10001, got 2"),
    ({"frame_skip": (0, 2)}, ValueError, r"frame_skip\[0\]: expected 1"),
    ({"frame_skip": (2, 5.0)}, TypeError, r"frame_skip\[1\]: "),
    ({"frame_skip": -1}, ValueError, "frame_skip: "),
    ({"frame_skip": None}, TypeError, "frame_skip: "),
    ({"max_num_frames_per_episode": 100}, ValueError, "max_num_frames_per_episode: expected None unless"),
    ({"max_num_frames_per_episode": 0, "preset": "ale"}, ValueError, "max_num_frames_per_episode: expected 1 to"),
    ({"max_num_frames_per_episode": 1.5, "preset": "ale"}, TypeError, "max_num_frames_per_episode: "),
    ({"zero_discount_on_life_loss": None}, TypeError, "zero_discount_on_life_loss: "),
    ({"lives": 1}, TypeError, "lives: "),
    ({"raw_reward": "no"}, TypeError, "raw_reward: "),
    ({"game_over": 0}, TypeError, "game_over: "),
    ({"task": "klax", "preset": "envpool", "img_height": 211}, ValueError, "img_height: expected 1 to 210, got 211"),
], ids=str)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        cypool.make("Pong-v5", **arguments)


@pytest.mark.parametrize(("arguments", "message"), [
    ({}, "preset: expected 'envpool', 'ale' or 'gymnasium', because only these have a reference"),
    ({"preset": "ale", "mode": 0}, "mode: not an option of the reference, AtariVectorEnv"),
    ({"preset": "ale", "max_episode_steps": 5}, "max_episode_steps: not an option of the reference, AtariVectorEnv"),
    ({"preset": "ale", "autoreset_mode": "Disabled"}, "autoreset_mode: expected 'NextStep' or 'SameStep'"),
    ({"preset": "envpool", "autoreset_mode": "SameStep"}, "autoreset_mode: expected 'NextStep'"),
    ({"preset": "gymnasium", "reward_clip": True}, "reward_clip: not an option of the reference, AtariPreprocessing"),
    ({"preset": "gymnasium", "full_action_space": "all"}, "full_action_space: expected a bool"),
    ({"preset": "gymnasium", "obs_type": "ram", "noop_max": 5}, "noop_max: not an option of the reference, AtariEnv"),
], ids=str)
def test_what_a_reference_does_not_have_is_named(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        check_parity("Pong-v5", num_steps=1, **arguments)
