"""Procgen: the library's bits, last pictures, states, levels, bad input; the library and its pictures."""
import ctypes
import hashlib
import os
import pickle
import struct
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from family_tests import continues, refuses
from heap import heap_bytes
from markers import often_exhaustive
from pool_arguments import MODES
from state_edits import edges, with_own

import cypool
from cypool.envs.procgen import games, library
from cypool.envs.procgen.games import GAMES, limit_of
from cypool.envs.procgen.levels import play_level
from cypool.envs.shared.packages import wheels
from cypool.registration.registry import known_entries
from cypool.testing import check_env, check_parity
from cypool.tools.cli import main

if not library.is_there():
    pytest.skip("procgen is not there: cypool get procgen", allow_module_level=True)
from cypool.envs.procgen.reference import Batch

PAIRS = [(game, mode) for game in GAMES for mode in GAMES[game].modes]
OPTIONS = [
    {"use_backgrounds": False}, {"restrict_themes": True}, {"use_monochrome_assets": True}, {"paint_vel_info": True},
    {"center_agent": False}, {"use_generated_assets": True}, {"num_levels": 3, "start_level": 500}, {"debug_mode": 14},
    {"use_sequential_levels": True, "max_episode_steps": 40, "distribution_mode": "easy"},
    {"max_episode_steps": 9, "paint_vel_info": True, "use_monochrome_assets": True, "use_backgrounds": False},
]


def envpool_id(game, mode):
    return f"{game.capitalize()}{mode.capitalize()}-v0"


def started(game="coinrun", num_envs=1, num_steps=0, seed=1, **options):
    env = cypool.make(f"procgen-{game}-v0", num_envs=num_envs, num_threads=0, seed=seed, **options)
    env.reset()
    for action in np.random.default_rng(seed).integers(15, size=(num_steps, num_envs)):
        env.step(action)
    return env


def parity(id, num_steps, num_envs=2, seed=5, **options):
    return check_parity(id, num_envs=num_envs, num_steps=num_steps, seeds=[seed], num_threads=0,
                        autoreset_mode="SameStep", **options)


def test_ids():
    ids = {entry.id for entry in known_entries() if entry.entry_point.endswith(":Procgen")}
    assert ids == {envpool_id(*pair) for pair in PAIRS} | {f"procgen-{game}-v0" for game in GAMES} and len(PAIRS) == 50
    spec = cypool.make_spec("procgen-maze-v0")
    assert (spec.max_episode_steps, spec.options["distribution_mode"], spec.observation.shape) == (
        500, "hard", (64, 64, 3))
    spec = cypool.make_spec("JumperMemory-v0")
    assert (spec.max_episode_steps, spec.options["batch_seeds"], spec.observation.shape) == (2000, True, (3, 64, 64))
    assert cypool.make_spec("procgen-maze-v0", use_sequential_levels=True).max_episode_steps is None


def test_parity(capfd):
    """Of all pairs of game and mode, as a batch with EnvPool's ids; nothing is printed."""
    episodes = sum(parity(envpool_id(*pair), 60, num_envs=2).num_episodes for pair in PAIRS)
    assert episodes > 20 and capfd.readouterr() == ("", "")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_parity_with_options(options):
    for game in ("coinrun", "leaper", "ninja"):
        parity(f"procgen-{game}-v0", 80, **options)


@pytest.mark.slow
@pytest.mark.parametrize("game, mode", often_exhaustive(PAIRS, 4))
def test_parity_for_longer(game, mode):
    parity(f"procgen-{game}-v0", 700, distribution_mode=mode)
    parity(envpool_id(game, mode), 700, seed=2**31 - 3)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("game, mode", PAIRS)
def test_parity_for_long(game, mode):
    for id, options in ((f"procgen-{game}-v0", {"distribution_mode": mode}), (envpool_id(game, mode), {})):
        check_parity(id, num_envs=4, num_steps=1000, seeds=[0, 1, 2], autoreset_mode="SameStep", **options)


