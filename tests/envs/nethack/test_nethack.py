"""NetHack: NLE's bytes, options, games that fail, signals, states, pictures, the terminal, and the files of nle."""
import gc
import importlib.util
import os
import pickle
import pty
import random
import shutil
import signal
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from engine.threads import meanwhile
from family_tests import continues, equals, refuses
from markers import often_exhaustive
from pool_arguments import MODES
from receiving import started
from state_edits import with_own
from waiting import run_program

import cypool
from cypool.envs.nethack import actions, library, terminal
from cypool.envs.nethack.options import KEYS
from cypool.errors import EnvError
from cypool.registration.registry import known_entries
from cypool.testing import check_env, check_parity
from cypool.tools.cli import main

if not library.is_there():
    pytest.skip("nle is not there: cypool get nethack", allow_module_level=True)
from cypool.envs.nethack.nethack import NetHack

ALL_KEYS = tuple(KEYS)
WITHOUT_SCREEN = tuple(key for key in KEYS if not key.startswith(("tty", "screen")))
TASKS = ("", "Score", "Staircase", "StaircasePet", "Oracle", "Gold", "Eat", "Scout", "Challenge")
IDS = [f"NetHack{task}-v0" for task in TASKS]
# a whole keyboard, in NetHack's debug mode
DEBUG = {"wizard": True, "allow_all_modes": True, "allow_all_yn_questions": True, "actions": range(256)}


needs_nle = pytest.mark.skipif(importlib.util.find_spec("nle") is None, reason="nle is not installed")


def made(id="NetHack-v0", num_envs=1, **options):
    return cypool.make(id, num_envs=num_envs, **{"num_threads": 0, "seed": 1, **options})


def games_of(env):
    """Returns the environments behind a pool."""
    return sorted((each for each in gc.get_objects() if type(each) is NetHack and each.spec is env.env_spec),
                  key=lambda each: each.env_id)


def played(env, seed, num_steps, choose=None):
    """Begins a game from a seed, and returns all that is seen of the first environment."""
    seen = [env.reset(seed=seed)[0]]
    chance = np.random.default_rng(seed)
    for _ in range(num_steps):
        obs, *rest = env.step(chance.integers(env.single_action_space.n, size=env.num_envs))
        seen.append((obs, rest[:3]))
        if (rest[1] | rest[2])[0]:
            break
    return pickle.dumps(seen)


def press(env, keys):
    for key in keys:
        env.step([key])


def test_names():
    pytest.importorskip("nle")
    import nle.env.tasks as tasks
    from nle import nethack

    for names, keys in ((actions.ALL, nethack.ACTIONS), (actions.USEFUL, nethack.USEFUL_ACTIONS),
                        (actions.OF_TASKS, tasks.TASK_ACTIONS)):
        assert actions.keys_of(names) == tuple(map(int, keys))
    assert KEYS.keys() == nethack.OBSERVATION_DESC.keys()
    assert [entry.id for entry in known_entries() if entry.entry_point.endswith(":NetHack")] == sorted(IDS)
    assert [cypool.make_spec(id).action.n for id in IDS] == [86, *[23] * 7, 121]


# episodes in a row, as the last screen has the scores of earlier ones; the list of scores is part of a state
test_parity = needs_nle(equals(
    [("NetHackScore-v0", {"autoreset_mode": mode}) for mode in MODES], least=6, num_envs=2, num_steps=150, seeds=[3],
    num_threads=2, abort_steps=40, observation_keys=ALL_KEYS))
# every other one without the terminal, on which cypool then does not draw
test_parity_of_tasks = needs_nle(equals(
    [(id, {"observation_keys": WITHOUT_SCREEN} if k % 2 else {}) for k, id in enumerate(IDS)], num_envs=2,
    num_steps=150, seeds=[5], max_episode_steps=100))
