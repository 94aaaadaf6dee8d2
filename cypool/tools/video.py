"""`cypool.record`: a video of a pool, with all environments side by side."""
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from cypool.api.gymnasium import GymnasiumPool
from cypool.arguments.env_ids import ids_of
from cypool.util.arguments import check_float, check_int, check_path, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cypool.util.typing import Floats, Pathlike


# the endings of films
FORMATS = (".mp4", ".gif", ".png", ".mkv", ".mov", ".avi")


def record(env: Any, path: Pathlike, *, actions: Callable[[Any], Any] | None = None,
           num_steps: int = 500, env_id: ArrayLike | None = None, fps: float | None = None) -> Floats:
    """Resets a pool, steps it and writes a video, with the environments in a grid, row by row.

    Args:
        env: A synchronous pool with the Gymnasium API whose environments can be rendered.
        path: The output file, such as "out.mp4" or "out.gif"; its extension, one of `FORMATS`, sets the format. A PNG
            is animated and lossless; its frames stay in memory until it is written.
        actions: A function that maps the observation of all environments to their actions; by default, actions are
            random.
        num_steps: Number of steps; the video has one more frame.
        env_id: Integers, shape (k,): the environments to show; all by default.
        fps: Frames per second; by default, the environment's.

    Returns:
        The rewards, float64, (num_steps, num_envs).

    Raises:
        ImportError: imageio is not installed.
        TypeError, ValueError: Wrong arguments.
        NotImplementedError: The environments cannot be rendered.
    """
    # there may be wrappers of Gymnasium's around it
    pool = env.unwrapped if isinstance(env, VectorEnv) else env
    if not isinstance(pool, GymnasiumPool):
        # an adapter has its pool there
        # a stranger's attributes may raise anything
        try:
            hint = ": pass its .pool" if isinstance(getattr(env, "pool", None), GymnasiumPool) else ""
        except Exception:
            hint = ""
        raise TypeError(f"env: expected a pool with env_type 'gymnasium', got {shown(env)}{hint}")
    if pool.is_async:
        raise ValueError("env: expected a synchronous pool, because the rows of an asynchronous pool are unordered")
    if env.render_mode != "rgb_array":
        raise NotImplementedError(f"env: expected environments that can be rendered, got {pool.env_spec.id} with "
                                  f"render_mode {env.render_mode!r}")
    path = check_film("path", path)
    num_steps = check_int("num_steps", num_steps, 1, 2**31 - 1)
    if actions is not None and not callable(actions):
        raise TypeError(f"actions: expected a function, got {shown(actions)}")
    fps = env.metadata.get("render_fps", 30) if fps is None else check_float("fps", fps, 0.01, 1000)
    ids = ids_of(env_id)
    if ids is not None:
        ids = ids.copy()
    if ids is not None and not (ids.size and 0 <= ids.min() and ids.max() < env.num_envs):
        raise ValueError(f"env_id: expected ids in [0, {env.num_envs}), got {shown(env_id)}")
    with VideoWriter(path, fps) as video:
        def show() -> None:
            video.add(tiled(env.render() if ids is None else pool.render(ids)))

        obs, _ = env.reset()
        rewards = np.zeros((num_steps, env.num_envs))
        show()
        for t in range(num_steps):
            obs, rewards[t], _, _, _ = env.step(pool.sample_legal() if actions is None else actions(obs))
            show()
    return rewards


def check_film(name: str, path: Any) -> str:
    """Returns the path of a video as a str; raises as `check_path` does, or a ValueError for another extension."""
    film = check_path(name, path)
    if os.path.splitext(film)[1] not in FORMATS:
        raise ValueError(f"{name}: expected a file name that ends in {', '.join(FORMATS)}, got {shown(film)}")
    return film


def tiled(pictures: Sequence[ArrayLike]) -> NDArray[np.uint8]:
    """Arranges pictures in a grid that is as square as possible.

    Args:
        pictures: uint8 arrays, each (height, width, 3).

    Returns:
        uint8, (rows * height, columns * width, 3); empty cells are black.

    Raises:
        ValueError: The pictures differ in size.
    """
    arrays = [np.asarray(picture) for picture in pictures]
    sizes = {array.shape for array in arrays}
    if len(sizes) != 1:
        raise ValueError(f"pictures: expected images of the same size, got {sorted(sizes)}")
    (height, width, depth), = sizes
    columns = int(np.ceil(np.sqrt(len(arrays))))
    rows = -(-len(arrays) // columns)
    grid = np.zeros((rows * columns, height, width, depth), np.uint8)
    grid[:len(arrays)] = arrays
    grid = grid.reshape(rows, columns, height, width, depth).swapaxes(1, 2)
    return grid.reshape(rows * height, columns * width, depth)


class VideoWriter:
    """A video being written: `with VideoWriter("out.mp4", 30) as video: video.add(picture)`.

    Args:
        path: The output file.
        fps: Frames per second.
    """

    def __init__(self, path: str, fps: float):
        try:
            import imageio.v2 as imageio
        except ImportError as error:
            raise ImportError('record: imageio is not installed: pip install "cypool[video]"') from error
        self._writer: Any
        try:
            if path.endswith(".png"):
                self._writer = _Png(path, fps)
            elif path.endswith(".gif"):
                self._writer = imageio.get_writer(path, duration=1000 / fps, loop=0)
            else:
                # no size of a picture is changed to one that old players prefer
                self._writer = imageio.get_writer(path, fps=fps, macro_block_size=2)
        except ValueError as error:
            raise ValueError(f"path: expected a video, such as out.mp4 or out.gif, got {path!r}: {error}") from error

    def add(self, picture: NDArray[np.uint8]) -> None:
        """Appends a picture: uint8, (height, width, 3)."""
        self._writer.append_data(picture)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()


class _Png:
    """An animated PNG, which imageio cannot write."""

    def __init__(self, path: str, fps: float):
        self._pictures: list[Any] = []
        self._file, self._fps = open(path, "wb"), fps

    def append_data(self, picture: NDArray[np.uint8]) -> None:
        from PIL import Image  # imageio needs it, too

        self._pictures.append(Image.fromarray(picture))

    def close(self) -> None:
        with self._file as file:
            if self._pictures:
                first, *others = self._pictures
                first.save(file, "PNG", save_all=True, append_images=others, duration=1000 / self._fps, loop=0)
