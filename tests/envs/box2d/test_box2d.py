"""Box2D's environments: Gymnasium's bits and pixels where box2d is installed, states, bad input."""
import importlib.util
import os
import re

import numpy as np
import pytest
from family_tests import assert_edits_are_harmless, continues, equals, imports_nothing, play_whatever_comes, refuses
from markers import slow
from pool_arguments import MODES
from receiving import started, stepped
from state_edits import edited, fields_of, with_own
from waiting import attempts

import cypool
from cypool.envs.box2d import pictures
from cypool.envs.box2d.box2d import use_simd
from cypool.testing import check_env

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
IDS = ["LunarLander-v3", "LunarLanderContinuous-v3", "BipedalWalker-v3", "BipedalWalkerHardcore-v3", "CarRacing-v3"]
needs_box2d = pytest.mark.skipif(
    importlib.util.find_spec("Box2D") is None,
    reason="the package box2d is not installed: it has wheels for Python before 3.14 (the extra box2d-reference)")


def make(id, num_envs=1, **options):
    return cypool.make(id, num_envs=num_envs, num_threads=0, seed=3, **options)


def played(id, num_steps, **options):
    return stepped(started(make(id, autoreset_mode="Disabled", **options)), num_steps)


test_parity = needs_box2d(equals([
    *((id, {}) for id in IDS[:4]), *slow(*((id, {"autoreset_mode": mode}) for id in IDS[:4] for mode in MODES[1:])),
    ("LunarLander-v3", {"enable_wind": True, "gravity": -7.0}),
    ("LunarLander-v3", {"continuous": True, "enable_wind": True, "wind_power": 19, "turbulence_power": 1.9}),
    ("LunarLanderContinuous-v3", {"action_dtype": "float64"}),
    ("BipedalWalker-v3", {"hardcore": True, "action_dtype": "float64"}),
], least=1, num_envs=3, num_steps=150, seeds=(0,)))
test_parity_of_the_race = needs_box2d(equals([
    *slow(("CarRacing-v3", {})), ("CarRacing-v3", {"autoreset_mode": "SameStep", "continuous": False}),
    ("CarRacing-v3", {"autoreset_mode": "Disabled", "domain_randomize": True}),
    ("CarRacing-v3", {"action_dtype": "float64", "lap_complete_percent": 0.5}),
], num_envs=1, num_steps=30, seeds=(0,), max_episode_steps=25))


@needs_box2d
@pytest.mark.parametrize(("id", "play"), [("LunarLander-v3", "lands"), ("LunarLanderContinuous-v3", "lands"),
                                          ("BipedalWalker-v3", "walks"), ("BipedalWalkerHardcore-v3", "walks")])
def test_parity_of_good_play(id, play):
    """Landers come to rest, which random ones do not."""
    from envs.box2d import sweep

    # with three landers or more, those that fly are stepped together
    num_envs = 4 if id.startswith("Lunar") else 1
    counts = sweep.compare(id, getattr(sweep, play), num_envs=num_envs, num_steps=400, seeds=(12,))
    assert counts["episodes"] or id.startswith("Bipedal")


def race():
    """All pixels of some steps."""
    env = started(make("CarRacing-v3", num_envs=2))
    env.action_space.seed(0)
    seen = [env.step(env.action_space.sample())[0].tobytes() for _ in range(20)]
    env.close()
    return seen


def test_pixels_are_the_same_without_vector_instructions():
    fast = race()
    use_simd(False)
    try:
        assert race() == fast
    finally:
        use_simd(True)


@needs_box2d
@pytest.mark.slow
@pytest.mark.parametrize("continuous", [True, False])
def test_parity_of_a_race_along_the_track(continuous):
    from envs.box2d import sweep

    sweep.compare("CarRacing-v3", sweep.follows_track, continuous=continuous, num_envs=1, num_steps=400, seeds=(0,))


@needs_box2d
@pytest.mark.parametrize(("id", "steps", "every"), [
    ("LunarLander-v3", 60, 1), ("BipedalWalkerHardcore-v3", 30, 3), ("CarRacing-v3", 40, 8),
    *slow(("LunarLanderContinuous-v3", 90, 7), ("BipedalWalker-v3", 30, 1))])
