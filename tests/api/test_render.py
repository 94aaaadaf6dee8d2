"""Pictures of environments: those that ale_py shows in the same state."""
import pickle
import signal
import sys
import warnings
from pathlib import Path
from types import ModuleType

import ale_py
import gymnasium
import gymnasium.wrappers.vector as wrappers
import numpy as np
import pytest
from markers import slow
from pool_arguments import THREADS
from receiving import receive_pending, started

import cypool
import cypool.compat.envpool as envpool
from cypool.envs.shared.pixels.pictures import draw

pytestmark = pytest.mark.families("atari", "mpe2")
ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)

ROMS = Path(ale_py.__file__).parent / "roms"


class Screen:
    """The same game on plain ale_py: without no-ops and fire a reset is the emulator's."""

    def __init__(self, task, seed):
        self.ale = ale_py.ALEInterface()
        self.ale.setFloat("repeat_action_probability", 0.25)
        self.ale.setInt("random_seed", seed)
        self.ale.loadROM(ROMS / f"{task}.bin")
        self.ale.reset_game()
        self.actions = self.ale.getMinimalActionSet()

    def step(self, action, frame_skip):
        for _ in range(frame_skip):
            self.ale.act(self.actions[action])
            if self.ale.game_over():
                self.ale.reset_game()
                break

    def picture(self):
        return self.ale.getScreenRGB()


@pytest.mark.parametrize("frame_skip", [4, *slow(1)])
@pytest.mark.parametrize(("task", "id", "rows"), [
    ("pong", "Pong-v5", 210), ("air_raid", "AirRaid-v5", 250), ("tic_tac_toe_3d", "TicTacToe3d-v5", 210),
    *slow(("breakout", "Breakout-v5", 210), ("ms_pacman", "MsPacman-v5", 210)),
])
def test_the_picture_is_that_of_ale_py(task, id, rows, frame_skip):
    # the form of the observation, gray or small, does not change it
    env = cypool.make(id, num_envs=3, num_threads=2, seed=4, frame_skip=frame_skip, noop_max=0, use_fire_reset=False,
                      repeat_action_probability=0.25, autoreset_mode="SameStep")
    screens = [Screen(task, 4 + i) for i in range(3)]
    assert env.metadata["render_modes"] == ["rgb_array"] and env.render_mode == "rgb_array"
    assert env.metadata["render_fps"] == 60 // frame_skip
    env.reset()
    random = np.random.default_rng(0)
    for _ in range(30):
        pictures = env.render()
        assert isinstance(pictures, tuple) and len(pictures) == 3
        for picture, screen in zip(pictures, screens, strict=True):
            assert picture.dtype == np.uint8 and picture.shape == (rows, 160, 3)
            assert picture.tobytes() == screen.picture().tobytes()
        actions = random.integers(0, env.single_action_space.n, 3)
        env.step(actions)
        for action, screen in zip(actions, screens, strict=True):
            screen.step(action, frame_skip)
    for ids in ([1], [2, 0], np.array([1, 0, 2], np.uint8), (0,)):
        pictures = env.render(ids)
        assert isinstance(pictures, np.ndarray) and pictures.dtype == np.uint8
        assert pictures.shape == (len(ids), rows, 160, 3)
        for i, picture in zip(ids, pictures, strict=True):
            assert picture.tobytes() == screens[i].picture().tobytes()


@pytest.mark.parametrize("num_threads", THREADS)
def test_looking_changes_nothing(num_threads):
    env, twin = (started(cypool.make("Breakout-v5", num_envs=3, num_threads=num_threads, seed=1, max_episode_steps=20))
                 for _ in range(2))
    kept = env.render()
    before = [picture.copy() for picture in kept]
    for t in range(50):
        env.render([t % 3])
        assert env.step([t % 4, 2, 3])[0].tobytes() == twin.step([t % 4, 2, 3])[0].tobytes()
        env.render()
    # and a picture stays as it was
    assert all((a == b).all() for a, b in zip(kept, before, strict=True))
    assert any((a != b).any() for a, b in zip(kept, env.render(), strict=True))


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("batch_size", [4, 3])
def test_environments_of_a_plug_in(walker, num_threads, batch_size):
    env = cypool.make("walker/Trouble-v0", num_envs=4, batch_size=batch_size, num_threads=num_threads)
    with pytest.raises(RuntimeError, match="env 0 was never reset: call reset"):
        env.render()
    env.async_reset()
    with pytest.raises(RuntimeError, match="in flight"):
        env.render()
    receive_pending(env)
    env.step([0] * batch_size, range(batch_size))
    steps = [1] * batch_size + [0] * (4 - batch_size)
    assert [picture[0, 0].tolist() for picture in env.render()] == [[i, steps[i], 0] for i in range(4)]
    assert env.render([3, 1])[:, 1, 2].tolist() == [[3, steps[3], 0], [1, 1, 0]]


