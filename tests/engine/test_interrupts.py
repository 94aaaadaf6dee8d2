"""A signal whose handler raises, at each moment of a call: the next results are right."""
import threading

import numpy as np
import pytest
from interrupting import counting_id, moments
from receiving import started

import cypool
from cypool.compat import envpool
from cypool.util.lock_guard import LockGuard

# a file that was opened where the signal came is closed by the garbage collector
pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning"),
              pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]


def counting(num_envs=2, **options):
    return started(cypool.make(counting_id(), **{"num_envs": num_envs, "num_threads": 1, **options}))


class Actions:
    """Actions, no two of them equal."""

    def __init__(self, num_envs=2):
        self.num_envs, self.count = num_envs, 0

    def __call__(self):
        self.count += self.num_envs
        return np.arange(self.count, self.count + self.num_envs).astype(np.float32)[:, None] / 2**14


def check_transitions(obs, action, next_obs):
    """Each row says of which step it is."""
    assert (np.diff(obs[..., 0]) == 1).all() and (next_obs[:, 2, 0] == obs[:, 2, 0] + 1).all()
    np.testing.assert_array_equal(next_obs[:, 2, 1], action.reshape(-1))
    np.testing.assert_array_equal(next_obs[:, :2], obs[:, 1:])


def test_reward_hook_after_an_interrupt_gets_the_actions_of_the_step():
    env = counting(reward_hook=lambda batch: batch.action[:, 0], autoreset_mode="SameStep")
    actions, given = Actions(), []

    def step():
        given.append(actions())
        env.step(given[-1])

    received = 0
    for _ in moments(step):
        if env._pool.num_pending:
            received += 1
            np.testing.assert_array_equal(env.recv()[1], given[-1][:, 0])
    if not received:
        pytest.skip("this Python handles no signal between sending and receiving")


def test_guard_that_is_freed_before_its_block_releases_the_lock():
    lock = threading.Lock()
    with pytest.raises(ArithmeticError), LockGuard(lock):
        raise ArithmeticError
    assert lock.acquire(blocking=False)
    lock.release()
    guard = LockGuard(lock)
    # as in Python 3.14, where a handler raises here
    guard.__enter__()
    assert lock.locked()
    del guard
    assert not lock.locked()


def test_buffer_after_an_interrupt_holds_no_lock():
    env, actions = counting(), Actions()
    buffer = cypool.ReplayBuffer(env, 200)
    buffer.reset()
    for _ in range(4):
        buffer.step(actions())
    errors = []
    for call in (lambda: buffer.sample(2), lambda: buffer.gather(buffer.indices()), lambda: list(buffer.episodes())):
        for error in moments(call, every=53):
            # its frames, and the objects that they hold, live on
            errors.append(error)
            assert buffer._lock.acquire(blocking=False)
            buffer._lock.release()
    assert len(errors) > 10


def test_first_call_of_a_buffer_after_an_interrupt_attaches_it_once():
    env, actions = counting(), Actions()
    buffers = [cypool.ReplayBuffer(env, 200)]
    for _ in moments(lambda: buffers[-1].reset(), every=7):
        buffer = buffers.pop()
        buffers.append(cypool.ReplayBuffer(env, 200))
        buffer.reset()
        buffer.step(actions())
        sample = buffer.gather(buffer.indices())
        assert len(buffer) == 2
        check_transitions(sample.obs, sample.action, sample.next_obs)


def test_close_of_a_buffer_after_an_interrupt_gives_its_file_free(tmp_path):
    env, buffers = counting(), []
    given = {"capacity": 20, "path": tmp_path / "rows"}

    def close():
        buffers[-1].close()

    buffers.append(cypool.ReplayBuffer(env, **given))
    for error in moments(close):
        buffers.pop().close()
        if error is not None:
            buffers.append(cypool.ReplayBuffer(env, **given))


def test_add_tried_again_after_an_interrupt_joins_no_other_steps():
    env, actions, frames = counting(), Actions(), np.zeros((2, 3, 2), np.float32)
    frames[:, :, 0] = np.arange(3)
    buffer, no, last = cypool.ReplayBuffer(env, 50_000), np.zeros(2, bool), []

    def add():
        buffer.add(*last)

    def next_step():
        action = actions()
        after = np.concatenate([frames[:, 1:], np.stack([frames[:, 2, 0] + 1, action[:, 0]], -1)[:, None]], 1)
        last[:] = frames.copy(), action, action[:, 0], after, no, no
        frames[:] = after

    next_step()
    add()
    next_step()
    for _ in moments(add):
        add()
        next_step()
    sample = buffer.gather(buffer.indices())
    check_transitions(sample.obs, sample.action, sample.next_obs)


