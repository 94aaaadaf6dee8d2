"""Toy text: Gymnasium's bits, in all autoreset modes and with all options; Catch and NChain by their rules."""
import pickle
from contextlib import nullcontext

import gymnasium
import numpy as np
import pytest
from comparing import assert_same
from family_tests import continues, playing, refuses
from gymnasium.vector import AutoresetMode
from markers import often_slow, slow
from receiving import started

import cypool
from cypool.spec import Discrete, EnvSpec
from cypool.testing import check_parity

NUM = 6
MAP = ["SFFHF", "FSHFF", "FFFSG", "GFFFS"]
GAMES = [
    ("FrozenLake-v1", {}),
    ("FrozenLake-v1", {"is_slippery": False, "reward_schedule": (10, -2.5, 1)}),
    ("FrozenLake-v1", {"desc": MAP, "success_rate": 0.7, "reward_schedule": (10, -2, -1)}),
    ("FrozenLake-v1", {"success_rate": 0.1}),
    ("FrozenLake-v1", {"success_rate": 1.0}),
    ("FrozenLake-v1", {"success_rate": 0.0, "map_name": "8x8"}),
    ("FrozenLake8x8-v1", {}),
    ("CliffWalking-v1", {}),
    ("CliffWalkingSlippery-v1", {}),
    ("Taxi-v4", {}),
    ("Taxi-v4", {"is_rainy": True}),
    ("Taxi-v4", {"fickle_passenger": True, "fickle_probability": 0.9}),
    ("Taxi-v4", {"is_rainy": True, "fickle_passenger": True, "rainy_probability": 0.6}),
    ("Blackjack-v1", {}),
    ("Blackjack-v1", {"sab": False}),
    ("Blackjack-v1", {"sab": False, "natural": True}),
]
# at the cliff chance alone does not end an episode
CLIFFS = ("CliffWalking-v1", "CliffWalkingSlippery-v1")
MODES = list(AutoresetMode)


def parts(obs):
    return obs if isinstance(obs, tuple) else (obs,)


def need(id):
    if id not in gymnasium.registry:
        pytest.skip(f"Gymnasium {gymnasium.__version__} has no {id}")


def beside_the_cliff():
    """Has `check_parity` walk along it, mostly to the goal."""
    random = np.random.default_rng(1)
    return playing(lambda reference, actions: random.choice([0, 1, 1, 1, 1, 2], len(actions)))


def guided(reference, actions):
    """Actions that bring a taxi's passengers home now and then: by chance, but none that does nothing."""
    random = np.random.default_rng(int(actions.sum()))
    taxis = [env.unwrapped for env in reference.envs]
    choices = [np.flatnonzero(taxi.action_mask(taxi.s)) for taxi in taxis]
    return np.array([random.choice(found[-2:] if random.random() < 0.6 else found) for found in choices])


@pytest.mark.parametrize("id, options, mode", often_slow([(*game, mode) for game in GAMES for mode in MODES], 3))
def test_equals_gymnasium(id, options, mode):
    need(id)
    # a taxi seldom arrives before its limit of 200
    num_steps, seeds = (210, [123_456_789]) if id == "Taxi-v4" else (120, [0, 123_456_789])
    with beside_the_cliff() if id in CLIFFS else nullcontext():
        parity = check_parity(id, num_envs=NUM, num_steps=num_steps, seeds=seeds, autoreset_mode=mode,
                              num_threads=(0, 1, 2, 5)[MODES.index(mode)], **options)
    assert parity.num_episodes > 0


@pytest.mark.parametrize("num_threads", [2, *slow(0, 1, 5)])
@pytest.mark.parametrize("id", ["FrozenLake-v1", "CliffWalkingSlippery-v1", "Taxi-v4", "Blackjack-v1"])
def test_long_runs_equal_gymnasium(id, num_threads):
    need(id)
    with beside_the_cliff() if id in CLIFFS else nullcontext():
        check_parity(id, num_envs=NUM, num_steps=500, seeds=[11], num_threads=num_threads)


@pytest.mark.parametrize("options", [
    {"is_rainy": True, "fickle_passenger": True, "fickle_probability": 1.0}, *slow({})])