def test_pictures_are_gymnasiums(id, steps, every):
    from envs.box2d import sweep

    assert sweep.compare_pictures(id, 5, steps, every)["pictures"] >= 5


@pytest.mark.parametrize("id", [*IDS[::2][:2], *slow(*IDS[1::2], IDS[4])])
def test_contract(id):
    """With worlds that live on, an episode depends on those before it, as in Gymnasium: against the contract."""
    options = {} if id.startswith("Lunar") else {"fresh_world": True}
    report = check_env(id, num_envs=2, num_steps=10 if id.startswith("Car") else 40, **options)
    assert len(report.passed) == 8 and report.skipped == ()


test_box2d_is_not_imported = imports_nothing(
    [(id, {}, True) for id in ("LunarLander-v3", "BipedalWalkerHardcore-v3", "CarRacing-v3")], ["Box2D"])


def test_a_fresh_world_forgets():
    """The same seed, after other episodes: without it the last bits differ."""
    seen = []
    for options in ({}, {"fresh_world": True}):
        env = make("BipedalWalkerHardcore-v3", 8, **options)
        env.action_space.seed(0)
        runs = []
        for _ in range(2):
            env.reset(seed=0)
            runs.append(b"".join(env.step(np.full((8, 4), 0.3, np.float32))[0].tobytes() for _ in range(200)))
        seen.append(runs[0] == runs[1])
    assert seen == [False, True]


@pytest.mark.parametrize("id", ["LunarLander-v2", "LunarLanderContinuous-v2", "CarRacing-v2"])
def test_envpools_names(id):
    env, same = make(id), make(id.replace("v2", "v3"))
    assert env.observation_space == same.observation_space and env.action_space == same.action_space
    assert env.reset()[0].tobytes() == same.reset()[0].tobytes()


def test_the_field_ends():
    env = started(make("CarRacing-v3", autoreset_mode="Disabled"))
    for _ in range(400):
        _, reward, terminated, truncated, info = env.step(np.array([[0, 0.5, 0]], np.float32))
        if terminated[0]:
            break
    assert terminated[0] and reward[0] == -100 and not info["lap_finished"][0]


test_goes_on_from_a_state = continues([(id, mode, {}) for id in IDS[:4] for mode in MODES], before=70, after=90,
                                    num_threads=0)
test_goes_on_from_a_state_of_the_race = continues([("CarRacing-v3", "NextStep", {})], before=12, after=20,
                                                num_threads=0, max_episode_steps=15)


@pytest.mark.parametrize("id", ["LunarLander-v3", "BipedalWalkerHardcore-v3", "CarRacing-v3"])
def test_pictures_go_on_from_a_state(id):
    env = played(id, 20)
    env.render()
    state, pictures = env.save(), []
    action = env.action_space.sample()
    for pool in (env, env, make(id, autoreset_mode="Disabled")):
        pool.load(state)
        pool.step(action)
        pictures.append(np.array(pool.render()))
    assert (pictures[0] == pictures[1]).all() and (pictures[0] == pictures[2]).all()