test_parity_with_options = needs_nle(equals([
    ("NetHackChallenge-v0", {"no_progress_timeout": 21}), ("NetHack-v0", DEBUG),
    ("NetHackScore-v0", {"character": "@"}),
    # the last row of an aborted game in wizard mode
    ("NetHackScore-v0", {"wizard": True, "abort_steps": 12, "num_steps": 60}),
    ("NetHackScore-v0", {"nle_seeds": (1, 2, 3), "clock": 10**9, "observation_keys": ["blstats", "tty_chars"]}),
    ("NetHackScout-v0", {"penalty_mode": "exp", "penalty_time": 0.3, "character": "val-dwa-law-fem"}),
    ("NetHackEat-v0", {"penalty_mode": "square", "fix_moon_phase": True, "spawn_monsters": False}),
    ("NetHackGold-v0", {"penalty_mode": "linear", "allow_all_yn_questions": True, "options": ["time", "fruit:slime"]}),
    ("NetHackOracle-v0", {"penalty_mode": "always", "penalty_step": -1, "allow_all_modes": True}),
], num_envs=1, num_steps=250, seeds=[7]))


@pytest.mark.slow
@pytest.mark.parametrize("id", often_exhaustive(IDS, 4))
@needs_nle
def test_parity_for_longer(id):
    check_parity(id, num_envs=2, num_steps=2500, seeds=[11], max_episode_steps=700, num_threads=2)
    check_parity(id, num_envs=2, num_steps=1500, seeds=[12], observation_keys=ALL_KEYS, character="@")


def test_episodes():
    """They follow from the seed, are all different, and are the same on any thread."""
    firsts = []
    for threads in (0, 1, 5):
        env = started(made("NetHackScore-v0", 6, num_threads=threads, abort_steps=20))
        batches = [env.step([k % 23] * 6)[0]["tty_chars"] for k in range(60)]
        firsts.append(np.array(batches))
    assert np.array_equal(firsts[0], firsts[1]) and np.array_equal(firsts[0], firsts[2])
    beginnings = {batch.tobytes() for k in (20, 41) for batch in firsts[0][k]}
    assert len(beginnings) == 12


def test_seeds_and_clock():
    env = made("NetHackScore-v0", 2, nle_seeds=(1, 2), clock=10**9)
    one, two = env.reset()[0]["tty_chars"]
    assert np.array_equal(one, two)
    other = env.reset(options={"nle_seeds": (1, 3, 4), "clock": 10**9 + 1})[0]["glyphs"]
    assert not np.array_equal(other[0], env.reset()[0]["glyphs"][0])
    assert np.array_equal(env.reset()[0]["tty_chars"][1], two)
    assert made("NetHackScore-v0", clock="real").reset()[1]["end_status"][0] == 0
    for options in ({"seed": 1}, {"nle_seeds": (1,)}, {"nle_seeds": (1, 2**64)}, {"clock": -1}, {"clock": "now"}):
        with pytest.raises(ValueError, match="options"):
            env.reset(options=options)
    with pytest.raises(TypeError, match=r"options\['nle_seeds'\]: expected a pair"):
        env.reset(options={"nle_seeds": 1})
    # each its own; a reset that one of them refuses leaves nothing behind
    with pytest.raises(ValueError, match="options"):
        env.reset(options=[{"nle_seeds": (1, 3, 4)}, {"nle_seeds": (1,)}])
    again = env.reset()[0]["tty_chars"]
    assert np.array_equal(again[0], one) and np.array_equal(again[1], two)
    again = env.reset(options=[None, {"nle_seeds": (1, 3, 4), "clock": 10**9 + 1}])[0]["glyphs"]
    assert np.array_equal(again[1], other[1]) and not np.array_equal(again[0], other[0])


def test_infos_and_ends():
    env = made("NetHackScore-v0", abort_steps=3, infos=["depth", "turns", "how_done", "end_status"])
    info = env.reset()[1]
    assert (info["depth"], info["turns"], info["end_status"]) == (1, 1, 0) and "is_ascended" not in info
    for _ in range(2):
        assert not env.step([1])[2][0]
    *_, terminated, truncated, info = env.step([1])
    assert terminated[0] and not truncated[0] and info["end_status"][0] == -1
    assert env.step([1])[4]["turns"][0] == 1