def test_taxis_that_arrive(options):
    need("Taxi-v4")
    with playing(guided):
        parity = check_parity("Taxi-v4", num_envs=NUM, num_steps=1500, seeds=[9], autoreset_mode="SameStep",
                              num_threads=1, **options)
    assert parity.num_terminated > 1


@pytest.mark.parametrize("alias, id", [("CliffWalking-v0", "CliffWalking-v1"), ("Taxi-v3", "Taxi-v4"),
                                       ("tabular/CliffWalking-v0", "CliffWalking-v1"),
                                       ("tabular/Blackjack-v0", "Blackjack-v1")])
def test_aliases(alias, id):
    one, other = (cypool.make(name, num_envs=3, seed=1) for name in (alias, id))
    assert one.env_spec.options == other.env_spec.options
    assert one.env_spec.max_episode_steps == other.env_spec.max_episode_steps
    assert_same(one.reset()[0], other.reset()[0])


def test_every_toy_text_id_of_gymnasium_is_there():
    ids = {id for id, spec in gymnasium.registry.items() if ".toy_text" in str(spec.entry_point)}
    assert ids and ids <= set(cypool.list_all_envs())


def test_environments_of_one_pool_share_a_table():
    options = [{}, {"is_slippery": False}, {"success_rate": 0.5}]
    env = cypool.make("FrozenLake-v1", num_envs=3, seed=4, env_options=options)
    alone = [cypool.make("FrozenLake-v1", seed=4 + i, **own) for i, own in enumerate(options)]
    for each in (env, *alone):
        each.reset()
    for t in range(300):
        obs, reward, *_ = env.step([t % 3] * 3)
        for i, one in enumerate(alone):
            want = one.step([t % 3])
            assert obs[i] == want[0][0] and reward[i] == want[1][0]


@pytest.mark.parametrize("desc", [MAP, tuple(MAP), [row.encode() for row in MAP], np.array(MAP),
                                  np.asarray(MAP, dtype="c"), [list(row) for row in MAP]])
def test_maps_in_any_form(desc):
    spec = cypool.make_spec("FrozenLake-v1", desc=desc)
    assert spec.options["desc"] == tuple(MAP) and spec.options["map_name"] is None
    assert spec.observation.n == 20


def test_random_maps():
    envs = [cypool.make("FrozenLake-v1", num_envs=2, map_name=None, seed=1) for _ in range(4)]
    maps = [env.env_spec.options["desc"] for env in envs]
    assert len(set(maps)) > 1 and all(len(rows) == 8 and rows[0][0] == "S" and rows[7][7] == "G" for rows in maps)
    # a copy has the map, it does not draw another one
    assert pickle.loads(pickle.dumps(envs[0])).env_spec.options == envs[0].env_spec.options
    each = cypool.make("FrozenLake-v1", num_envs=3, map_name=None, env_options=[{}] * 3)
    assert each.env_spec.observation.n == 64


