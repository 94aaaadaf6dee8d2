"""Tensors in and out, without a copy in between."""
import gc

import numpy as np
import pytest
import torch
from pool_arguments import THREADS
from receiving import started

import cypool

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari")]

NUM = 6


def tensors(env, *lead):
    shape = env.single_observation_space.shape
    dtype = torch.from_numpy(np.zeros(0, env.single_observation_space.dtype)).dtype
    return (torch.ones(*lead, *shape, dtype=dtype), torch.ones(*lead, dtype=torch.float64),
            torch.ones(*lead, dtype=torch.bool), torch.ones(*lead, dtype=torch.bool))


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
def test_tensors_as_out(id, mode, num_threads):
    env, twin = (started(cypool.make(id, num_envs=NUM, num_threads=num_threads, seed=0, autoreset_mode=mode,
                                     max_episode_steps=20)) for _ in "12")
    buffers = tensors(env, 60, NUM)
    places = [buffer.data_ptr() for buffer in buffers]
    for t in range(60):
        actions = torch.arange(NUM) % 2
        obs, reward, terminated, truncated, _ = env.step(actions, out=tuple(buffer[t] for buffer in buffers))
        want = twin.step(actions.numpy())[:4]
        for got, buffer, expected in zip((obs, reward, terminated, truncated), buffers, want, strict=True):
            assert got.ctypes.data == buffer[t].data_ptr()
            assert buffer[t].numpy().tobytes() == got.tobytes() == expected.tobytes()
    assert [buffer.data_ptr() for buffer in buffers] == places and (buffers[2] | buffers[3]).any()


def test_rollout_buffers_as_tensors():
    env, twin = (cypool.make("CartPole-v1", num_envs=NUM, seed=0) for _ in "12")
    buffers = env.rollout_buffers(30)
    obs, reward = torch.from_numpy(buffers.next_obs), torch.from_numpy(buffers.reward)
    env.reset()
    twin.reset()
    for t in range(30):
        env.step([t % 2] * NUM, out=buffers[t])
        want = twin.step([t % 2] * NUM)
        assert obs[t].numpy().tobytes() == want[0].tobytes() and reward[t].tolist() == want[1].tolist()


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.uint8])
def test_tensors_as_actions(dtype):
    env, twin = (started(cypool.make("CartPole-v1", num_envs=NUM, seed=0)) for _ in "12")
    random = torch.Generator().manual_seed(0)
    for _ in range(100):
        actions = torch.randint(0, 2, (NUM,), generator=random).to(dtype)
        for got, want in zip(env.step(actions)[:4], twin.step(actions.tolist())[:4], strict=True):
            assert got.tobytes() == want.tobytes()
    ids = torch.tensor([4, 1])
    assert env.step(torch.tensor([0, 1]), ids)[4]["env_id"].tolist() == [4, 1]
    with pytest.raises(TypeError, match="^actions: expected integers"):
        env.step(torch.zeros(NUM))
    with pytest.raises(ValueError, match="^actions"):
        env.step(torch.full((NUM,), 2))


@pytest.mark.parametrize("take", [torch.from_numpy, torch.from_dlpack, torch.as_tensor], ids=lambda take: take.__name__)
@pytest.mark.parametrize("batch_size", [NUM, 4])
def test_outputs_become_tensors_without_a_copy(take, batch_size):
    env = cypool.make("CartPole-v1", num_envs=NUM, batch_size=batch_size, num_threads=2)
    env.reset()
    kept = []
    for t in range(50):
        batch = env.step([t % 2] * batch_size)
        arrays = [*batch[:4], batch[4]["env_id"], batch[4]["elapsed_step"]]
        full = len(batch[0]) == batch_size
        for array in arrays:
            tensor = take(array)
            assert tensor.data_ptr() == array.ctypes.data and (tensor.data_ptr() % 64 == 0 or not full)
            # writeable, and the memory is the user's as long as there is a tensor
            tensor.copy_(tensor.logical_not())
            kept.append((tensor, tensor.clone()))
    del batch, arrays, array, tensor
    gc.collect()
    for _ in range(50):
        env.step([0] * batch_size)
    assert all(torch.equal(tensor, then) for tensor, then in kept)


def test_a_tensor_outlives_the_pool():
    env = cypool.make("Pong-v5", num_envs=2, seed=0)
    obs = torch.from_numpy(env.reset()[0])
    then = obs.clone()
    env.close()
    del env
    gc.collect()
    assert torch.equal(obs, then) and obs.shape == (2, 4, 84, 84)