def painters_differ(id, num_steps, seed=3, **options):
    """Returns how many pictures of ours differ from the library's, of two environments."""
    envs = [cypool.make(id, num_envs=2, num_threads=0, seed=seed, painter=painter, **options)
            for painter in ("cypool", "library")]
    ours, theirs = (env.reset()[0] for env in envs)
    random, differ, held = np.random.default_rng(seed), 0, [4, 4]
    for _ in range(num_steps):
        differ += int((ours != theirs).any(axis=(1, 2, 3)).sum())
        # also nothing at all, so that the view stands still
        if random.random() < 0.3:
            held = random.integers(15, size=2) if random.random() < 0.7 else [4, 4]
        ours, theirs = (env.step(held)[0] for env in envs)
    return differ


@pytest.mark.parametrize("game", GAMES)
def test_pictures(game):
    """The parity tests compare them, too, but in the modes and options that they have."""
    for mode in GAMES[game].modes[:4]:
        assert painters_differ(f"procgen-{game}-v0", 40, distribution_mode=mode) == 0


def test_pictures_of_random_shapes():
    """Straight, mirrored and turned ones, over backgrounds of shapes."""
    for game in ("bossfight", "heist", "leaper", "climber"):
        assert painters_differ(f"procgen-{game}-v0", 40, use_generated_assets=True) == 0


def test_mirrored_sprites_are_shared():
    """The library has separate copies for each environment, here of 0.7 MB."""
    kept = started("coinrun", 8, 60)
    before = heap_bytes()
    again = started("coinrun", 8, 60)
    assert (heap_bytes() - before) / 8 < 300_000
    kept.close()
    assert np.array_equal(again.render()[0], started("coinrun", 8, 60).render()[0])


