"""TorchRL with a storage of cypool's: the same bits as with TorchRL's own."""
import pytest
import torch
from torchrl.data import LazyTensorStorage, SliceSampler, TensorDictReplayBuffer

from cypool.adapters import torchrl
from cypool.adapters.torchrl_replay import FrameStorage

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari", "robotics")]


def check_equal(one, two):
    names = set(two.keys(True, True))
    assert set(one.keys(True, True)) == names and one.batch_size == two.batch_size
    for name in names:
        assert one.get(name).dtype == two.get(name).dtype and torch.equal(one.get(name), two.get(name)), name


@pytest.mark.parametrize("id, options", [
    ("CartPole-v1", {}), ("Breakout-v5", {"max_episode_steps": 12}), ("FetchReach-v4", {"max_episode_steps": 9})])
def test_samples_are_torchrls(id, options):
    env = torchrl.make(id, num_envs=3, seed=0, **options)
    env.set_seed(0)
    torch.manual_seed(0)
    storages = FrameStorage(env, 90, spare=0.4), LazyTensorStorage(90)
    buffers = [TensorDictReplayBuffer(storage=storage, batch_size=16) for storage in storages]
    # each begins with a reset, in the middle of an episode
    for _ in range(4):
        data = env.rollout(13, break_when_any_done=False, auto_reset=True)
        for buffer in buffers:
            buffer.extend(data.transpose(0, 1).reshape(-1))
        samples = []
        for buffer in buffers:
            torch.manual_seed(1)
            samples.append(buffer.sample())
        check_equal(*samples)
    for index in (slice(None), slice(3, 9), 5, [4, 2], torch.tensor([7, 7]), (torch.tensor([7, 7, 1]),)):
        check_equal(*(storage.get(index) for storage in storages))


def test_slices_are_torchrls():
    env = torchrl.make("CartPole-v1", num_envs=1, seed=0)
    data = env.rollout(80, break_when_any_done=False).reshape(-1)
    samples = []
    for storage in (FrameStorage(env, 90, spare=0.4), LazyTensorStorage(90)):
        buffer = TensorDictReplayBuffer(storage=storage, batch_size=16, sampler=SliceSampler(
            slice_len=4, end_key=("next", "done"), strict_length=False))
        buffer.extend(data)
        torch.manual_seed(1)
        samples.append(buffer.sample())
    check_equal(*samples)


def test_what_is_refused():
    env = torchrl.make("CartPole-v1", num_envs=2, max_episode_steps=2)
    storage = FrameStorage(env, 20, spare=0)
    buffer = TensorDictReplayBuffer(storage=storage, batch_size=8)
    data = env.rollout(5, break_when_any_done=False)
    with pytest.raises(ValueError, match="data: expected one dimension, with the same number of rows for each of 2"):
        buffer.extend(data.transpose(0, 1).reshape(-1)[:3])
    for _ in range(5):
        buffer.extend(data.transpose(0, 1).reshape(-1))
    with pytest.raises(RuntimeError, match="too short for this `spare`"):
        storage.get(slice(None))
    with pytest.raises(NotImplementedError, match="save its `state_dict`"):
        storage.dumps("x")
    with pytest.raises(ValueError, match="state_dict: expected 22 rows, got"):
        FrameStorage(env, 22).load_state_dict(storage.state_dict())
    with pytest.raises(ValueError, match="max_size: expected"):
        FrameStorage(env, 1)
