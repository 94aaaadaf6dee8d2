"""Batches: an array once handed out never changes; its memory is used again when it is deleted."""
import gc

import numpy as np
import psutil
import pytest

import cypool

pytestmark = pytest.mark.families("atari")


def arrays(batch):
    obs, reward, terminated, truncated, info = batch
    return [*(obs.values() if isinstance(obs, dict) else [obs]), reward, terminated, truncated, *info.values()]


@pytest.mark.parametrize(("num_envs", "batch_size"), [(6, 6), (6, 2)])
def test_arrays_kept_never_change(num_envs, batch_size):
    env = cypool.make("CartPole-v1", num_envs=num_envs, batch_size=batch_size, num_threads=2, seed=0)
    env.async_reset()
    kept, copies = [], []
    for _ in range(200):
        batch = env.recv()
        kept.append(arrays(batch))
        copies.append([array.copy() for array in kept[-1]])
        env.send(np.ones(batch_size, np.int64), batch[4]["env_id"])
    env.close()
    for held, copy in zip(kept, copies, strict=True):
        assert all((a == b).all() for a, b in zip(held, copy, strict=True))
    data = {array.__array_interface__["data"][0] for held in kept for array in held}
    assert len(data) == sum(map(len, kept))


def test_a_view_keeps_the_memory_too():
    env = cypool.make("CartPole-v1", num_envs=4, seed=0)
    obs, _ = env.reset()
    views = [obs[1:3], memoryview(obs), obs.reshape(-1)[::2], obs.T[0]]
    copies = [np.array(view) for view in views]
    del obs
    for _ in range(100):
        env.step([0, 1, 0, 1])
    assert all((np.asarray(view) == copy).all() for view, copy in zip(views, copies, strict=True))


@pytest.mark.parametrize(("num_envs", "batch_size"), [(8, 8), (8, 4)])
def test_memory_nobody_holds_is_used_again(num_envs, batch_size):
    env = cypool.make("CartPole-v1", num_envs=num_envs, batch_size=batch_size)
    env.async_reset()
    places = set()
    for _ in range(500):
        obs, *_, info = env.recv()
        places.add(obs.ctypes.data)
        env.send(np.zeros(batch_size, np.int64), info["env_id"])
    assert len(places) <= 10


def test_arrays_are_aligned_writeable_and_own_their_rows():
    for num_envs, id in ((1, "CartPole-v1"), (3, "Pong-v5")):
        env = cypool.make(id, num_envs=num_envs)
        for batch in ((*env.reset()[:1], *env.step([0] * num_envs)[1:]), env.step([0] * num_envs)):
            for array in arrays(batch):
                assert array.ctypes.data % 64 == 0
                assert array.flags.writeable and array.flags.c_contiguous
                array[...] = 1


# NumPy 2.5 says so, and lets users do it
@pytest.mark.filterwarnings("ignore:Setting the (shape|dtype):DeprecationWarning")
def test_what_a_user_does_to_an_array_object_stays_with_it():
    env = cypool.make("CartPole-v1", num_envs=4)
    obs, _ = env.reset()
    for change in (lambda a: a.setflags(write=False), lambda a: setattr(a, "shape", (16,)),
                   lambda a: setattr(a, "shape", (2, 8)), lambda a: setattr(a, "dtype", np.int32)):
        change(obs)
        del obs
        for _ in range(20):
            obs, *_ = env.step([0] * 4)
            assert obs.shape == (4, 4) and obs.dtype == np.float32 and obs.flags.writeable


def test_arrays_outlive_the_pool():
    env = cypool.make("CartPole-v1", num_envs=4, seed=0)
    obs, _ = env.reset()
    expected = obs.copy()
    env.close()
    del env
    gc.collect()
    assert (obs == expected).all()


def test_actions_are_copied_at_send():
    envs = [cypool.make("CartPole-v1", num_envs=4, seed=0) for _ in range(2)]
    for env in envs:
        env.reset()
    actions = np.array([0, 1, 0, 1])
    envs[0].send(actions)
    actions[:] = 1 - actions
    envs[1].send(np.array([0, 1, 0, 1]))
    assert (envs[0].recv()[0] == envs[1].recv()[0]).all()


def test_pools_made_and_closed_leave_nothing_behind():
    def churn(times):
        for _ in range(times):
            env = cypool.make("CartPole-v1", num_envs=64, batch_size=32, num_threads=2)
            env.reset()
            env.step(np.zeros(32, np.int64))
            env.close()

    churn(50)
    growth = [np.inf]
    # a leak of one batch block or one environment's state each time would be several MB, each time
    while len(growth) < 4 and growth[-1] >= 2_000_000:
        before = psutil.Process().memory_info().rss
        churn(500)
        growth.append(psutil.Process().memory_info().rss - before)
    assert growth[-1] < 2_000_000


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_recv_without_memory_can_be_called_again(run_forked, num_threads):
    assert run_forked(f"""
import resource
import numpy as np
import cypool


def short_of_memory(call):
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    # enough for small things, not for a batch
    resource.setrlimit(resource.RLIMIT_AS, (mapped + 100_000, most))
    try:
        return call()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


most = resource.getrlimit(resource.RLIMIT_AS)[1]
# rows are large enough for their memory to be mapped
env = cypool.make("Pong-v5", num_envs=6, batch_size=3, num_threads={num_threads}, seed=0, stack_num=64, noop_max=1)
env.async_reset()
# resets load emulators, steps allocate nothing
kept = [env.recv(), env.recv()]
env.send([0] * 6, range(6))
steps, failures = np.ones(6, int), 0
while failures < 3:
    try:
        batch = short_of_memory(env.recv)
    except MemoryError:
        failures += 1
        assert env._pool.num_pending == 6
        # nothing is lost, and nothing comes twice
        batch = env.recv()
    ids = batch[4]["env_id"]
    assert (batch[4]["elapsed_step"] == steps[ids]).all() and len(set(ids)) == 3
    steps[ids] += 1
    kept.append(batch)
    env.send([0] * 3, ids)
print("ok")
""", check=True).stdout == "ok\n"