def test_in_flight(trouble):
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, batch_size=2, num_threads=2))
    env.send([0, 0], [1, 2])
    for ids in (None, [1], [0, 2]):
        with pytest.raises(RuntimeError, match="env [12] is in flight: call recv"):
            env.render(ids)
    assert env.render([0, 3]).shape == (2, 2, 3, 3)
    env.recv()
    assert len(env.render()) == 4
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.render()


@pytest.mark.parametrize("env_type", ["gymnasium", "gym", "dm"])
def test_each_api(env_type):
    env = started(cypool.make("Pong-v5", env_type, num_envs=2, seed=0))
    assert env.render([1]).shape == (1, 210, 160, 3)
    everything = env.render()
    assert isinstance(everything, tuple) == (env_type == "gymnasium")
    assert np.stack(everything).tobytes() == env.render([0, 1]).tobytes()
    if env_type == "gym":
        assert env.metadata["render_modes"] == ["rgb_array"]


@pytest.mark.parametrize("env_type", ["gymnasium", "gym", "dm"])
def test_texts_in_each_api(env_type):
    env = started(cypool.make("CliffWalking-v1", env_type, num_envs=2, render_mode="ansi"))
    text = "o  o  o  o  o  o  o  o  o  o  o  o\n" * 3 + "x  C  C  C  C  C  C  C  C  C  C  T\n\n"
    assert env.render() == (text, text) and env.render([1]) == (text,)
    copy = started(pickle.loads(pickle.dumps(env)))
    assert copy.render([1]) == (text,)


