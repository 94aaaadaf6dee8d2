"""`cypool.record` films a pool."""
import gc

import gymnasium
import imageio.v2 as imageio
import numpy as np
import pytest
from PIL import Image

import cypool
from cypool.tools.video import tiled

# imageio-ffmpeg leaves its pipes to the garbage collector
pytestmark = [pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
              pytest.mark.families("atari")]


@pytest.fixture(autouse=True)
def collected():
    yield
    gc.collect()


def test_film_shows_what_happens(tmp_path):
    env, twin = (cypool.make("CartPole-v1", num_envs=3, seed=0) for _ in "12")
    rewards = cypool.record(env, tmp_path / "out.gif", actions=lambda obs: (obs[:, 2] > 0).astype(int), num_steps=4)
    obs, _ = twin.reset()
    film = imageio.mimread(tmp_path / "out.gif")
    assert len(film) == 5 and rewards.shape == (4, 3)
    for picture, reward in zip(film, [None, *rewards], strict=True):
        if reward is not None:
            obs, expected, *_ = twin.step((obs[:, 2] > 0).astype(int))
            assert (reward == expected).all()
        wanted = tiled(twin.render())
        # a GIF has few colours, and so have these pictures
        assert picture.shape[:2] == wanted.shape[:2] == (800, 1200)
        assert abs(picture[..., :3].astype(int) - wanted).mean() < 1


class Twice(gymnasium.vector.VectorWrapper):
    """Takes two steps at a time."""

    def step(self, actions):
        self.env.step(actions)
        return self.env.step(actions)


def test_film_of_a_wrapped_pool_shows_what_the_wrapper_does(tmp_path):
    env, twin = (cypool.make("CartPole-v1", num_envs=2, seed=0) for _ in "12")
    cypool.record(Twice(env), tmp_path / "out.png", actions=lambda obs: np.zeros(2, int), num_steps=1, env_id=[1])
    twin.reset()
    for _ in "12":
        twin.step(np.zeros(2, int))
    with Image.open(tmp_path / "out.png") as film:
        film.seek(1)
        assert np.array_equal(np.asarray(film.convert("RGB")), twin.render([1])[0])


def test_mp4_of_some(tmp_path):
    env = cypool.make("Pong-v5", num_envs=4, seed=0)
    cypool.record(env, tmp_path / "out.mp4", num_steps=3, env_id=[2, 0], fps=10)
    with imageio.get_reader(tmp_path / "out.mp4") as reader:
        film = list(reader.iter_data())
    assert len(film) == 4 and film[0].shape == (210, 320, 3)
    env.close()


def test_png_has_every_picture_unchanged(tmp_path):
    env, twin = (cypool.make("Pong-v5", num_envs=2, seed=0) for _ in "12")
    cypool.record(env, tmp_path / "out.png", actions=lambda obs: [2, 3], num_steps=4, fps=20)
    twin.reset()
    with Image.open(tmp_path / "out.png") as film:
        shown = []
        for number in range(film.n_frames):
            film.seek(number)
            # equal ones become one that is shown for longer
            shown += [np.asarray(film.convert("RGB"))] * round(film.info["duration"] / 50)
    assert len(shown) == 5
    for number, picture in enumerate(shown):
        if number:
            twin.step([2, 3])
        assert (picture == tiled(twin.render())).all()


def test_grid():
    pictures = [np.full((2, 3, 3), k, np.uint8) for k in range(1, 6)]
    grid = tiled(pictures)
    assert grid.shape == (4, 9, 3)
    assert grid[::2, ::3, 0].tolist() == [[1, 2, 3], [4, 5, 0]]
    assert tiled(pictures[:1]).shape == (2, 3, 3)
    with pytest.raises(ValueError, match="^pictures: expected images of the same size"):
        tiled([pictures[0], pictures[1][:1]])


def test_bad_arguments(tmp_path):
    env = cypool.make("CartPole-v1", num_envs=2)
    with pytest.raises(TypeError, match="^actions: expected a function"):
        cypool.record(env, tmp_path / "a.gif", actions=[0, 1])
    with pytest.raises(ValueError, match="^num_steps"):
        cypool.record(env, tmp_path / "a.gif", num_steps=0)

    class Hostile:
        def __getattr__(self, name):
            raise RuntimeError("on purpose")

    with pytest.raises(TypeError, match="^env: expected a pool with env_type 'gymnasium'"):
        cypool.record(Hostile(), tmp_path / "a.gif")
    with pytest.raises(ValueError, match="^env: expected a synchronous pool"):
        cypool.record(cypool.make("CartPole-v1", num_envs=2, batch_size=1), tmp_path / "a.gif")


def test_without_imageio(run_forked):
    done = run_forked("import sys; sys.modules['imageio'] = None; import cypool; "
                      "cypool.record(cypool.make('CartPole-v1'), 'out.mp4')")
    assert 'pip install "cypool[video]"' in done.stderr and "ImportError" in done.stderr