BAD = {
    "gradient": lambda obs: obs.requires_grad_(),
    "bfloat16": lambda obs: obs.to(torch.bfloat16),
    "float64": lambda obs: obs.double(),
    "meta": lambda obs: obs.to("meta"),
    "strides": lambda obs: torch.ones(NUM, 8)[:, ::2],
    "transposed": lambda obs: torch.ones(4, NUM).T,
    "expanded": lambda obs: torch.ones(1, 4).expand(NUM, 4),
    "sparse": lambda obs: obs.to_sparse(),
    "conjugate": lambda obs: torch.ones(NUM, 4, dtype=torch.complex64).conj(),
    "negative": lambda obs: torch.ones(NUM, 4, dtype=torch.complex64).conj().imag,
    "a row less": lambda obs: obs[1:],
    "no axis": lambda obs: torch.tensor(1.0),
}


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("what", BAD)
def test_bad_tensors(what):
    env = started(cypool.make("CartPole-v1", num_envs=NUM))
    obs, *flags = tensors(env, NUM)
    with pytest.raises((TypeError, ValueError), match="^out: expected"):
        env.step([0] * NUM, out=(BAD[what](obs), *flags))
    obs, *flags = tensors(env, NUM)
    assert env.step([0] * NUM, out=(obs, *flags))[4]["elapsed_step"].tolist() == [1] * NUM


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("id", ["CartPole-v1", "Blackjack-v1", "Pong-v5"])
def test_pool_of_tensors(id, mode):
    kwargs = {"num_envs": NUM, "seed": 0, "max_episode_steps": 20, "autoreset_mode": mode}
    env, twin = cypool.make(id, **kwargs).torch(), cypool.make(id, **kwargs)

    def check(got, want):
        pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
        assert all(tensor.numpy().tobytes() == array.tobytes() for tensor, array in pairs)

    check(env.reset()[0], twin.reset()[0])
    ended = 0
    for t in range(45):
        obs, reward, terminated, truncated, info = env.step(torch.full((NUM,), t % 2))
        want = twin.step([t % 2] * NUM)
        check(obs, want[0])
        check(terminated, want[2])
        check(truncated, want[3])
        assert reward.dtype == torch.float32 and reward.tolist() == want[1].astype(np.float32).tolist()
        assert (info["elapsed_step"] == want[4]["elapsed_step"]).all()
        if mode == "SameStep" and (want[2] | want[3]).any():
            assert info["_final_obs"].tolist() == (want[2] | want[3]).tolist()
            for k, row in enumerate(np.flatnonzero(want[2] | want[3])):
                final = info["final_obs"]
                check(tuple(part[k] for part in final) if isinstance(final, tuple) else final[k],
                      want[4]["final_obs"][row])
                ended += 1
    assert ended or mode == "NextStep"


def test_pool_of_tensors_shares_its_memory():
    env = cypool.make("Pong-v5", num_envs=2, seed=0).torch()
    obs, _ = env.reset()
    kept = [obs, obs.clone()]
    assert env.step(torch.zeros(2, dtype=torch.int64))[0].data_ptr() % 64 == 0 and torch.equal(*kept)
    assert env.num_envs == 2 and env.single_action_space.n == 6
    env.send(torch.zeros(2, dtype=torch.int64))
    assert env.recv()[0].shape == (2, 4, 84, 84)
    assert env.step(torch.tensor([1]), [1])[4]["env_id"].tolist() == [1]
    with env:
        pass
    with pytest.raises(cypool.ClosedError):
        env.reset()


