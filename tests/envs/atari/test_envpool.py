"""Atari with `preset="envpool"` compared with EnvPool: `pip install envpool==1.2.5`."""
import envpool
import numpy as np
import pytest

import cypool
import cypool.compat.envpool as ours
from cypool.envs.atari import reference
from cypool.testing import check_parity

pytestmark = pytest.mark.large_packages

LIVES = {"episodic_life": True}
# id, how many episodes end at least, options
RUNS = [
    ("Breakout-v5", 0, {}),
    # lives and games end within a step
    ("Breakout-v5", 20, {**LIVES, "frame_skip": 12}),
    ("Breakout-v5", 20, {**LIVES, "frame_skip": 9, "repeat_action_probability": 0.3, "gray_scale": False}),
    ("MsPacman-v5", 4, {**LIVES, "frame_skip": 13, "reward_clip": True}),
    # 250 rows, of which EnvPool shows 210
    ("Klax-v5", 1, {**LIVES, "frame_skip": 5}),
    ("AirRaid-v5", 0, {"gray_scale": False, "img_height": 61, "img_width": 100, "stack_num": 3}),
    # ends and lost lives in the last step of the limit
    ("Breakout-v5", 30, {**LIVES, "max_episode_steps": 9, "frame_skip": 12}),
    ("Breakout-v5", 60, {"max_episode_steps": 2, "use_fire_reset": False, "noop_max": 1}),
    ("Seaquest-v5", 8, {"max_episode_steps": 30, "use_inter_area_resize": False, "mode": 0}),
    ("Pong-v5", 4, {"frame_skip": 1, "max_episode_steps": 40}),
    ("Breakout-v5", 0, {"frame_skip": 2, "stack_num": 1, "full_action_space": True}),
    ("Breakout-v5", 0, {"mode": 4, "difficulty": 1, "frame_skip": 3}),
]


@pytest.mark.parametrize(("id", "least", "options"), RUNS, ids=str)
def test_the_preset_equals_envpool(id, least, options):
    report = check_parity(id, preset="envpool", num_envs=2, num_steps=150, seeds=(1, 2), **options)
    assert report.num_episodes >= least and report.reference == "EnvPool 1.2.5"


def test_defaults_are_envpools():
    for preset in (None, "envpool"):
        spec = cypool.make_spec("Pong-v5", preset=preset)
        config = envpool.make_spec("Pong-v5").config._asdict()
        for name in reference._ENVPOOL:
            ours = spec.max_episode_steps if name == "max_episode_steps" else spec.options[name]
            assert ours == config[name], name


@pytest.mark.parametrize("options", [LIVES | {"frame_skip": 11}, {"repeat_action_probability": 0.25}], ids=str)
def test_resets_whenever_the_user_wants(options):
    ours = cypool.make("Breakout-v5", num_envs=3, seed=7, preset="envpool", **options)
    theirs, _ = reference.make(ours, 7, {"preset": "envpool", **options})
    rng = np.random.default_rng(0)
    for _ in range(6):
        (obs, info), (their_obs, their_info) = ours.reset(), theirs.reset()
        assert np.array_equal(obs, their_obs) and np.array_equal(info["lives"], their_info["lives"])
        for _ in range(rng.integers(3, 40)):
            actions = rng.integers(4, size=3)
            for a, b in zip(ours.step(actions)[:4], theirs.step(actions)[:4], strict=True):
                assert np.array_equal(a, b)


@pytest.mark.parametrize("options", [
    {"zero_discount_on_life_loss": True, "max_episode_steps": 25},
    {"zero_discount_on_life_loss": True, **LIVES},
    # a life is won
    {"zero_discount_on_life_loss": True, "task": "zaxxon"},
], ids=str)
def test_discounts_are_envpools(options):
    options = {"num_envs": 3, "seed": 5, "frame_skip": 12, **options}
    title = "Zaxxon-v5" if options.pop("task", None) else "Breakout-v5"
    ours, theirs = cypool.make(title, "dm", preset="envpool", **options), envpool.make_dm(title, **options)
    ours.reset()
    theirs.reset()
    discounts = []
    rng = np.random.default_rng(0)
    for _ in range(200):
        actions = rng.integers(4, size=3)
        step, their_step = ours.step(actions), theirs.step(actions.astype(np.int32))
        assert np.array_equal(step.discount, their_step.discount)
        assert np.array_equal(step.observation.lives, their_step.observation.lives)
        discounts.append(step.discount)
    assert 0 < np.mean(discounts) < 1


def test_the_modules_have_the_same_names():
    assert set(envpool.__all__) <= set(ours.__all__)
    for name in ("EnvRegistry", "EnvSpec", "GymnasiumEnvPool", "DMEnvPool", "list_all_envs", "make", "make_dm",
                 "make_gym", "make_gymnasium", "make_spec", "register", "registry"):
        assert hasattr(envpool.registration, name) and hasattr(ours.registration, name), name
    for name in ("list_all_envs", "make", "make_dm", "make_gymnasium", "make_spec", "register"):
        assert hasattr(envpool.registration.registry, name) and hasattr(ours.registration.registry, name), name
    for name in ("DMEnvPool", "EnvPool", "EnvSpec", "GymnasiumEnvPool"):
        assert hasattr(envpool.python.protocol, name) and hasattr(ours.python.protocol, name), name


@pytest.mark.parametrize("id", ["CartPole-v1", "Pendulum-v1", "Pong-v5", "FrozenLake-v1", "HalfCheetah-v5", "Catch-v0"])
def test_bounds_of_dm_specs(id):
    mine, theirs = ours.make_dm(id), envpool.make_dm(id)
    for got, want in ((mine.observation_spec().obs, theirs.observation_spec().obs),
                      (mine.action_spec(), theirs.action_spec())):
        assert type(got) is type(want) and got.shape == want.shape
        assert got.minimum.shape == want.minimum.shape and got.maximum.shape == want.maximum.shape
        # where our dtype differs
        assert np.allclose(got.minimum, want.minimum, rtol=1e-6) and np.allclose(got.maximum, want.maximum, rtol=1e-6)


# EnvPool's spaces
@pytest.mark.filterwarnings("ignore:.*precision lowered by casting")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.bool_, np.uint8])
def test_discrete_actions_in_other_dtypes(dtype):
    actions = np.array([1, 0, 1])
    for make in (envpool.make_gymnasium, ours.make_gymnasium):
        env, twin = (make("CartPole-v1", num_envs=3) for _ in "12")
        env.reset()
        twin.reset()
        assert (env.step(actions.astype(dtype))[0] == twin.step(actions)[0]).all()
