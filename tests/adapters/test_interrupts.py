"""Adapters where a signal raises at each moment of a call: the next call works, and its result is right."""
import random
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from interrupting import counting_id, moments
from tensordict import TensorDict

import cypool
from cypool.adapters.tianshou import PoolVectorEnv
from cypool.adapters.torchrl import PoolEnv

sys.path.insert(0, str(Path(__file__).parents[2] / "fuzz"))
from fault_layers import check_steps
from fault_libraries import AddedToSB3, AddedToTianshou, AddedToTorchRL

pytestmark = pytest.mark.large_packages


def counting(**options):
    return cypool.make(counting_id(), num_envs=2, num_threads=1, autoreset_mode="SameStep", **options)


@pytest.mark.parametrize("layer, every", [(AddedToSB3, 7), (AddedToTianshou, 499), (AddedToTorchRL, 397)])
def test_add_interrupted_anywhere_mixes_no_steps(layer, every):
    buffer = layer(random.Random(3), None)
    buffer.works()

    def step():
        return buffer.walks.step(buffer.actions(buffer.n))

    steps = [step()]
    for _ in moments(lambda: buffer.put(steps[-1]), every):
        # the next one goes well, and that behind it is interrupted
        buffer.put(step())
        steps.append(step())
        check_steps(*buffer.drawn(), layer.__name__)
    buffer.works()


def test_library_draws_from_a_buffer_all_of_whose_rows_are_lost():
    buffer = AddedToTianshou(random.Random(3), None)
    step = buffer.walks.step(buffer.actions(buffer.n))
    buffer.put(step)
    buffer.buffer._index[:] = -1
    with pytest.raises(RuntimeError, match="expected a buffer with rows"):
        buffer.buffer.sample(4)


def test_tianshou_step_interrupted_anywhere_keeps_no_wrong_first_observation():
    env, ends = PoolVectorEnv(counting()), np.full((2, 1), -0.5, np.float32)
    env.reset()
    for _ in moments(lambda: env.step(ends), 5):
        if env.pool._pool.num_pending:
            env.reset()
        # of an episode that has ended, or of another one
        first, _ = env.reset([0, 1])
        assert (first[:, 2, 1] == 0).all()
        obs, *_ = env.step(-ends)
        np.testing.assert_array_equal(obs[:, 2, 0], first[:, 2, 0] + 1)


def test_tianshou_step_that_is_refused_leaves_nothing_waiting():
    env = PoolVectorEnv(counting(batch_size=1))
    env.reset()
    with pytest.raises(ValueError, match="actions"):
        env.step(np.full((2, 1), np.nan, np.float32))
    assert env.waiting_id == []
    env.step(np.zeros((2, 1), np.float32))
    assert len(env.waiting_id) == 1
    env.step(None)
    env.reset([0])


def test_torchrl_environment_is_reset_after_an_interrupt():
    env = PoolEnv(counting())
    env.reset()
    given = TensorDict({"action": torch.full((2, 1), 0.5)}, [2])
    for _ in moments(lambda: env.step(given.clone()), 29):
        first = env.reset()["observation"]
        after = env.step(given.clone())["next", "observation"]
        assert (after[:, 2, 0] == first[:, 2, 0] + 1).all()
    # as where the signal comes while the pool waits
    env.pool.send(np.zeros((2, 1), np.float32))
    env.reset()