def test_seek_interrupted_anywhere_leaves_the_pool_where_the_history_says():
    env, actions = counting(), Actions()

    def state():
        return [row["own"] for row in env.save().rows]

    with cypool.history(env, every=3) as history:
        states = [state()]
        for _ in range(7):
            env.step(actions())
            states.append(state())
        errors = []
        for target in (1, 5):
            history.seek(7)
            for error in moments(lambda target=target: history.seek(target), every=211):
                errors.append(error)
                assert state() == states[history.position] and len(history) == 7
                history.seek(7)
        for error in moments(lambda: history.repeat(lambda *_: None, lambda _: None), every=499):
            errors.append(error)
            assert state() == states[7] and history.position == len(history) == 7
        # the next calls are recorded, while the exceptions live
        env.step(actions())
        after = state()
        assert len(history) == 8 and len(errors) > 20
        history.seek(8)
        assert state() == after


def test_history_interrupted_anywhere_repeats_what_it_recorded():
    env, actions, counts = counting(autoreset_mode="SameStep", num_threads=2), Actions(), {}

    def begin(obs, info):
        counts.update(zip(info["env_id"].tolist(), obs[:, 2, 0].tolist(), strict=True))

    def visit(made):
        obs, _, terminated, truncated, info = made.batch
        for k, i in enumerate(info["env_id"].tolist()):
            moved = obs[k, 2, 0] - counts[i]
            assert moved == (4 if terminated[k] or truncated[k] else 3 if made.starts[k] else 1)
            counts[i] = obs[k, 2, 0]

    with cypool.history(env, every=4) as history:
        for call in (lambda: env.step(actions()), lambda: env.reset()):
            for _ in moments(call, every=97):
                if env._pool.num_pending:
                    # this throws away a step
                    env.reset()
                history.repeat(begin, visit)
        before = [row["own"] for row in env.save().rows]
        history.seek(len(history))
        assert [row["own"] for row in env.save().rows] == before


def test_rollout_interrupted_anywhere_leaves_environments_that_can_be_loaded():
    env, actions = counting(), Actions()
    state, action = env.save(), actions()
    wanted = env.step(action)[0]
    # NumPy imports something with the first one
    env.rollout(2, policy=lambda obs: action)
    for _ in moments(lambda: env.rollout(2, policy=lambda obs: action)):
        env.load(state)
        np.testing.assert_array_equal(env.step(action)[0], wanted)


def test_history_that_cannot_begin_is_not_in_the_way():
    env, errors = counting(), []
    for error in moments(lambda: cypool.history(env), every=41):
        errors.append(error)
        cypool.history(env).close()


def test_frame_buffers_whose_begin_was_interrupted_show_nothing_mixed():
    env, actions = counting(), Actions()
    buffers = env.rollout_buffers(4, "once")
    old, new = [env.reset()[0], env.step(actions())[0]], [env.reset()[0]]

    def fill():
        buffers.begin(old[0])
        buffers.add(old[1])

    fill()
    for _ in moments(lambda: buffers.begin(new[0])):
        assert len(buffers) == 0 or any(np.array_equal(buffers.stacks(), each) for each in (old, new))
        fill()


def test_step_of_envpool_whose_first_reset_was_interrupted_is_a_step():
    def make():
        return envpool.make_gymnasium(counting_id(), num_envs=2, num_threads=1)

    made, actions = [make()], Actions()
    for _ in moments(lambda: made[-1].async_reset(), every=3):
        env = made.pop()
        if not env._pool.num_pending:
            env.async_reset()
        env.recv()
        action = actions()
        np.testing.assert_array_equal(env.step(action)[1], action[:, 0])
        env.close()
        made.append(make())


@pytest.mark.parametrize("num_threads", [0, 2])
def test_close_interrupted_anywhere_can_be_called_again(num_threads):
    pools = [counting(num_threads=num_threads, num_envs=3, batch_size=2)]
    for _ in moments(lambda: pools[-1].close()):
        pools.pop().close()
        pools.append(counting(num_threads=num_threads, num_envs=3, batch_size=2))