test_bad_options = refuses([
    ({"task": "chess"}, "task: expected one of 'nethack', 'score'"),
    ({"character": "xyz"}, "character: expected '@', or up to four of role"),
    ({"character": 1}, "character: expected '@', or up to four of role"),
    ({"character": "mon," + "a" * 9}, "character: expected"),
    ({"observation_keys": []}, "observation_keys: expected one or more unique names"),
    ({"observation_keys": ["glyphs"] * 2}, "observation_keys: expected one or more unique names"),
    ({"observation_keys": "glyphs"}, "observation_keys: expected a sequence of names"),
    ({"observation_keys": ["glyph"]}, r"observation_keys\[0\]: expected one of 'glyphs'"),
    ({"actions": [256]}, r"actions\[0\]: expected 0 to 255, got 256"),
    ({"actions": []}, "actions: expected 1 to 256 keys, got 0"),
    ({"options": ["a" * 201]}, r"options\[0\]: expected a str of 1 to 200"),
    ({"options": ["a" * 200] * 21}, "options: expected at most 4000 characters in total"),
    ({"options": ["time\0"]}, r"options\[0\]: expected a str"),
    ({"options": ["time, @/etc/passwd"]}, r"options\[0\]: expected no option that names a file"),
    ({"options": ["MSGTYPE=hide \".*\""]}, r"options\[0\]: expected no pattern .patterns"),
    ({"options": [1]}, r"options\[0\]: expected a str"),
    ({"penalty_mode": "none"}, "penalty_mode: expected one of"),
    ({"penalty_step": float("nan")}, "penalty_step: expected"),
    ({"abort_steps": 0}, "abort_steps: expected 1 to"),
    ({"nle_seeds": (1, 2, -1)}, r"nle_seeds\[2\]: expected 0 to"),
    ({"clock": 2**40}, "clock: expected 0 to"),
    ({"infos": ["score"]}, r"infos\[0\]: expected one of 'end_status'"),
    ({"max_step_seconds": 0}, "max_step_seconds: expected 0.1 to"),
    ({"nle_path": "/nowhere"}, "nle_path: expected nle's folder, got '/nowhere'")], "NetHack-v0")


def test_wild_options():
    """NetHack's own: in NLE some of them end the process, and others ask for ever."""
    chance, names = random.Random(2), (
        "catname", "fruit", "packorder", "scores", "statushilites", "boulder", "disclose", "windowtype", "role", "race",
        "symset", "menustyle", "monsters", "objects", "traps", "number_pad", "playmode", "msghistory", "name", "bind")
    fine = made(options=["time"])
    alone = played(fine, 7, 30)
    for _ in range(40):
        junk = "".join(chance.choice("aA0:!^$%\\&+-*;[]' ") for _ in range(chance.choice([1, 3, 30, 180])))
        env = made(options=[chance.choice(names) + chance.choice([":", "=", ""]) + junk])
        try:
            played(env, 3, 5)
        except EnvError as error:
            assert "NetHack: the game" in str(error)
    assert played(made(options=["time"]), 7, 30) == alone


@pytest.mark.parametrize("keys", [b"#panic\ry", b"\xf1yy  "], ids=str)
def test_a_panic_costs_one_row(keys):
    env = started(made(num_envs=2, autoreset_mode="Disabled", **DEBUG))
    with pytest.raises(EnvError, match="env 0: RuntimeError: NetHack: the game cannot continue: a panic") as caught:
        for key in keys:
            env.step([key, ord("s")])
    assert caught.value.env_id == 0
    fresh = made(num_envs=2, autoreset_mode="Disabled", **DEBUG)
    assert played(env, 5, 8) == played(fresh, 5, 8)


def test_overwritten_memory():
    """Whatever becomes of a game, the process lives, and the episode after it is as in a new environment."""
    chance, env, fresh = random.Random(1), made(), made()
    game, = games_of(env)
    alone, failed = played(fresh, 42, 20), 0
    for name in ("invent", "u", "level", "objects", "mons", "windowprocs", "current_nle_ctx", "toplines", "youmonst",
                 "dungeons", "rnglist", "ttyDisplay", "viz_array", "migrating_objs", "ftrap", "killer"):
        for word in (1, 0xdeadbeefdeadbeef, 0x4141414141414141):
            env.reset(seed=chance.randrange(10**6))
            game.overwrite(name, word)
            try:
                for _ in range(15):
                    env.step([chance.randrange(86)])
            except EnvError as error:
                assert "NetHack: the game cannot continue: " in str(error)
                failed += 1
            assert played(env, 42, 20) == alone
    assert failed > 10
    with pytest.raises(ValueError, match="name: expected a variable of NetHack's library"):
        game.overwrite("nothing", 0)