def test_games_that_share_sprites_come_and_go_in_threads():
    """Also where the library draws, which reads the mirrored copies."""
    actions = np.random.default_rng(0).integers(15, size=(30, 6))

    def played(num_threads, seed):
        digest = hashlib.sha256()
        with cypool.make("procgen-climber-v0", num_envs=6, num_threads=num_threads, painter="library") as env:
            for part in np.split(actions, 3):
                # a seed makes other games in the place of the old ones
                digest.update(env.reset(seed=seed)[0])
                for row in part:
                    digest.update(env.step(row)[0])
        return digest.digest()

    alone = [played(0, seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        for num_threads in (0, 1, 2, 5):
            assert list(threads.map(played, [num_threads] * 4, range(4))) == alone


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("options", often_exhaustive([{}, *OPTIONS[:6]], 3), ids=str)
def test_many_pictures(game, options):
    assert painters_differ(f"procgen-{game}-v0", 400, seed=7, **options) == 0


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("game, mode", PAIRS)
def test_very_many_pictures(game, mode):
    for seed in range(3):
        assert painters_differ(envpool_id(game, mode), 2500, seed=seed) == 0


def test_the_reference_has_one_mode():
    with pytest.raises(ValueError, match="autoreset_mode: expected 'SameStep', procgen's only mode"):
        check_parity("procgen-maze-v0", num_steps=5)
    with pytest.raises(ValueError, match="max_episode_steps: expected None with batch_seeds"):
        parity("MazeEasy-v0", 5, max_episode_steps=7)


def test_the_command_line_compares_in_that_mode(capsys):
    assert main(["check", "procgen-maze-v0", "--only", "parity", "--num-steps", "20", "--seeds", "1"]) == 0
    assert "matches procgen 0.10.7 byte for byte" in " ".join(capsys.readouterr().out.split())


def test_seeds():
    """Environment i is a batch of one with the next seed; or it is the i-th of a batch."""
    options = dict(cypool.make_spec("procgen-leaper-v0").options)
    single = [Batch(1, 7 + k, options) for k in range(3)]
    batch = Batch(3, 7, options)
    env, other = started("leaper", 3, seed=7), started("leaper", 3, seed=7, batch_seeds=True)
    for _ in range(2):
        seeds = env.reset(seed=7)[1]["level_seed"], other.reset(seed=7)[1]["level_seed"]
        assert seeds[0].tolist() == [int(each.infos["level_seed"][0]) for each in single]
        assert seeds[1].tolist() == batch.infos["level_seed"].tolist()
    for each in (*single, batch):
        each.close()
    fresh = {int(started("leaper", seed=None).save().rows[0]["own"][2]) for _ in range(3)}
    assert len(fresh) == 3
    for seed in (-1, 2**31):
        with pytest.raises(ValueError, match="seed: expected at least 0 and at most 2147483647 for every env"):
            env.reset(seed=[0, 1, seed])


def with_late_limit(batch, env_name):
    """Moves the time limit of a batch of one away, in the library's own state."""
    size = 1 << 20
    state = ctypes.create_string_buffer(size)
    length = batch._library.get_state(batch._handle, 0, state, size)
    at = 4 + 4 + len(env_name) + 4 * (12 + 5)
    for _ in range(2):
        # whether the stream is seeded, and the stream as a text
        at += 8 + struct.unpack_from("<i", state, at + 4)[0]
    at += 4 * 4
    assert struct.unpack_from("<i", state, at)[0] == limit_of(env_name, "hard")
    struct.pack_into("<i", state, at, 10**6)
    batch._library.set_state(batch._handle, 0, state, length)


def last_picture(game, seed, random, **options):
    """Compares the last picture of an episode that the time limit ends with the picture without the limit."""
    env = started(game, seed=seed, autoreset_mode="SameStep", **options)
    theirs = Batch(1, seed, dict(env.env_spec.options))
    limit = env.env_spec.max_episode_steps
    compared = steps = 0
    held = 4
    while not compared and steps < 5 * limit:
        level_began = steps
        for _ in range(limit):
            held = int(random.integers(15)) if random.random() < 0.1 else held
            # a player that stands still lives longer
            action = 4 if random.random() < 0.7 else held
            if steps - level_began == limit - 1:
                with_late_limit(theirs, game)
            *_, terminated, truncated, info = env.step([action])
            theirs.act(action)
            steps += 1
            if truncated[0] and not terminated[0]:
                assert not theirs.first[0] and np.array_equal(info["final_obs"][0], theirs.picture[0])
                compared += 1
            if truncated[0] or terminated[0]:
                break
    theirs.close()
    return compared


def test_last_pictures():
    random = np.random.default_rng(0)
    assert sum(last_picture(game, 3, random) for game in ("maze", "jumper", "leaper")) == 3


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_many_last_pictures(game):
    """At the game's own limit; in games where chance does not live that long, at an earlier one of cypool."""
    lives = ("caveflyer", "climber", "coinrun", "heist", "jumper", "leaper", "maze", "miner")
    options = {} if game in lives else {"max_episode_steps": 30}
    random = np.random.default_rng(1)
    assert sum(last_picture(game, seed, random, **options) for seed in range(80)) > 62


def test_pictures_for_people():
    env = started("ninja", 2, 30)
    before = env.save()
    drawn = env.render()
    assert drawn[0].shape == (512, 512, 3) and drawn[0].std() > 0 and not np.array_equal(*drawn)
    assert pickle.dumps(env.save()) == pickle.dumps(before) and np.array_equal(env.render()[0], drawn[0])
    # no observation changes
    other = started("ninja", 2, 30)
    for action in range(15):
        assert np.array_equal(env.step([action] * 2)[0], other.step([action] * 2)[0])
        env.render()


@pytest.mark.parametrize("id, options", [("procgen-leaper-v0", {}), ("BigfishHard-v0", {}), (
    "procgen-maze-v0", {"use_sequential_levels": True, "distribution_mode": "easy"})])
def test_contract(id, options):
    report = check_env(id, num_envs=2, num_steps=15, **options)
    assert len(report.passed) == 8 and report.num_episodes > 4


test_states_go_on = continues([("procgen-bossfight-v0", mode, {}) for mode in MODES], before=20, after=30,
                              max_episode_steps=15)
# a level that follows another one, and pictures of random shapes, with which the library itself saves nothing
test_states_and_copies = continues([
    ("procgen-bigfish-v0", "NextStep", {"use_sequential_levels": True, "distribution_mode": "easy"}),
    ("procgen-bigfish-v0", "NextStep", {"use_generated_assets": True})], before=150, after=80, least=0)


def test_a_pool_that_was_never_reset():
    state = started("maze", 1, 20).save()
    env, other = (cypool.make("procgen-maze-v0", num_threads=0, seed=k) for k in range(2))
    env.load(state)
    other.load(env.save())
    assert np.array_equal(env.step([1])[0], other.step([1])[0])


def numbers_changed(own, random):
    own, k = list(own), int(random.integers(len(own)))
    if isinstance(own[k], bytes):
        data = bytearray(own[k] or b"\4")
        for _ in range(int(random.integers(1, 4))):
            data[int(random.integers(len(data)))] = int(random.choice([0, 4, 9, 14, 15, 128, 255]))
        own[k] = bytes(data[:int(random.integers(len(data) + 1))] if random.random() < 0.2 else data)
        own[k] *= int(random.choice([1, 1, 1, 2, 40]))
    elif isinstance(own[k], bool):
        own[k] = random.choice([1, None, not own[k]])
    else:
        inside, beyond = edges("i", 0, 624 if k == 1 else 8)
        own[k] = random.choice([*inside, *beyond, own[k] + 1, 3, 5.0, "7", None, 2**40])
        own[k] = own[k].item() if isinstance(own[k], np.generic) else own[k]
    return tuple(own)


def mutated(count, seed):
    random, played = np.random.default_rng(seed), 0
    names = ["coinrun", "starpilot", "maze", "dodgeball", "caveflyer"]
    for k in range(count):
        if k % 50 == 0:
            env = started(names[k // 50 % 5], 1, 30, seed=k)
            state = env.save()
        try:
            env.load(with_own(state, numbers_changed(state.rows[0]["own"], random)))
        except (TypeError, ValueError) as error:
            assert "env 0 cannot load: " in str(error)
            continue
        played += 1
        for action in random.integers(15, size=(12, 1)):
            env.step(action)
        env.load(env.save())
    return played


def test_mutated_states():
    assert 30 < mutated(150, 0) < 140


@pytest.mark.slow
def test_a_thousand_mutated_states():
    assert 200 < mutated(1000, 1) < 950


@pytest.mark.parametrize("k, value, message", [
    (0, b"", r"state\[0\]: expected 2496 bytes, got 0"), (0, bytes(2496), r"state\[0\]: expected a stream that is not"),
    (1, 625, r"state\[1\]: expected 0 to 624, got 625"), (2, 2**31, r"state\[2\]: expected -2147483648 to 2147483647"),
    (4, 9, r"state\[4\]: expected 0 to 8, got 9"), (5, 2, r"state\[5\]: expected True or False"),
    (6, b"\xff", r"state\[6\]: expected at most 1000 actions, each below 15, got 1, the highest being 255"),
    (6, bytes(1001), r"state\[6\]: expected at most 1000 actions"), (6, "text", r"state\[6\]: expected bytes"),
])
def test_refused_states(k, value, message):
    env = started("coinrun", 1, 5)
    state = env.save()
    own = state.rows[0]["own"]
    with pytest.raises(ValueError, match=f"env 0 cannot load: .*{message}"):
        env.load(with_own(state, (*own[:k], value, *own[k + 1:])))
    assert env.load(state)[0].any()
    env.step([4])


def test_actions_after_the_end_of_a_level_are_refused():
    env = started("bossfight", seed=2)
    taken = []
    for _ in range(env.env_spec.max_episode_steps):
        taken.append(len(taken) % 15)
        _, _, terminated, truncated, _ = env.step([taken[-1]])
        if terminated[0] or truncated[0]:
            break
    state = env.save()
    own = state.rows[0]["own"]
    assert own[6] == bytes(taken) and env.load(state)
    with pytest.raises(ValueError, match=r"state\[6\]: expected the actions of one level, got actions after its end"):
        env.load(with_own(state, (*own[:6], own[6] + b"\4")))
    env.reset()
    env.step([4])


def test_states_of_others_are_refused():
    state = started("maze").save()
    with pytest.raises(ValueError, match="state: expected a state of procgen-coinrun-v0"):
        started("coinrun").load(state)


def test_play_level():
    env, one = started("coinrun", 3), started("coinrun", num_levels=1, start_level=77, seed=9)
    before = env.save()
    obs, info = play_level(env, [5, 77, 9])
    assert info["level_seed"].tolist() == [5, 77, 9] and info["elapsed_step"].tolist() == [0, 0, 0]
    assert info["prev_level_seed"].tolist() == [row["own"][2] for row in before.rows]
    want = one.reset()[0]
    for action in np.random.default_rng(0).integers(15, size=30):
        assert np.array_equal(obs[1], want[0])
        obs, want = env.step([action] * 3)[0], one.step([action])[0]
    # the next levels are those without `play_level`
    levels = env.reset()[1]["level_seed"]
    env.load(before)
    assert np.array_equal(env.reset()[1]["level_seed"], levels)
    assert play_level(env, 12, [2])[1]["level_seed"].tolist() == [12]
    for level, error, message in ((-1, ValueError, "level_seed: expected 0 to"), ("5", TypeError, "level_seed: expect"),
                                  ([1, 2], ValueError, "level_seed: expected one seed for each of 3 envs, got 2"),
                                  (1.5, TypeError, "level_seed: expected an int or a sequence")):
        with pytest.raises(error, match=message):
            play_level(env, level)
    with pytest.raises(ValueError, match="env: expected a pool of Procgen environments, got CartPole-v1"):
        play_level(cypool.make("CartPole-v1"), 3)


def test_reset_at_a_level():
    env, one = started("coinrun", 2, seed=4), started("coinrun", num_levels=1, start_level=77)
    obs, info = env.reset(options={"level_seed": 77})
    assert info["level_seed"].tolist() == [77, 77]
    want = one.reset()[0]
    for action in np.random.default_rng(0).integers(15, size=30):
        assert np.array_equal(obs[1], want[0])
        obs, want = env.step([action] * 2)[0], one.step([action])[0]
    # the stream stays where it is, also if a seed begins it
    plain = started("coinrun", 2, seed=4)
    levels = plain.reset()[1]["level_seed"]
    assert np.array_equal(env.reset()[1]["level_seed"], levels)
    assert env.reset(env_id=[1], seed=5, options={"level_seed": 0})[1]["level_seed"].tolist() == [0]
    plain.reset(env_id=[1], seed=5)
    assert np.array_equal(env.reset()[1]["level_seed"], plain.reset()[1]["level_seed"])
    for options, error, message in (
            ({"level_seed": -1}, ValueError, "level_seed: expected 0 to"),
            ({"level_seed": 2**31}, ValueError, "level_seed: expected 0 to"),
            ({"level_seed": 1.5}, TypeError, "level_seed: expected an int"),
            ({"level": 1}, ValueError, "options: expected level_seed or reset_mask, got")):
        with pytest.raises(error, match=message):
            env.reset(options=options)


def test_sequential_levels():
    """A completed level is no end: the next one is 997 further."""
    env = started("maze", 8, use_sequential_levels=True, distribution_mode="easy", num_levels=1, start_level=0)
    random, seen = np.random.default_rng(0), 0
    for _ in range(600):
        _, reward, terminated, truncated, info = env.step(random.choice([1, 3, 5, 7], size=8))
        rows = info["prev_level_complete"] == 1
        seen += int(rows.sum())
        assert (info["level_seed"][rows] == info["prev_level_seed"][rows] + 997).all() and not terminated[rows].any()
        assert not truncated[rows].any() and (reward[rows] > 0).all()
    assert seen > 0


test_bad_options = refuses([
    ({"env_name": "nope"}, "env_name: expected one of 'bigfish', "), ({"env_name": ""}, "env_name: expected one of"),
    ({"env_name": "coinrun,maze"}, "env_name: expected one"), ({"env_name": "coinrun_old"}, "env_name: expected one"),
    ({"distribution_mode": "extreme"}, "distribution_mode: expected one of 'easy', 'hard', 'exploration' for coinrun"),
    ({"distribution_mode": "memory"}, "distribution_mode: expected one of 'easy', 'hard', 'exploration' for coinrun"),
    ({"distribution_mode": 7}, "distribution_mode: expected one of"), ({"num_levels": -1}, "num_levels: expected 0 to"),
    ({"start_level": -1}, "start_level: expected 0 to"), ({"num_levels": 2.0}, "num_levels: expected an int, got 2.0"),
    ({"start_level": 2**31 - 1, "num_levels": 9}, "start_level: expected at most 2147483638 with num_levels=9"),
    ({"distribution_mode": "exploration", "num_levels": 3}, "num_levels: expected 0 with distribution_mode='explora"),
    ({"distribution_mode": "exploration", "start_level": 3}, "start_level: expected 0 with distribution_mode='expl"),
    ({"paint_vel_info": 3}, "paint_vel_info: expected True or False, got 3"),
    ({"use_backgrounds": None}, "use_backgrounds: expected True or False"),
    ({"debug_mode": -1}, "debug_mode: expected 0 to 15, got -1"), ({"debug_mode": 16}, "debug_mode: expected 0 to 15"),
    ({"painter": "qt"}, "painter: expected one of 'cypool', 'library', got 'qt'"),
    ({"procgen_path": 5}, "procgen_path: expected a path, got 5"), ({"num_actions": 0}, "num_actions: not an option"),
    ({"rand_seed": -5}, "rand_seed: not an option of procgen-coinrun-v0 .did you mean seed"),
    ({"procgen_path": "/nowhere"}, "procgen_path: expected procgen's folder, got '/nowhere'"),
], "procgen-coinrun-v0")


@pytest.mark.parametrize("action", [15, 99, -1, -2, -9, 2**31 - 1, -2**31])
def test_bad_actions(action):
    env = started("starpilot")
    with pytest.raises(ValueError, match="action"):
        env.step([action])
    env.step([14])


@pytest.mark.parametrize("options", [
    {"num_levels": 2**31 - 1}, {"start_level": 2**31 - 2, "num_levels": 1}, {"num_levels": 1},
    {"start_level": 2**31 - 1}, {"use_monochrome_assets": True, "use_generated_assets": True},
])
def test_options_at_their_edges(options):
    env = started("chaser", 2, 20, **options)
    assert 0 <= env.reset()[1]["level_seed"].min()


def test_what_would_end_the_process_is_an_error(monkeypatch):
    """The library calls exit: its sentence is the error, and others play on."""
    bystander, twin = started("maze", 2, 5), started("maze", 2, 5)
    with monkeypatch.context() as patch:
        patch.setitem(games.MODE_NUMBERS, "easy", 7)
        for _ in range(2):
            with pytest.raises(cypool.EnvError, match="RuntimeError: procgen's library: .*distribution_mode"):
                started("coinrun", distribution_mode="easy")
        env = cypool.make("procgen-coinrun-v0", num_envs=2, num_threads=0, seed=0, distribution_mode="easy")
        with pytest.raises(RuntimeError):
            env.render()
        with pytest.raises(cypool.EnvError):
            env.reset()
        for call in (env.save, env.render, lambda: env.copy(0, 1)):
            with pytest.raises(RuntimeError):
                call()
        with pytest.raises(cypool.EnvError):
            env.step([1, 1])
    assert np.array_equal(bystander.step([1, 3])[0], twin.step([1, 3])[0])
    started("coinrun", 1, 10, distribution_mode="easy")


@pytest.fixture
def folder(tmp_path):
    """A folder like procgen's, with links to its files."""
    source, target = library.find(None), tmp_path / "procgen"
    for path in source.rglob("*"):
        new = target / path.relative_to(source)
        if path.is_dir():
            new.mkdir(parents=True, exist_ok=True)
        elif "data" in path.parts:
            new.parent.mkdir(parents=True, exist_ok=True)
            os.symlink(path, new)
    library.checked.cache_clear()
    yield target
    library.checked.cache_clear()


def test_where_the_library_is(folder, monkeypatch):
    for path in (folder, folder.parent):
        assert library.find(str(path)) == folder
        monkeypatch.setenv("CYPOOL_PROCGEN", str(path))
        assert library.find(None) == folder and library.is_valid()
        started("maze", procgen_path=str(path))
    monkeypatch.setenv("CYPOOL_PROCGEN", "/nowhere")
    with pytest.raises(ImportError, match=r"CYPOOL_PROCGEN: expected a folder with procgen/data/prebuilt/libenv.so, "):
        cypool.make("procgen-maze-v0")
    monkeypatch.delenv("CYPOOL_PROCGEN")
    monkeypatch.setenv("CYPOOL_CACHE", str(folder.parent / "empty"))
    monkeypatch.setattr(wheels, "folder_of", lambda _: None)
    assert not library.is_there() and not library.is_valid()
    with pytest.raises(ImportError, match="procgen: the procgen 0.10.7 library is missing: cypool get procgen"):
        cypool.make("procgen-maze-v0")
    # it describes itself without
    assert cypool.make_spec("procgen-maze-v0").max_episode_steps == 500


@pytest.mark.parametrize("kind", ["file", "nowhere", "of all"])
def test_a_cache_that_cannot_be_used_hides_no_installed_library(folder, monkeypatch, tmp_path, kind, capsys):
    cache = tmp_path / "cache"
    if kind == "file":
        cache.write_text("")
    elif kind == "nowhere":
        cache = "/proc/x"
    else:
        cache.mkdir()
        cache.chmod(0o777)
    monkeypatch.delenv("CYPOOL_PROCGEN", raising=False)
    monkeypatch.setenv("CYPOOL_CACHE", str(cache))
    monkeypatch.setattr(wheels, "folder_of", lambda _: str(folder))
    assert library.find(None) == folder
    monkeypatch.setattr(wheels, "folder_of", lambda _: None)
    assert not library.is_there()
    assert main(["get", "procgen"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("cypool get: ") and said.count("\n") == 1


def test_another_library_or_other_pictures_are_refused(folder):
    picture = next((folder / library.PICTURES_FOLDER).rglob("*.png"))
    content, target = picture.read_bytes(), os.readlink(picture)
    picture.unlink()
    for change in (lambda: None, lambda: picture.write_bytes(content[:-1])):
        change()
        with pytest.raises(ImportError, match="procgen: expected the images of procgen 0.10.7 .*some are missing"):
            library.checked(folder)
    picture.unlink()
    os.symlink(target, picture)
    path = folder / library.LIBRARY_FILE
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data[:-1] + b"x")
    with pytest.raises(ImportError, match="procgen: expected the library of procgen 0.10.7 for Python 3.10, which"):
        library.checked(folder)
    path.write_bytes(data)
    assert library.checked(folder)


@pytest.mark.parametrize("change, message", [
    ({"procgen.library._cpu_flags": lambda: " fpu avx2 sse"}, "procgen: expected a CPU with AVX"),
    ({"shared.packages.wheels.platform.machine": lambda: "aarch64"},
     "procgen: expected Linux on x86_64, .*, got linux on aarch64"),
])
def test_machines_that_cannot_run_it(change, message, monkeypatch, capsys):
    for name, value in change.items():
        monkeypatch.setattr(f"cypool.envs.{name}", value)
    library.checked.cache_clear()
    with pytest.raises(ImportError, match=message):
        cypool.make("procgen-maze-v0")
    assert main(["get", "procgen"]) == 2 and message[:20] in capsys.readouterr().err


WITHOUT_GLIB = """
import hashlib, sys, cypool
from cypool.envs.shared.packages import wheels
from cypool.envs.procgen import library
if sys.argv[1:] == ["without"]:
    library._has_glib = lambda: False
env = cypool.make("procgen-{game}-v0", num_envs=2, num_threads=0, seed=4)
digest = hashlib.sha256(env.reset()[0])
for action in range(45):
    digest.update(env.step([action % 15] * 2)[0])
maps = open("/proc/self/maps").read()
print(digest.hexdigest(), "libglib" in maps)
"""


@pytest.mark.slow
def test_without_glib(run_python, tmp_path):
    code = WITHOUT_GLIB.replace("{game}", "coinrun")
    one, other = (run_python(f"import sys; sys.argv[1:] = {words}\n{code}").stdout.split()
                  for words in ([], ["without"]))
    assert one[0] == other[0] and other[1] == "False"


def test_get(folder, tmp_path, monkeypatch, capsys):
    """With a replacement for pip: its arguments, and the use of its files."""
    monkeypatch.setenv("CYPOOL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CYPOOL_PROCGEN", raising=False)
    monkeypatch.setattr(wheels, "folder_of", lambda _: None)
    called = []

    def pip(status, wheel):
        def run(command, **_):
            called.append(command)
            target = command[command.index("--dest") + 1]
            os.makedirs(target)
            if wheel is not None:
                os.symlink(wheel, os.path.join(target, "procgen.whl"))
            return subprocess.CompletedProcess(command, status, b"first\nno such package\n")

        monkeypatch.setattr(wheels.subprocess, "run", run)

    other = tmp_path / "other.whl"
    other.write_bytes(b"x")
    for status, wheel, message in ((1, None, "pip: downloading procgen 0.10.7 failed with exit status 1: no such"),
                                   (0, None, "failed with exit status 0"),
                                   (0, other, "pip: expected a wheel with sha256 4b594d14")):
        pip(status, wheel)
        assert main(["get", "procgen"]) == 2 and message in capsys.readouterr().err
        assert os.listdir(tmp_path / "cache") == []
    whole = tmp_path / "whole.whl"
    with zipfile.ZipFile(whole, "w") as archive:
        for path in folder.rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(folder.parent))
        archive.writestr("procgen/env.py", "raise SystemExit")
    monkeypatch.setattr(library, "download", library.WHEEL._replace(sha256=library._sha256_of(whole)).download)
    pip(0, whole)
    assert main(["get", "procgen"]) == 0
    said = capsys.readouterr().out
    assert "now in" in said and "LGPL 3" in said and called[-1][2:7] == [
        "pip", "download", "--no-deps", "--python-version", "310"]
    assert library.is_valid() and not (library.find(None) / "env.py").exists()
    count = len(called)
    assert main(["get", "procgen"]) == 0 and "already in" in capsys.readouterr().out and len(called) == count
    # a damaged library is replaced
    next((library.find(None) / library.PICTURES_FOLDER).rglob("*.png")).unlink()
    library.checked.cache_clear()
    assert not library.is_valid() and main(["get", "procgen"]) == 0 and library.is_valid()
    assert main(["get", "doom"]) == 2 and "FAMILY: expected one of 'nethack', 'procgen'" in capsys.readouterr().err


def test_chance_is_of_its_own_stream():
    assert cypool.make_spec("CoinrunEasy-v0").has_own_chance