test_wrong_options = refuses([
    ("FrozenLake-v1", {"desc": ["SFX"]}, ValueError, "^desc: expected rows .* of S, F, H and G"),
    ("FrozenLake-v1", {"desc": ["FFG"]}, ValueError, "^desc: .* at least one S"),
    ("FrozenLake-v1", {"desc": ["SF", "F"]}, ValueError, "^desc: .* equal length.*lengths .2, 1"),
    ("FrozenLake-v1", {"desc": []}, ValueError, "^desc"),
    ("FrozenLake-v1", {"desc": [""]}, ValueError, "^desc"),
    ("FrozenLake-v1", {"desc": "SFFG"}, TypeError, "^desc"),
    ("FrozenLake-v1", {"desc": 4}, TypeError, "^desc"),
    ("FrozenLake-v1", {"desc": [4, 4]}, TypeError, "^desc: expected rows.*got 4"),
    ("FrozenLake-v1", {"desc": [[1, 2]]}, TypeError, "^desc"),
    ("FrozenLake-v1", {"map_name": "5x5"}, ValueError, "^map_name: expected '4x4', '8x8' or None, got '5x5'"),
    ("FrozenLake-v1", {"map_name": ["4x4"]}, ValueError, "^map_name"),
    ("FrozenLake-v1", {"is_slippery": 1}, TypeError, "^is_slippery"),
    ("FrozenLake-v1", {"success_rate": 1.1}, ValueError, "^success_rate: expected 0 to 1, got 1.1"),
    ("FrozenLake-v1", {"success_rate": float("nan")}, ValueError, "^success_rate"),
    ("FrozenLake-v1", {"reward_schedule": (1, 0)}, TypeError, "^reward_schedule: expected three numbers"),
    ("FrozenLake-v1", {"reward_schedule": (1, 0, "0")}, TypeError, "^reward_schedule"),
    ("CliffWalking-v1", {"is_slippery": None}, TypeError, "^is_slippery"),
    ("Taxi-v4", {"is_rainy": "yes"}, TypeError, "^is_rainy"),
    ("Taxi-v4", {"fickle_passenger": 0}, TypeError, "^fickle_passenger"),
    ("Taxi-v4", {"rainy_probability": -0.1}, ValueError, "^rainy_probability"),
    ("Taxi-v4", {"fickle_probability": 2}, ValueError, "^fickle_probability"),
    ("Blackjack-v1", {"natural": 1}, TypeError, "^natural"),
    ("Blackjack-v1", {"sab": 1}, TypeError, "^sab"),
    ("Catch-v0", {"height": 1}, ValueError, "^height: expected 2 to 1000, got 1"),
    ("Catch-v0", {"width": 0}, ValueError, "^width"),
    ("NChain-v0", {"n": 0}, ValueError, "^n: expected 1"),
    ("NChain-v0", {"slip": 1.5}, ValueError, "^slip"),
    ("NChain-v0", {"small": "2"}, TypeError, "^small"),
    ("NChain-v0", {"large": float("nan")}, ValueError, "^large"),
])


test_what_is_saved_goes_on_as_it_did = continues(
    [(id, mode, options) for mode in ("NextStep", "SameStep")
     for id, options in [*GAMES, ("Catch-v0", {"height": 7}), ("NChain-v0", {"slip": 0.5})]],
    before=20, after=40, least=0, num_threads=1)


@pytest.mark.parametrize("height, width", [(10, 5), (2, 1), (4, 4), (3, 6)])
def test_catch(height, width):
    env = cypool.make("Catch-v0", num_envs=NUM, seed=0, height=height, width=width)
    board, _ = env.reset()
    assert board.shape == (NUM, height, width) and board.dtype == np.float32
    random = np.random.default_rng(0)
    over, starts = np.ones(NUM, bool), set()
    ball, paddle = np.zeros((NUM, 2), int), np.zeros(NUM, int)
    reward, terminated = np.zeros(NUM), np.zeros(NUM, bool)
    for _ in range(600):
        for i in range(NUM):
            if over[i]:
                ball[i], paddle[i] = (0, board[i, 0].argmax()), width // 2
                starts.add(ball[i, 1])
            want = np.zeros((height, width), np.float32)
            want[tuple(ball[i])] = want[height - 1, paddle[i]] = 1
            end = ball[i, 0] == height - 1
            assert (board[i] == want).all() and terminated[i] == end
            assert reward[i] == (0 if not end else 1 if ball[i, 1] == paddle[i] else -1)
        over = terminated
        actions = random.integers(0, 3, NUM)
        board, reward, terminated, truncated, _ = env.step(actions)
        ball[:, 0] += 1
        paddle = np.clip(paddle + actions - 1, 0, width - 1)
        assert not truncated.any()
    assert starts == set(range(width))
    # the stream: one integer for each episode
    twin = np.random.default_rng(5)
    env = cypool.make("Catch-v0", seed=5, height=height, width=width)
    for _ in range(20):
        assert env.reset()[0][0, 0].argmax() == twin.integers(0, width)