def test_another_device_gets_copies_from_two_buffers():
    # meta stands in for a device: it holds shapes and dtypes
    env = cypool.make("CartPole-v1", num_envs=NUM, seed=0, autoreset_mode="SameStep").torch("meta")
    assert env.reset()[0].device.type == "meta"
    twin = started(cypool.make("CartPole-v1", num_envs=NUM, seed=0))
    places = []
    for t in range(4):
        obs, reward, terminated, truncated, _ = env.step([t % 2] * NUM)
        want = twin.step([t % 2] * NUM)[0]
        filled = env._buffers[t % 2].arrays[0]
        assert (filled == want).all()
        places.append(filled.ctypes.data)
        assert obs.is_meta and obs.shape == (NUM, 4) and reward.is_meta and truncated.dtype == torch.bool
    assert places[0] == places[2] != places[1] == places[3]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_batches_of_errors_are_not_filled_again(walker, mode):
    env = cypool.make("walker/Trouble-v0", num_envs=NUM, autoreset_mode=mode, num_threads=2).torch("meta")
    twin = started(cypool.make("walker/Trouble-v0", num_envs=NUM, autoreset_mode=mode))
    env.reset()
    kept = []
    for t in range(6):
        # every second step fails in one environment
        actions = torch.tensor([t % 2] + [0] * (NUM - 1))
        for each in (env, twin) if t % 2 else ():
            with pytest.raises(cypool.EnvError) as caught:
                each.step(actions)
            kept.append(caught.value.batch)
        if t % 2 == 0:
            env.step(actions)
            twin.step(actions)
    buffers = [array for buffer in env._buffers for array in (*buffer.arrays[0].values(), *buffer.arrays[1:])]
    for got, want in zip(kept[::2], kept[1::2], strict=True):
        arrays = [*got[0].values(), *got[1:4]]
        for array, expected in zip(arrays, [*want[0].values(), *want[1:4]], strict=True):
            assert isinstance(array, np.ndarray) and array.tobytes() == expected.tobytes()
            assert not any(np.shares_memory(array, buffer) for buffer in buffers)


def test_actions_of_tensors_in_a_dict(walker):
    env, twin = cypool.make("walker/Levers-v0", num_envs=2).torch(), cypool.make("walker/Levers-v0", num_envs=2)
    env.reset()
    twin.reset()
    actions = {"push": torch.ones(2, 3) / 2, "lever": torch.tensor([0, 2])}
    got, want = env.step(actions), twin.step({name: part.numpy() for name, part in actions.items()})
    assert (got[0].numpy() == want[0]).all() and got[1].tolist() == want[1].tolist() == [0.5, 2.5]


@pytest.mark.parametrize("kwargs", [{"batch_size": 2}, {"normalize_obs": True}])
def test_another_device_without_buffers(kwargs):
    env = cypool.make("CartPole-v1", num_envs=NUM, **kwargs).torch("meta")
    obs, info = env.reset()
    assert all(tensor.is_meta for tensor in (obs, *env.step([0] * len(obs), info["env_id"])[:4]))


def test_devices_it_cannot_use():
    with pytest.raises(ValueError, match="^pin: expected False for device 'cpu', got True"):
        cypool.make("CartPole-v1").torch(pin=True)


if torch.cuda.is_available():
    @pytest.mark.parametrize("pin", [True, False])
    def test_cuda(pin):
        env = cypool.make("Pong-v5", num_envs=NUM, seed=0).torch("cuda", pin=pin)
        twin = started(cypool.make("Pong-v5", num_envs=NUM, seed=0))
        env.reset()
        got, want = [], []
        for t in range(50):
            actions = torch.full((NUM,), t % 6)
            got.append(env.step(actions.cuda())[:4])
            want.append(twin.step(actions)[:4])
        for ours, theirs in zip(got, want, strict=True):
            for tensor, array in zip(ours, theirs, strict=True):
                assert tensor.is_cuda and (tensor.cpu().numpy() == array).all()


@pytest.mark.parametrize("id, options", [
    ("Breakout-v5", {"max_episode_steps": 9}), ("CartPole-v1", {}),
    ("Breakout-v5", {"gray_scale": False, "channels_last": True, "stack_num": 2, "max_episode_steps": 7})])
def test_a_rollout_with_each_frame_once(id, options):
    env = cypool.make(id, num_envs=3, seed=1, autoreset_mode="SameStep", **options)
    pool = env.torch()
    buffers, wanted = pool.rollout_buffers(20, frames="once"), tensors(env, 21, 3)[0]
    assert len(pool.rollout_buffers(5)) == 5
    obs, _ = pool.reset()
    for _ in range(2):
        buffers.begin(obs)
        wanted[0] = obs
        for t in range(20):
            obs, *_ = pool.step(torch.zeros(3, dtype=torch.int64))
            buffers.add(obs)
            wanted[t + 1] = obs
        assert torch.equal(buffers.stacks(), wanted)
        rows = torch.randperm(60)
        for index in (rows, rows.numpy(), rows.to(torch.int32)):
            assert torch.equal(buffers.stacks(index), wanted.flatten(0, 1)[rows])
    for wrong in (torch.tensor([63]), torch.tensor([-1]), torch.tensor([0.5]), torch.tensor([[0]]), [63], "x"):
        with pytest.raises((TypeError, ValueError), match="index: expected"):
            buffers.stacks(wrong)
    with pytest.raises((TypeError, ValueError), match="obs: expected"):
        buffers.begin(obs[:2])
