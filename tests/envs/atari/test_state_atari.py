"""Saved states of Atari games: ALE's own cloneState leaves out some of the state."""
import shutil

import numpy as np
import pytest
from markers import slow
from saving import NUM, assert_goes_on, make, started
from waiting import attempts

import cypool
from cypool.envs.atari import atari, roms
from cypool.state import State

WHOLE = {"stack_num": 1, "img_height": 210, "img_width": 160}
# each of these needs something that ALE's own cloneState leaves out
GAMES = {
    # the last action
    "Breakout-v5": {"frame_skip": 1, "repeat_action_probability": 0.25, "noop_max": 3},
    "Freeway-v5": {"frame_skip": 1, "repeat_action_probability": 0.25, "gray_scale": False},
    # whether the last frame is complete
    "Qbert-v5": {"frame_skip": 1, **WHOLE},
    # where in its tables the video chip is
    "YarsRevenge-v5": {"frame_skip": 1, **WHOLE},
}


@pytest.mark.parametrize(("id", "mode", "num_threads", "batch_size"), [
    *((id, "NextStep", 2, 5) for id in GAMES), ("Breakout-v5", "SameStep", 5, 2), ("Breakout-v5", "Disabled", 0, 5),
    *slow(*((id, *how) for id in list(GAMES)[1:] for how in [("SameStep", 5, 2), ("Disabled", 0, 5)]))])
def test_atari_goes_on_exactly(id, mode, num_threads, batch_size):
    ends = assert_goes_on(id, mode, num_threads, batch_size, 97, 45, max_episode_steps=100, **GAMES[id])
    # a reset with no-ops belongs to it
    assert ends >= NUM


def test_atari_goes_on_exactly_from_any_frame():
    # while it thinks it draws no picture, then one over the other
    env, other = (started(cypool.make("TicTacToe3d-v5", frame_skip=1, gray_scale=False, seed=3, **WHOLE)) for _ in "12")
    begin = other.save()
    random = np.random.default_rng(0)
    for _ in range(90):
        env.step(random.integers(0, 10, 1))
        state, actions = env.save(), random.integers(0, 10, (3, 1))

        def play(pool, actions=actions):
            yield pool.render()[0]
            for action in actions:
                yield pool.step(action)[0]
                yield pool.render()[0]

        want = [picture.tobytes() for picture in play(env)]
        other.load(begin)
        other.load(state)
        assert [picture.tobytes() for picture in play(other)] == want
        env.load(state)


@pytest.mark.parametrize("mode", ["SameStep", *slow("NextStep", "Disabled")])
@pytest.mark.parametrize(("num_threads", "batch_size"), [(5, 2), *slow((0, 5))])
@pytest.mark.parametrize("sticky", [0.25, *slow(0.0)])
def test_atari_goes_on_exactly_over_lives(mode, num_threads, batch_size, sticky):
    ends = assert_goes_on("Breakout-v5", mode, num_threads, batch_size, 60, 70, max_episode_steps=200,
                          episodic_life=True, repeat_action_probability=sticky)
    assert ends >= NUM


@pytest.fixture
def pong(monkeypatch, tmp_path):
    """The true ROM of Pong, and a copy that cypool plays with and that may be taken away."""
    true_rom = roms.rom_path("pong")
    rom = tmp_path / "roms" / "pong.bin"
    rom.parent.mkdir()
    shutil.copy(true_rom, rom)
    monkeypatch.setattr("cypool.envs.atari.roms.folder_of", lambda name: str(tmp_path))
    atari.game_facts.cache_clear()
    yield true_rom, rom
    atari.game_facts.cache_clear()