def test_an_endless_loop_ends():
    env = started(made(max_step_seconds=0.2))
    game, = games_of(env)
    # the inventory's list has no end
    game.overwrite("youmonst", "youmonst")
    game.overwrite("invent", "youmonst")
    with pytest.raises(EnvError, match="it took too long: an endless loop"):
        env.step([0])
    env.step([0])
    assert env.step([0])[0]["blstats"][0, 20] >= 1


def test_neighbours_do_not_notice():
    """A thread plays games and another one breaks its own."""
    breaking = made(num_threads=1)
    game, = games_of(breaking)
    alone, chance, failed = [played(made(), seed, 30) for seed in range(20)], random.Random(3), []

    def breaks():
        breaking.reset(seed=chance.randrange(10**6))
        game.overwrite(chance.choice(["windowprocs", "invent"]), chance.getrandbits(63) | 1)
        try:
            for _ in range(10):
                breaking.step([chance.randrange(86)])
        except EnvError:
            failed.append(1)

    with meanwhile(breaks):
        beside = [played(made(num_threads=1), seed, 30) for seed in range(20)]
    assert beside == alone and failed


def test_signals_pass_on(tmp_path):
    """A fault outside of a game is reported as if there were none; handlers go with the last game."""
    begin = """
        import ctypes, faulthandler, signal, sys
        import cypool
        {before}
        env = cypool.make("NetHackScore-v0", num_envs=1, num_threads=0, seed=1)
        {after}
        env.reset()
        env.step([0])
        {then}
        ctypes.string_at(1)
        """
    on, off = "faulthandler.enable()", "del env"
    for before, after, then in ((on, "", ""), ("", on, ""), (on, "", off), ("", "", ""), (on, on, off)):
        code = textwrap.dedent(begin.format(before=before, after=after, then=then))
        done = run_program(sys.executable, "-c", code, cwd=tmp_path)
        assert done.returncode == -signal.SIGSEGV
        assert ("Fatal Python error: Segmentation fault" in done.stderr) == (on in (before, after)), done.stderr
        assert done.stderr.count("Fatal Python error") <= 1


# in the same process a block of memory is put back; from a pickle the game is played again
test_states_go_on = continues([
    *(("NetHackScout-v0", mode, {"observation_keys": ALL_KEYS, "infos": ["end_status", "turns"], "abort_steps": 15})
      for mode in MODES),
    *(("NetHackChallenge-v0", mode, {"no_progress_timeout": 21}) for mode in MODES)], before=20, after=30)


def on_from(env, chance, num_steps=60):
    return pickle.dumps([env.step(chance.integers(env.single_action_space.n, size=1))[:4] for _ in range(num_steps)])


@pytest.mark.parametrize("id, options", [("NetHackScore-v0", {"character": "@"}), ("NetHack-v0", DEBUG),
                                         ("NetHackChallenge-v0", {})])
def test_states_and_copies(id, options):
    """Put back, moved to another block of memory, and played again from a file: always the same game."""
    options = {"observation_keys": ALL_KEYS, "autoreset_mode": "SameStep", **options}
    env, other = started(made(id, **options)), started(made(id, seed=8, **options))
    on_from(other, np.random.default_rng(3), 30)
    for seed in range(3):
        on_from(env, np.random.default_rng(seed), 100)
        state = env.save()
        packed = state.to_bytes()
        want = on_from(env, np.random.default_rng(50))
        env.load(state)
        assert on_from(env, np.random.default_rng(50)) == want
        other.load(state)
        assert on_from(other, np.random.default_rng(50)) == want
        other.load(cypool.State.from_bytes(packed))
        assert on_from(other, np.random.default_rng(50)) == want
        assert other.save().to_bytes() != packed
        two = started(made(id, 2, seed=4, **options))
        two.load(state, [1])
        two.copy([1], [0])
        rows = [two.step(np.random.default_rng(6).integers(two.single_action_space.n, size=1).repeat(2))[0]["tty_chars"]
                for _ in range(20)]
        assert all(np.array_equal(*row) for row in rows)


