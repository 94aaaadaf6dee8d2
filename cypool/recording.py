"""`cypool.record`: a film of a pool, all environments side by side."""
import numpy as np

from cypool.arguments import check_int


def record(env, path, *, actions=None, num_steps=500, env_id=None, fps=None):
    """Resets a pool, steps it, and writes what it shows to a film: environments in a grid, row by row.

    Args:
        env: A synchronous pool of the Gymnasium face whose environments can be drawn.
        path: Where to, such as "out.mp4" or "out.gif"; the ending says the format.
        actions: A function from the observation of all environments to their actions; by default chosen at random.
        num_steps: How many steps; the film has one picture more.
        env_id: Integers, shape (k,): which environments to show; all by default.
        fps: Pictures per second; by default those of the environment.

    Returns:
        The rewards, float64, (num_steps, num_envs).

    Raises:
        ImportError: imageio is not installed.
        TypeError, ValueError: Wrong arguments.
        NotImplementedError: The environments cannot be drawn.
    """
    with Film(path, fps or env.metadata.get("render_fps", 30)) as film:
        def show():
            film.add(tiled(env.render() if env_id is None else env.render(env_id)))

        num_steps = check_int("num_steps", num_steps, 1, 2**31 - 1)
        if actions is not None and not callable(actions):
            raise TypeError(f"actions: expected a function, got {actions!r}")
        if env.is_async:
            raise ValueError("env: expected a synchronous pool, as rows of others are in no fixed order")
        obs, _ = env.reset()
        rewards = np.zeros((num_steps, env.num_envs))
        show()
        for t in range(num_steps):
            obs, rewards[t], _, _, _ = env.step(env.action_space.sample() if actions is None else actions(obs))
            show()
    return rewards


def tiled(pictures):
    """Puts pictures side by side, in a grid as square as can be.

    Args:
        pictures: uint8 arrays, each (height, width, 3).

    Returns:
        uint8, (rows * height, columns * width, 3); black where there are not enough pictures.

    Raises:
        ValueError: The pictures differ in size.
    """
    pictures = [np.asarray(picture) for picture in pictures]
    sizes = {picture.shape for picture in pictures}
    if len(sizes) != 1:
        raise ValueError(f"pictures: expected some of one size, got {sorted(sizes)}")
    (height, width, depth), = sizes
    columns = int(np.ceil(np.sqrt(len(pictures))))
    rows = -(-len(pictures) // columns)
    grid = np.zeros((rows * columns, height, width, depth), np.uint8)
    grid[:len(pictures)] = pictures
    grid = grid.reshape(rows, columns, height, width, depth).swapaxes(1, 2)
    return grid.reshape(rows * height, columns * width, depth)


class Film:
    """A film that is being written: `with Film("out.mp4", 30) as film: film.add(picture)`.

    Args:
        path: Where to.
        fps: Pictures per second.
    """

    def __init__(self, path, fps):
        try:
            import imageio.v2 as imageio
        except ImportError as error:
            raise ImportError('record: expected imageio, which is not there: pip install "cypool[video]"') from error
        gif = str(path).endswith(".gif")
        # no size of a picture is changed to one that old players prefer
        self._writer = (imageio.get_writer(path, duration=1000 / fps, loop=0) if gif
                        else imageio.get_writer(path, fps=fps, macro_block_size=2))

    def add(self, picture):
        """Appends a picture: uint8, (height, width, 3)."""
        self._writer.append_data(picture)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._writer.close()
