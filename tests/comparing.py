"""Comparisons of batches."""
import numpy as np


def assert_same(got, want):
    """Compares values of any structure bit for bit, with their types."""
    assert type(got) is type(want)
    if isinstance(want, np.ndarray | np.generic):
        assert got.dtype == want.dtype and got.shape == want.shape, (got, want)
    if isinstance(want, dict):
        assert list(got) == list(want)
        got, want = got.values(), want.values()
    elif isinstance(want, np.ndarray | np.generic) and want.dtype != object:
        assert got.tobytes() == want.tobytes(), (got, want)
        return
    elif not isinstance(want, tuple | list | np.ndarray):
        assert got == want
        return
    for a, b in zip(got, want, strict=True):
        assert_same(a, b)


def assert_trajectories(env, actions, expected):
    """Compares the episodes in an asynchronous pool with the batches of a synchronous one.

    Args:
        env: An asynchronous pool.
        actions: (num_envs, steps).
        expected: The batches that they lead to, one for each step, by env id.
    """
    num_envs, length = actions.shape
    env.async_reset()
    done = np.full(num_envs, -1)
    while done.min() < length:
        obs, reward, terminated, truncated, info = env.recv()
        leaves = list(obs) if isinstance(obs, dict) else [...]
        ids = info["env_id"]
        for row, i in enumerate(ids):
            if 0 <= done[i] < length:
                want = expected[done[i]]
                assert all(obs[leaf][row].tobytes() == want[0][leaf][i].tobytes() for leaf in leaves)
                assert reward[row] == want[1][i] and terminated[row] == want[2][i] and truncated[row] == want[3][i]
                assert info["elapsed_step"][row] == want[4]["elapsed_step"][i]
        done[ids] += 1
        env.send(actions[ids, np.minimum(done[ids], length - 1)], ids)