def test_moves_keep_what_is_half_an_address():
    """A short text over an old address looks like one: games have such, and pressed other keys after a move."""
    env, other = started(made()), started(made())
    (game,), (moved,) = games_of(env), games_of(other)
    game.overwrite("toplines", "youmonst")
    address = game.overwrite("toplines", 0)
    for text in (b"f\0", b"a\0b", b"abc\0"):
        word = int.from_bytes(text + address.to_bytes(8, "little")[len(text):], "little")
        game.overwrite("toplines", word)
        other.load(env.save())
        assert moved.overwrite("toplines", 0).to_bytes(8, "little").startswith(text)
    game.overwrite("toplines", address)
    other.load(env.save())
    found = moved.overwrite("toplines", 0)
    assert moved.overwrite("toplines", "youmonst") == 0 and moved.overwrite("toplines", 0) == found != address


def test_memory_is_only_for_what_it_was_saved_with():
    """An edited state is played again; a pickle and a file have no memory in them."""
    env = started(made(seed=5))
    for k in range(20):
        env.step([k])
    state = env.save()
    own = state.rows[0]["own"]
    assert type(own.memory).__name__ == "Memory" and own == tuple(own)
    assert type(pickle.loads(pickle.dumps(own))) is tuple
    assert len(pickle.dumps(state)) < 2000 and len(state.to_bytes()) < 2000
    shorter = type(own)((*own[:7], own[7][:10]))
    shorter.memory = own.memory
    state.rows[0]["own"] = shorter
    env.load(state)
    assert env.save().rows[0]["own"] == shorter
    with pytest.raises(TypeError):
        pickle.dumps(own.memory)
    empty = type(own.memory)()
    shorter.memory = empty
    env.load(state)


@pytest.mark.parametrize("place, value, message", [
    (0, -1, r"state\[0\]: expected 0 to"), (2, 2**64, r"state\[2\]"), (3, 1, r"state\[3\]"), (4, -5, r"state\[4\]"),
    (5, 2**41, r"state\[5\]"), (6, b"x", "list of high scores"), (6, "", r"state\[6\]: expected bytes"),
    (6, b"3.6.7 161 0 4 4 0 14 1 20261125 20261125 0 Mon Hum Mal Neu " + b"A" * 500 + b",rat\n", "list of high scores"),
    (7, b"\xff", r"state\[7\]: expected at most 5000 actions, each below 86"),
    (7, b"\0" * 5001, "at most 5000 actions"),
    (None, (), "expected 8 values")], ids=str)
def test_edited_states(place, value, message):
    env = started(made())
    state = env.save()
    own = list(state.rows[0]["own"])
    if place is not None:
        own[place] = value
    with pytest.raises(ValueError, match=message):
        env.load(with_own(state, tuple(own) if place is not None else value))
    env.step([0])
    env.load(state)


def test_actions_after_the_end():
    # quits the game, which takes no more actions then
    quitting = started(made(actions=[0xf1, ord("y")], allow_all_yn_questions=True, allow_all_modes=True))
    state = quitting.save()
    own = [*state.rows[0]["own"]]
    own[7] = bytes([0, 1] * 20)
    with pytest.raises(ValueError, match="actions of one episode, got actions after its end"):
        quitting.load(with_own(state, tuple(own)))


def test_step_of_a_forged_state_whose_game_is_over_raises():
    env = started(made("NetHackChallenge-v0", no_progress_timeout=3, autoreset_mode="Disabled"))
    state = env.save()
    for _ in range(100):
        _, _, terminated, truncated, _ = env.step([0])
        if terminated[0] or truncated[0]:
            break
    assert terminated[0] or truncated[0]
    # the row says that the episode continues
    env.load(with_own(state, env.save().rows[0]["own"]))
    with pytest.raises(cypool.EnvError, match="expected a game in progress, got one that is over"):
        env.step([0])
    env.reset()
    env.step([0])


def test_scores_of_a_state():
    """An episode knows of earlier ones only by NetHack's list of scores."""
    env = started(made("NetHackScore-v0", abort_steps=100))
    for action in np.random.default_rng(1).integers(23, size=(450, 1)):
        env.step(action)
    record = env.save().rows[0]["own"][6]
    assert record.count(b"\n") == 3 and b" Mon Hum Mal Neu Agent,quit\n" in record
    other = made("NetHackScore-v0", abort_steps=100)
    other.load(pickle.loads(pickle.dumps(env.save())))
    assert other.save().rows[0]["own"][6] == record