@pytest.mark.parametrize("n, slip, small, large", [(5, 0.2, 2, 10), (1, 0.5, -1, 3), (7, 0.0, 0, 1), (3, 1.0, 1, 2)])
def test_nchain(n, slip, small, large):
    env = cypool.make("NChain-v0", seed=8, n=n, slip=slip, small=small, large=large)
    assert env.reset()[0] == [0]
    twin, random, state, steps = np.random.default_rng(8), np.random.default_rng(0), 0, 0
    for _ in range(2500):
        action = random.integers(0, 2) if slip else 0
        obs, reward, terminated, truncated, _ = env.step([action])
        if steps == 1000:
            assert obs == [0] and reward == [0] and not truncated
            state = steps = 0
            continue
        steps += 1
        want = 0
        if action ^ (twin.random() < slip):
            state, want = 0, small
        elif state == n - 1:
            want = large
        else:
            state += 1
        assert obs == [state] and reward == [want] and not terminated and truncated == [steps == 1000]


def test_the_tuple_in_all_apis():
    options = {"num_envs": 4, "num_threads": 1, "seed": 6}
    env = cypool.make("Blackjack-v1", **options)
    gym, dm = (cypool.make("Blackjack-v1", api, **options) for api in ("gym", "dm"))
    buffers = cypool.make("Blackjack-v1", **options).rollout_buffers(5)
    assert isinstance(buffers.obs, tuple) and [part.shape for part in buffers.obs] == [(5, 4)] * 3
    out = cypool.make("Blackjack-v1", **options)
    obs, _ = env.reset()
    assert_same(obs, gym.reset())
    first = dm.reset()
    assert_same(obs, first.observation.obs)
    specs = dm.observation_spec().obs
    assert isinstance(specs, tuple) and [spec.num_values for spec in specs] == [32, 11, 2]
    assert gym.observation_space == env.single_observation_space
    out.reset()
    for t in range(5):
        want = env.step([1, 0, 1, 0])
        assert_same(gym.step([1, 0, 1, 0])[0], want[0])
        assert_same(dm.step([1, 0, 1, 0]).observation.obs, want[0])
        got = out.step([1, 0, 1, 0], out=buffers[t])
        assert_same(got[:4], want[:4])
        for part, other in zip(buffers.next_obs, want[0], strict=True):
            assert part[t].tobytes() == other.tobytes()
        assert np.shares_memory(got[0][2], buffers.next_obs[2])
    some, _ = env.reset([2, 0])
    assert [part.shape for part in some] == [(2,)] * 3
    arrays = [np.zeros(4, np.int64) for _ in range(3)]
    flags = [np.zeros(4), np.zeros(4, bool), np.zeros(4, bool)]
    for wrong in (arrays[0], arrays[:2], {0: arrays[0]}):
        with pytest.raises(TypeError, match="^out: expected a tuple of 3 arrays as the observation"):
            out.step([0] * 4, out=(wrong, *flags))
    with pytest.raises(ValueError, match="^out: expected observation 0 as a writeable"):
        out.step([0] * 4, out=((arrays[0].astype(np.int32), *arrays[1:]), *flags))


def test_asynchronous_tuples():
    env = cypool.make("Blackjack-v1", num_envs=4, batch_size=2, num_threads=2, seed=0)
    env.async_reset()
    for _ in range(50):
        obs, _, _, _, info = env.recv()
        assert isinstance(obs, tuple) and all(part.shape == (2,) for part in obs)
        assert all(env.single_observation_space.contains(row) for row in zip(*obs, strict=True))
        env.send([1, 0], info["env_id"])


def test_an_empty_tuple_is_no_observation():
    with pytest.raises(ValueError, match="^observation: expected at least one array"):
        EnvSpec(observation=(), action=Discrete(2))


@pytest.mark.parametrize("id, options", [
    ("FrozenLake-v1", {"desc": MAP}), ("CliffWalking-v1", {}), ("Taxi-v4", {}), ("Blackjack-v1", {}),
    *slow(("FrozenLake-v1", {}), ("FrozenLake8x8-v1", {}), ("Taxi-v4", {"is_rainy": True}))])