def test_a_seed_that_waits_for_a_reset_is_saved_too(pong):
    true_rom, rom = pong
    env = started(make("Pong-v5", num_envs=2))
    env.step([0, 0])
    rom.unlink()
    with pytest.raises(cypool.EnvError, match="ROM"):
        env.reset([1], seed=[70])
    assert env.render([1]).shape == (1, 210, 160, 3)
    state = env.save()
    assert state.needs_reset.tolist() == [False, True]
    shutil.copy(true_rom, rom)
    want = env.step([0, 0])[0]
    assert want[1].tobytes() == make("Pong-v5", num_envs=1, seed=70).reset()[0].tobytes()
    # the picture does not show it: Pong begins the same way always
    after = [row["own"] for row in env.save().rows]
    env.load(state)
    assert env.step([0, 0])[0].tobytes() == want.tobytes()
    assert [row["own"] for row in env.save().rows] == after


def test_an_environment_that_was_never_made_shows_nothing(pong):
    true_rom, rom = pong
    env = cypool.make("Pong-v5", num_envs=2, seed=0, ram=True, frame_numbers=True)
    rom.unlink()
    with pytest.raises(cypool.EnvError, match="ROM"):
        env.reset()
    for call in (env.save, env.render):
        with pytest.raises(RuntimeError, match="reset it first"):
            call()
    shutil.copy(true_rom, rom)
    obs, info = env.reset(options={"reset_mask": np.array([True, False])})
    assert obs[0].any() and not obs[1].any()
    assert info["ram"][0].any() and not info["ram"][1].any()
    assert info["frame_number"][0] > 0 == info["frame_number"][1] == info["episode_frame_number"][1]
    env.step([0, 0])
    assert env.step([0, 0])[4]["ram"].any(axis=1).all()


def test_a_load_that_failed_starts_a_whole_game():
    env = cypool.make("Breakout-v5", num_envs=1, seed=0, episodic_life=True)
    env.reset()
    for _ in attempts():
        if env.step([1])[2].any():
            break
    state = env.save()
    # its next step would continue with the next life
    with pytest.raises(ValueError, match="cannot load"):
        env.load(State([0], [{**state.rows[0], "own": None}]))
    *_, info = env.step([0])
    assert info["lives"].tolist() == [5] and info["elapsed_step"].tolist() == [0]
    env.load(state)
    *_, info = env.step([0])
    assert info["lives"].tolist() == [4] and info["elapsed_step"][0] > 0


def test_a_game_whose_rom_is_gone(run_forked, tmp_path):
    assert run_forked(ROM_GONE.format(folder=str(tmp_path)), check=True).stdout == "fine\n"


ROM_GONE = """
import os, shutil
import numpy as np
import cypool
from cypool.envs.atari import roms

true_rom = roms.rom_path("pong")
rom = os.path.join({folder!r}, "roms", "pong.bin")
os.mkdir(os.path.dirname(rom))
shutil.copy(true_rom, rom)
roms.folder_of = lambda name: {folder!r}

def raises(kind, word, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as error:
        assert word in str(error), error
    else:
        raise SystemExit("no error")

made = cypool.make("Pong-v5", num_envs=2, num_threads=2, seed=0)
made.reset()
made.step([2, 3])
state = made.save()
want = made.step([2, 3])[0].tobytes()
pool = cypool.make("Pong-v5", num_envs=3, num_threads=2, seed=0)
os.remove(rom)
raises(cypool.EnvError, "ROM", pool.reset)
raises(RuntimeError, "nothing to save", pool.save)
raises(RuntimeError, "nothing to show", pool.render)
raises(RuntimeError, "ROM", pool.load, state, [0, 2])
raises(cypool.EnvError, "ROM", pool.reset, options={{"reset_mask": np.array([True, False, False])}})
shutil.copy(true_rom, rom)
obs, info = pool.reset(options={{"reset_mask": np.array([False, True, False])}})
assert obs[0].sum() == obs[2].sum() == 0 and obs[1].sum() > 0
raises(RuntimeError, "nothing to save", pool.save, [1, 0])
assert len(pool.save([1])) == len(pool.render([1])) == 1
pool.load(state, [0, 2])
assert pool.step([2, 3], [0, 2])[0].tobytes() == want
pool.step([0, 0, 0])
print("fine")
"""