def test_rollouts_and_history():
    env = started(made("NetHackScore-v0", 4))
    ways = np.random.default_rng(0).integers(23, size=(12, 4))
    state = env.save()
    want = [env.step(way)[1] for way in ways]
    env.load(state)
    assert np.array_equal(env.rollout(ways).reward, want)


def test_contract():
    check_env("NetHackScore-v0", num_envs=2)


def test_tiles():
    """The pixels of NLE's pictures, at any time, also after the end."""
    pytest.importorskip("nle")
    from cypool.envs.nethack.reference import Reference

    env = started(made("NetHackScore-v0", seed=3, abort_steps=12))
    theirs = Reference(env.env_spec.options, None)
    theirs.reset(seed=3)
    theirs.nle.nethack.setup_tiles()
    picture = np.zeros((336, 1264, 3), np.uint8)
    for action in range(12):
        env.step([action])
        theirs.step(action)
        theirs.nle.nethack.draw_frame(picture)
        assert np.array_equal(env.render()[0], picture)
    theirs.close()


def test_texts_equal_those_of_nle():
    pytest.importorskip("nle")
    from cypool.envs.nethack.reference import Reference

    # also where the task does not observe the letters
    env = started(made("NetHackScore-v0", seed=3, abort_steps=12, render_mode="ansi", observation_keys=("blstats",)))
    theirs = Reference(cypool.make_spec("NetHackScore-v0", abort_steps=12).options, None)
    theirs.reset(seed=3)
    theirs.nle.render_mode = "ansi"
    for action in range(12):
        env.step([action])
        theirs.step(action)
        assert env.render() == (theirs.nle.render(),)
    theirs.close()


def test_terminal():
    """Typed keys are actions; NetHack's screen is shown."""
    ours, theirs = pty.openpty()
    # control and A is no action; escape and p is meta and p
    os.write(ours, b"y\x01j\x1bpjjjj")
    env = made(nle_seeds=(1, 2), clock=10**9)
    said = []
    assert terminal.play(env, said.append, theirs, steps=4)[0] == 4
    assert ["no action for this key" in each for each in said] == [
        False, False, False, True, False, False, False]
    assert "Are you sure you want to pray?" in said[5]
    again = started(made(nle_seeds=(1, 2), clock=10**9))
    obs = again.step([actions.USEFUL.index("northwest")])[0]
    screen = terminal.screen_text(obs["tty_chars"][0], obs["tty_colors"][0], obs["tty_cursor"][0])
    assert f"{terminal.HOME}{screen}" in said[2] and "Hello Agent" in said[1]
    os.close(ours)
    with pytest.raises(ValueError, match="observation_keys: expected tty_chars, tty_colors, tty_cursor as well"):
        terminal.play(made(observation_keys=["glyphs"]), said.append, theirs)
    os.close(theirs)


def test_play_needs_a_terminal(capsys):
    assert main(["play", "NetHack-v0"]) == 2
    assert "no terminal to read keys from" in capsys.readouterr().err