@pytest.mark.parametrize("id", ["LunarLander-v3", "BipedalWalkerHardcore-v3", "CarRacing-v3"])
def test_damaged_states(id):
    """Each is refused, or taken; none crashes, and those that are taken can be stepped, if only to an error."""
    env = played(id, 10)
    state = env.save()
    saved, = state.rows[0]["own"]
    for wrong, message in ((saved[:-1], r"state: world.joints\[\d\].motor_speed: expected 4 more bytes, got 3"),
                           (saved + b"\0", "state: end: expected no more bytes, got 1"), (b"", "state: ready"),
                           (saved[: len(saved) // 2], "more bytes"), (b"\2", "state: ready: expected 0 to 1, got 2"),
                           (saved[:-8] + b"\xff" * 8, "motor_torque: expected 0 to 1e\\+09, got -?nan"), (3, "state")):
        with pytest.raises(ValueError, match=message):
            env.load(with_own(state, (wrong,)))
    rng, refused = np.random.default_rng(0), 0
    for _ in range(200):
        wrong = bytearray(saved)
        for place in rng.integers(len(saved), size=rng.integers(1, 9)):
            wrong[place] = rng.integers(256)
        try:
            env.load(with_own(state, (bytes(wrong),)))
        except ValueError:
            refused += 1
            continue
        play_whatever_comes(env, 3)
    assert refused > 20
    env.load(state)
    env.step(env.action_space.sample())


PLAYS = [("LunarLander-v3", {"enable_wind": True}), ("BipedalWalkerHardcore-v3", {}),
         ("CarRacing-v3", {"domain_randomize": True})]


@pytest.mark.parametrize(("id", "options"), PLAYS)
def test_edited_states(id, options):
    # most numbers are of the tree of shapes, and of the track
    assert_edits_are_harmless(lambda: played(id, 20, **options), 40, 2)


@pytest.mark.parametrize("id", ["LunarLander-v3", "BipedalWalker-v3", "CarRacing-v3"])
def test_states_without_a_world(id):
    """Such a state is saved after a step that failed; nothing is seen of it, and a step of it fails, too."""
    env = started(make(id, autoreset_mode="Disabled", render_mode="rgb_array"))
    state = env.save()
    with pytest.raises(ValueError, match="state: ready: expected 1 more bytes, got 0"):
        env.load(with_own(state, (b"",)))
    obs, _ = env.load(with_own(state, (b"\0",)))
    assert not obs.any()
    with pytest.raises(RuntimeError, match="render: expected a reset"):
        env.render()
    with pytest.raises(cypool.EnvError, match="a step without a world"):
        env.step(env.action_space.sample())
    assert env.save().rows[0]["own"] == (b"\0",)
    env.reset()


def test_corners_whose_hull_does_not_end():
    """Box2D would go around them for ever, and write behind its arrays."""
    env = started(make("BipedalWalkerHardcore-v3"))
    state = env.save()
    fields = fields_of(state)
    # a height of one rounding error, far outside
    flat = {"blocks[0].left": 0.1, "blocks[0].right": 999, "blocks[0].y": 99, "blocks[0].other_y": 99.000001}
    for changes in (flat, {"blocks[0].left": 50, "blocks[0].right": 50},
                    {"blocks[0].y": 1, "blocks[0].other_y": 1}):
        with pytest.raises(ValueError, match=r"state: blocks\[0\]: expected corners of a polygon, got"):
            env.load(edited(state, changes, fields))
    env = started(make("CarRacing-v3"))
    state = env.save()
    # a tile whose corners lie on one line, but for rounding
    beta, before = -0.54880323962888233, (-457.1425665980683, 48.481220841839125)
    corner = (-455.87679420181166, 47.707251906079385)
    tile = {f"track[{k}].{name}": value for k, point in ((5, before), (6, corner))
            for name, value in zip(("x", "y", "beta"), (*point, beta), strict=True)}
    with pytest.raises(ValueError, match=r"state: track\[6\]: expected corners of a polygon, got .* without a hull"):
        env.load(edited(state, tile))
    env.load(state)


def test_flames_that_are_too_old():
    """A picture computes their way since they were born."""
    env = started(make("LunarLander-v3"))
    for _ in range(5):
        env.step([2])
    state = env.save()
    with pytest.raises(ValueError, match=r"state: particles\[0\].born: expected 1099511626776 to 1099511627775, got 1"):
        env.load(edited(state, {"time": 2**40}))
    env.load(edited(state, {"time": 1000}))
    env.render()
    for _ in range(20):
        env.step([0])
    env.load(env.save())
    assert not [path for path in fields_of(env.save()) if path.startswith("particles[0]")]


def test_bodies_that_contacts_pull_together():
    """Box2D's solver asserts that they push."""
    env = make("BipedalWalker-v3")
    env.reset(seed=1)
    env.action_space.seed(0)
    for _ in attempts():
        assert not env.step(env.action_space.sample())[2][0]
        state = env.save()
        found = [path for path in fields_of(state) if path.endswith("normal_impulse")]
        if found:
            break
    path = found[0]
    with pytest.raises(ValueError, match=re.escape(f"state: {path}: expected 0 to ")):
        env.load(edited(state, {path: -1.0}))


test_bad_options = refuses([
    ("LunarLander-v3", {"gravity": 0}, ValueError, "gravity: expected .* between -12 and 0"),
    ("LunarLander-v3", {"gravity": -12.0}, ValueError, "gravity: expected .* between -12 and 0"),
    ("LunarLander-v3", {"gravity": 3}, ValueError, "gravity: expected"),
    ("LunarLander-v3", {"gravity": float("nan")}, ValueError, "gravity: expected"),
    ("LunarLander-v3", {"gravity": "much"}, TypeError, "gravity: expected"),
    ("LunarLander-v3", {"continuous": "yes"}, TypeError, "continuous: expected"),
    ("LunarLander-v3", {"enable_wind": 2}, TypeError, "enable_wind: expected"),
    ("LunarLander-v3", {"wind_power": 1e6}, ValueError, "wind_power: expected"),
    ("LunarLander-v3", {"wind_power": None}, TypeError, "wind_power: expected"),
    ("LunarLander-v3", {"turbulence_power": -1e6}, ValueError, "turbulence_power: expected"),
    ("LunarLander-v3", {"action_dtype": "int8"}, ValueError, "action_dtype: expected"),
    ("BipedalWalker-v3", {"hardcore": "no"}, TypeError, "hardcore: expected"),
    ("BipedalWalker-v3", {"fresh_world": 1.5}, TypeError, "fresh_world: expected"),
    ("BipedalWalker-v3", {"action_dtype": "float16"}, ValueError, "action_dtype: expected"),
    ("CarRacing-v3", {"lap_complete_percent": 95}, ValueError, "lap_complete_percent: expected"),
    ("CarRacing-v3", {"lap_complete_percent": "all"}, TypeError, "lap_complete_percent: expected"),
    ("CarRacing-v3", {"domain_randomize": "x"}, TypeError, "domain_randomize: expected"),
    ("CarRacing-v3", {"verbose": True}, ValueError, "verbose: not an option"),
])


@pytest.mark.parametrize(("name", "value"), [("wind_power", 25.0), ("turbulence_power", -0.5)])
def test_wind_beyond_what_is_recommended(name, value):
    with pytest.warns(RuntimeWarning, match=f"{name}: the recommended"):
        assert cypool.make_spec("LunarLander-v3", **{name: value}).options[name] == value


@pytest.mark.parametrize(("id", "action", "said"), [
    ("LunarLander-v3", [4], "action"), ("LunarLander-v3", [-1], "action"), ("LunarLander-v3", [[0.5, 0.5]], "action"),
    ("LunarLanderContinuous-v3", [[np.nan, 0]], "action"), ("LunarLanderContinuous-v3", [[0.0, 0, 0]], "action"),
    ("BipedalWalker-v3", [[np.inf, 0, 0, 0]], "action"), ("CarRacing-v3", [[0, 0, np.nan]], "action"),
    ("CarRacing-v3", [1], "action"),
])
def test_bad_actions(id, action, said):
    env = started(make(id))
    with pytest.raises((ValueError, TypeError), match=said):
        env.step(np.array(action))
    env.step(env.action_space.sample())


def test_no_picture_before_a_reset():
    for id in ("LunarLander-v3", "BipedalWalker-v3", "CarRacing-v3"):
        with pytest.raises(RuntimeError, match="reset"):
            make(id).render()


def test_a_pygame_that_draws_otherwise_is_an_error(monkeypatch):
    """CarRacing draws as pygame-ce does; pygame itself has other pixels at the edges of polygons."""
    pygame = pytest.importorskip("pygame")
    pictures.draw_numbers()
    monkeypatch.setattr(pygame.gfxdraw, "aapolygon", lambda *_: None)
    message = f"polygons like pygame-ce 2.5, got pygame-ce {pygame.version.ver}, whose pixels differ: pip unin"
    with pytest.raises(ImportError, match=f"^CarRacing: expected a pygame that draws {message}"):
        pictures.draw_numbers()