def test_texts_through_gymnasium(tmp_path):
    with warnings.catch_warnings(action="error"):
        env = gymnasium.make("cypool/FrozenLake-v1", render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "\n\x1b[41mS\x1b[0mFFF\nFHFH\nFFFH\nHFFG\n"
    pool = gymnasium.make_vec("cypool/FrozenLake-v1", num_envs=2, render_mode="ansi")
    pool.reset()
    assert pool.render() == (env.render(),) * 2 and pool.spec.kwargs["render_mode"] == "ansi"
    with pytest.raises(NotImplementedError, match="env: expected environments that can be rendered, got FrozenLake-v1 "
                                                  "with render_mode 'ansi'"):
        cypool.record(pool, tmp_path / "film.gif")


@pytest.mark.parametrize(("env_type", "legacy"), [("gym", False), ("gym", True), ("dm", False)])
def test_the_faces_of_envpool(env_type, legacy):
    env = envpool.make("Pong-v5", env_type, legacy=legacy, num_envs=3, render_mode="rgb_array")
    with pytest.raises(RuntimeError, match="never reset"):
        env.render()
    env.reset()
    env.step(np.array([2, 3, 2]))
    assert env.render_mode == "rgb_array"
    first = env.render()
    assert first.shape == (1, 210, 160, 3) and first.dtype == np.uint8
    assert env.render(0).tobytes() == env.render(env_ids=[0]).tobytes() == first.tobytes()
    assert env.render(np.array([2, 1])).shape == (2, 210, 160, 3)
    # there is no camera
    assert env.render(camera_id=1).tobytes() == first.tobytes()
    with pytest.raises(ValueError, match=r"^env_id: expected ids in \[0, 3\), got 3"):
        env.render(3)


def test_pictures_of_different_size():
    games = [{"task": "pong"}, {"task": "air_raid"}, {"task": "pong"}]
    env = started(cypool.make("Pong-v5", num_envs=3, full_action_space=True, env_options=games))
    with pytest.raises(ValueError, match=r"^env_id: expected environments whose images have the same size, got "
                                         r"\[\(210, 160, 3\), \(250, 160, 3\)\]"):
        env.render([0, 1])
    assert env.render([1]).shape == (1, 250, 160, 3) and env.render([2, 0]).shape == (2, 210, 160, 3)
    # one by one they may differ in size
    assert [len(picture) for picture in env.render()] == [210, 250, 210]
    gym = started(cypool.make("Pong-v5", "gym", num_envs=3, full_action_space=True, env_options=games))
    with pytest.raises(ValueError, match="^env_id: expected environments whose images have the same size"):
        gym.render()


def test_environments_that_cannot_be_drawn(walker):
    for id in ("walker/Bare-v0", "walker/Walk-v0"):
        env = cypool.make(id, num_envs=2)
        assert env.metadata["render_modes"] == [] and env.render_mode is None
        env.reset()
        for ids in (None, [1]):
            with pytest.raises(NotImplementedError, match="^(Bare|Walk) does not implement render"):
                env.render(ids)
        env.step([0, 0])


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.filterwarnings("ignore:.*autoreset mode is same-step")
def test_gymnasiums_video_recorder(monkeypatch, tmp_path, mode):
    # the encoder takes tens of megabytes: only its input is checked
    class ImageSequenceClip:
        def __init__(self, frames, fps):
            clips.append((frames, fps))

        def write_videofile(self, path, logger):
            assert Path(path).parent == tmp_path / "videos"

    clips = []
    for name in ("moviepy", "moviepy.video", "moviepy.video.io", "moviepy.video.io.ImageSequenceClip"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["moviepy.video.io.ImageSequenceClip"].ImageSequenceClip = ImageSequenceClip
    made = cypool.make("Breakout-v5", num_envs=4, seed=0, max_episode_steps=10, autoreset_mode=mode,
                       render_mode="rgb_array")
    env = wrappers.RecordVideo(made, str(tmp_path / "videos"), episode_trigger=lambda episode: episode < 3)
    pictures = []
    env.reset()
    pictures.append(np.stack(made.render()))
    for t in range(40):
        env.step([t % 4, 1, 2, 3])
        pictures.append(np.stack(made.render()))
    env.close()
    # side by side or one on the other: 4 pictures in 2 rows
    grids = [np.concatenate([np.concatenate(picture[:2], 1), np.concatenate(picture[2:], 1)]) for picture in pictures]
    length = 11 if mode == "NextStep" else 10
    assert len(clips) == 3
    for k, (frames, fps) in enumerate(clips):
        assert fps == 15 and len(frames) == length
        assert np.array_equal(frames, grids[k * length:(k + 1) * length])


def test_signals_still_end_a_program_that_has_drawn(run_python):
    pytest.importorskip("pygame")
    done = run_python("""
import os, signal, time, cypool

env = cypool.make("CartPole-v1", num_envs=1)
env.reset()
env.render()
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(60)
""")
    assert done.returncode == -signal.SIGTERM


def test_an_environment_that_keeps_its_state_elsewhere():
    entry_point = "gymnasium.envs.classic_control.cartpole:CartPoleEnv"
    message = (f"^render: expected {entry_point} with an attribute 'place', which gymnasium {gymnasium.__version__} "
               r"does not have: pip install 'gymnasium==1\.4")
    with pytest.raises(ImportError, match=message):
        draw(entry_point, {}, {"place": 1})


@pytest.mark.parametrize("module, id", [("cypool.envs.shared.pixels.pictures", "CartPole-v1"),
                                        ("cypool.envs.mpe2.pictures", "mpe2/simple-v3")])
def test_render_in_the_child_of_a_fork_while_a_thread_draws_returns(run_forked, module, id):
    pytest.importorskip("pygame")
    if id.startswith("mpe2"):
        pytest.importorskip("mpe2")
    assert run_forked(f"""
import os, signal, threading, cypool, {module} as pictures

held, over = threading.Event(), threading.Event()

def draw():
    with pictures.drawing():
        held.set()
        over.wait()

env = cypool.make({id!r}, num_threads=0)
env.reset()
thread = threading.Thread(target=draw)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    # ends a child that waits for ever
    signal.alarm(60)
    os._exit(env.render()[0].ndim)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
over.set()
thread.join()
""", check=True).stdout == "3\n"