def test_example():
    path = Path(__file__).parents[3] / "examples" / "nethack_search.py"
    spec = importlib.util.spec_from_file_location("nethack_search", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    depth, score, steps, planned = example.play(0.2, 16, 4, 1)
    assert depth >= 1 and planned % (16 * 4) == 0
    assert (example.play_at_random(3, 8, 4, 1) >= 1).all()


def test_other_files(tmp_path, monkeypatch):
    folder = library.find(None)
    for file in (library.LIBRARY_FILE, library.TEXTS_FILE):
        (tmp_path / "nle" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / file, tmp_path / "nle" / file)
    assert library.find(str(tmp_path)) == library.find(str(tmp_path / "nle")) == tmp_path / "nle"
    monkeypatch.setenv("CYPOOL_NETHACK", str(tmp_path))
    assert library.is_valid() and library.find(None) == tmp_path / "nle"
    library.checked.cache_clear()
    texts = tmp_path / "nle" / library.TEXTS_FILE
    texts.write_bytes(texts.read_bytes()[:-1] + b"x")
    assert not library.is_valid()
    with pytest.raises(ImportError, match=r"expected nethackdir/nhdat from the wheels of nle 1.3.0"):
        made(nle_path=str(tmp_path))
    texts.unlink()
    with pytest.raises(ImportError, match="nethack: cannot read"):
        made(nle_path=str(tmp_path))
    monkeypatch.setenv("CYPOOL_NETHACK", "/nowhere")
    assert not library.is_there()
    with pytest.raises(ImportError, match="CYPOOL_NETHACK: expected a folder with nle/libnethack.so"):
        made()


def test_turns_and_depth_stay_where_a_game_ends():
    with started(cypool.make("NetHackScore-v0", num_envs=2, seed=0, infos=("turns", "depth"), abort_steps=30,
                             autoreset_mode="Disabled")) as env:
        depth = turns = None
        for _ in range(30):
            _, _, terminated, truncated, info = env.step([0, 0])
            if (terminated | truncated).any():
                assert (info["depth"] > 0).all() and (info["turns"] >= turns).all()
                break
            depth, turns = info["depth"], info["turns"]
        assert depth is not None and (terminated | truncated).any()


def test_an_endless_loop_ends_in_the_child_of_a_fork():
    env = started(made(max_step_seconds=0.2))
    env.step([0])
    child = os.fork()
    if child == 0:
        # ends the child where the loop does not end
        signal.alarm(60)
        game, = games_of(env)
        game.overwrite("youmonst", "youmonst")
        game.overwrite("invent", "youmonst")
        try:
            env.step([0])
        except EnvError as error:
            os._exit("it took too long" in str(error))
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_timer_that_does_not_start_is_an_error(run_forked):
    """Nothing would end an endless loop."""
    assert "NetHack: the system cannot start the timer that stops endless loops" in run_forked("""
import ctypes, gc, cypool
from cypool.errors import EnvError

env = cypool.make("NetHackScore-v0", num_envs=1, num_threads=0, seed=1)
env.reset()
env.step([0])
env.close()
del env
gc.collect()
for timer in range(1000):
    ctypes.CDLL(None).syscall(226, timer)  # timer_delete
# its handler is a new one, so the clock is to start again
env = cypool.make("NetHackScore-v0", num_envs=1, num_threads=0, seed=1)
try:
    env.reset()
except EnvError as error:
    print(error)
""", check=True).stdout


def maps_of_this_process():
    return Path("/proc/self/maps").read_text().count("\n")


def test_a_game_takes_few_memory_maps():
    before = maps_of_this_process()
    env = made(num_envs=20)
    env.reset()
    # the heap may grow by some
    assert maps_of_this_process() - before < 8.5 * 20


@pytest.mark.skipif(int(Path("/proc/sys/vm/max_map_count").read_text()) > 2**20, reason="takes a lot of memory maps")
def test_more_games_than_the_system_has_memory_maps_for_names_the_limit(run_forked):
    done = run_forked("""
import ctypes, mmap, cypool

limit = int(open("/proc/sys/vm/max_map_count").read())
libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
cypool.make("NetHackScore-v0", num_envs=1, num_threads=0).reset()
pages = mmap.mmap(-1, limit * 4096)
at = ctypes.addressof(ctypes.c_char.from_buffer(pages))
free = limit - open("/proc/self/maps").read().count("\\n")
# each makes two more
for k in range((free - 200) // 2):
    assert libc.mprotect(at + 2 * k * 4096, 4096, 0) == 0
try:
    cypool.make("NetHackScore-v0", num_envs=60, num_threads=0)
except RuntimeError as error:
    print(error)
env = cypool.make("NetHackScore-v0", num_envs=5, num_threads=0)
env.reset()
print(limit, env.step([0] * 5)[0]["blstats"].shape)
""")
    said, last = done.stdout.splitlines() or [done.stderr, ""]
    limit = Path("/proc/sys/vm/max_map_count").read_text().strip()
    assert said.startswith("NetHack: the system cannot map a game: Cannot allocate memory. A game has 7 memory maps")
    assert f"of the {limit} that the system allows (vm.max_map_count)" in said and last == f"{limit} (5, 27)"


def test_pictures_of_nethack_are_42_a_second_as_those_of_nle():
    base = pytest.importorskip("nle.env.base")
    assert made().metadata["render_fps"] == base.NLE.metadata["render_fps"] == 42


def test_chance_is_of_its_own_stream():
    assert cypool.make_spec("NetHackScore-v0").has_own_chance
