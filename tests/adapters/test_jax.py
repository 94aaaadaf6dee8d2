"""JAX arrays in and out."""
import jax
import numpy as np
import pytest
from receiving import started

import cypool

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari")]


def is_shared(array):
    return jax.dlpack.from_dlpack(array).unsafe_buffer_pointer() == array.ctypes.data


@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
def test_outputs_are_taken_without_a_copy(id):
    env = cypool.make(id, num_envs=6, seed=0)
    obs, _ = env.reset()
    assert is_shared(obs) and (np.asarray(jax.dlpack.from_dlpack(obs)) == obs).all()
    obs, reward, terminated, truncated, info = env.step(np.zeros(6, int))
    assert is_shared(obs) and is_shared(terminated) and is_shared(truncated) and is_shared(info["elapsed_step"])
    # without this JAX makes singles of doubles
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        assert is_shared(reward)


def test_arrays_are_actions():
    ours, theirs = (started(cypool.make("CartPole-v1", num_envs=6, seed=0)) for _ in "12")
    actions = np.array([0, 1, 1, 0, 1, 0])
    for _ in range(20):
        for a, b in zip(ours.step(actions)[:4], theirs.step(jax.numpy.asarray(actions))[:4], strict=True):
            assert (a == b).all()