def test_pictures_equal_gymnasium(monkeypatch, id, options):
    need(id)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = cypool.make(id, num_envs=2, seed=3, autoreset_mode="NextStep", render_mode="rgb_array", **options)
    reference = gymnasium.make_vec(id, num_envs=2, vectorization_mode="sync", render_mode="rgb_array", **options)
    assert env.metadata["render_fps"] == reference.envs[0].metadata["render_fps"]
    env.reset()
    reference.reset(seed=3)
    random = np.random.default_rng(0)
    for _ in range(60 if id == "Taxi-v4" else 15):
        for mine, other in zip(env.render(), reference.render(), strict=True):
            assert mine.dtype == np.uint8 and mine.shape == other.shape and (mine == other).all()
        actions = random.integers(0, env.single_action_space.n, 2)
        if id == "Taxi-v4":
            actions = guided(reference, actions)
        env.step(actions)
        reference.step(actions)
    assert env.render([1]).shape == (1, *mine.shape)


@pytest.mark.parametrize("id, options", [
    ("FrozenLake-v1", {"desc": MAP}), ("FrozenLake8x8-v1", {}), ("CliffWalking-v1", {}), ("Taxi-v4", {}),
    ("Taxi-v4", {"is_rainy": True, "fickle_passenger": True})])
def test_texts_equal_gymnasium(id, options):
    need(id)
    limit = 40
    env = cypool.make(id, num_envs=3, seed=3, render_mode="ansi", max_episode_steps=limit, **options)
    reference = gymnasium.make_vec(id, num_envs=3, vectorization_mode="sync", render_mode="ansi",
                                   max_episode_steps=limit, **options)
    assert env.render_mode == "ansi" and env.metadata["render_modes"] == ["rgb_array", "ansi"]
    env.reset()
    reference.reset(seed=3)
    random = np.random.default_rng(0)
    for _ in range(2 * limit + 10):
        texts = env.render()
        assert texts == reference.render() and texts[::-1] == env.render([2, 1, 0])
        actions = random.integers(0, env.single_action_space.n, 3)
        if id == "Taxi-v4":
            actions = guided(reference, actions)
        env.step(actions)
        reference.step(actions)


def test_a_text_after_load_names_the_last_action():
    env, other = (cypool.make("Taxi-v4", num_envs=2, seed=3, render_mode="ansi") for _ in range(2))
    env.reset()
    env.step([4, 5])
    other.load(env.save())
    assert other.render() == env.render()
    assert [text.splitlines()[-1] for text in env.render()] == ["  (Pickup)", "  (Dropoff)"]


def test_texts_need_no_pygame(run_forked, tmp_path):
    (tmp_path / "pygame.py").write_text("raise ImportError('not here')")
    code = "import cypool\nenv = cypool.make('Taxi-v4', seed=0, render_mode='ansi')\nenv.reset()\nprint(*env.render())"
    assert "+---------+" in run_forked(code, cwd=tmp_path).stdout


def test_a_picture_of_catch():
    env = cypool.make("Catch-v0", num_envs=2, seed=0)
    obs, _ = env.reset()
    (picture, _), squares = env.render(), obs[0].repeat(16, 0).repeat(16, 1)
    assert picture.shape == (160, 80, 3) and (picture == 255 * squares[..., None].astype(np.uint8)).all()


@pytest.mark.parametrize("n", [1, 5, 64, 65, 300])
def test_a_picture_of_a_chain(n):
    env = started(cypool.make("NChain-v0", seed=0, n=n, slip=0))
    for t in range(n + 1):
        (picture,) = env.render()
        state, shown = min(t, n - 1), min(n, 64)
        assert picture.shape == (16, 16 * shown, 3)
        lit = (picture[8, ::16, 0] == 255).tolist()
        assert sum(lit) == 1 and lit.index(True) == state - min(max(state - 32, 0), n - shown)
        env.step([0])


def test_without_pygame_the_picture_says_what_to_install(run_forked, tmp_path):
    (tmp_path / "pygame.py").write_text("raise ImportError('not here')")
    code = "import cypool\nenv = cypool.make('Taxi-v4', seed=0)\nenv.reset()\nenv.render()"
    done = run_forked(code, cwd=tmp_path)
    assert "ImportError: render: " in done.stderr and "pip install pygame" in done.stderr
