"""Replay buffers: events between a buffer and its pool: Ctrl-C, other threads, hooks, exceptions, forks."""
import fcntl
import os
import sys
import threading
import traceback
from functools import partial

import numpy as np
import pytest
from engine.threads import at_once, meanwhile
from interrupting import alarms
from waiting import LIMIT

import cypool
from cypool.spec import Array, EnvSpec

pytestmark = pytest.mark.families("atari")


def cartpoles(num_envs=4, **kwargs):
    return cypool.make("CartPole-v1", num_envs=num_envs, seed=0, **kwargs)


def steps_of(buffer):
    """Returns each step that can be sampled as (obs, action, reward, next_obs), by index."""
    sample = buffer.gather(np.sort(buffer.indices()))
    return {i: (sample.obs[k].tobytes(), int(sample.action[k]), float(sample.reward[k]), sample.next_obs[k].tobytes())
            for k, i in enumerate(sample.index.tolist())}


class Interrupt(BaseException):
    pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("num_threads", [1, 2])
def test_sample_interrupted_gathers_the_next_time(num_threads):
    buffer = cypool.ReplayBuffer(cypool.make("Pong-v5", num_envs=2, num_threads=num_threads, seed=0), 400,
                                 sequence_length=4)
    buffer.reset()
    for _ in range(40):
        buffer.step([0, 0])
    wanted = buffer.gather(np.sort(buffer.indices())).obs.copy()
    armed, caught = False, 0

    def handler(*_):
        nonlocal armed
        if armed:
            # once: the handling of the exception is not interrupted
            armed = False
            raise Interrupt

    with alarms(handler, 0.001, 0.001):
        for _ in range(400):
            try:
                armed = True
                buffer.sample(128)
                armed = False
            except Interrupt:
                caught += 1
            if caught == 10:
                break
    assert caught > 0
    np.testing.assert_array_equal(buffer.gather(np.sort(buffer.indices())).obs, wanted)


def test_what_a_sample_is_of_stays_there_until_it_is_gathered():
    buffer = cypool.ReplayBuffer(cartpoles(), 100)
    index, goal = np.zeros(1000, np.int64), np.zeros(1000, np.int64)
    held = sys.getrefcount(index), sys.getrefcount(goal)
    buffer._gatherer.request(index, goal)
    assert (sys.getrefcount(index), sys.getrefcount(goal)) == (held[0] + 1, held[1] + 1)


def interrupted_at(call, number):
    """Calls, with an Interrupt at the n-th place where Python looks for signals; returns whether there are as many."""
    left = number

    def profile(frame, event, arg):
        nonlocal left
        # where a function begins, and after a call of one in C
        if event in ("call", "c_return") and "/cypool/" in frame.f_code.co_filename:
            left -= 1
            if left == 0:
                sys.setprofile(None)
                raise Interrupt

    sys.setprofile(profile)
    try:
        call()
    except Interrupt:
        pass
    finally:
        sys.setprofile(None)
    return left <= 0


@pytest.mark.parametrize("batch_size", [3, 2])
def test_step_interrupted_anywhere_leaves_pool_and_buffer_whole(batch_size):
    def made():
        env = cartpoles(3, batch_size=batch_size)
        buffer = cypool.ReplayBuffer(env, 3000)
        buffer.async_reset()
        while env._pool.num_pending:
            buffer.recv()
        return env, buffer

    actions = np.arange(3) % 2
    ids = np.arange(3)
    for number in range(1, 200):
        env, buffer = made()
        pool = env._pool
        done = interrupted_at(partial(buffer.send, actions, ids), number)
        while env._pool.num_pending:
            interrupted_at(buffer.recv, number)
            if env._pool.num_pending:
                buffer.recv()
        assert env._pool is pool and not buffer._callers
        # a twin without interrupts shows which steps there are
        twin = cartpoles(3)
        twin.load(env.save())
        for _ in range(3):
            before = [row.copy() for row in twin.step(actions)[0]]
            buffer.send(actions, ids)
            while env._pool.num_pending:
                buffer.recv()
        for obs, action, reward, _ in steps_of(buffer).values():
            assert reward == 1 and action in (0, 1) and len(obs) == 16
        starts = {bytes(row) for row in before}
        assert {after for *_, after in steps_of(buffer).values()} & starts
        env.step(actions, ids), env.close(), twin.close()
        if not done:
            return
    raise AssertionError("a step has too many places")


def test_two_threads_that_step_the_buffer_are_refused_or_stored():
    env = cartpoles()
    buffer = cypool.ReplayBuffer(env, 40_000)
    buffer.reset()
    failures = []

    def play():
        for _ in range(2000):
            try:
                buffer.step([0, 1, 0, 1])
            except RuntimeError as error:
                if "another call is using the pool" not in str(error):
                    failures.append(error)

    at_once(play, play)
    assert not failures
    env.step([0] * 4), buffer.step([0] * 4), buffer.sample(8)
    env.close()


def test_hook_that_calls_its_own_buffer_is_refused():
    refused = []

    def reward(batch):
        if len(refused) < 3:
            with pytest.raises(RuntimeError, match="another call is using the pool"):
                buffer.step([0] * 4)
            refused.append(1)
        return batch.reward

    env = cartpoles(reward_hook=reward)
    buffer = cypool.ReplayBuffer(env, 400)
    buffer.reset()
    for _ in range(5):
        buffer.step([0] * 4)
    env.step([0] * 4)
    assert len(refused) == 3


@pytest.mark.parametrize("is_async", [False, True])
def test_hook_that_raises_is_a_gap(is_async):
    fails = False

    def reward(batch):
        if fails:
            raise ZeroDivisionError("in the hook")
        return batch.reward

    env = cartpoles(3, reward_hook=reward, batch_size=2 if is_async else None, num_threads=0)
    buffer, twin = cypool.ReplayBuffer(env, 600), cartpoles(3)
    twin.reset()
    buffer.async_reset()
    while env._pool.num_pending:
        buffer.recv()
    true = {}
    before = twin.save()
    for t in range(8):
        actions = np.full(3, t % 2)
        shown = twin.load(before)[0].copy()
        led_to = twin.step(actions)[0]
        true |= {shown[i].tobytes(): (t % 2, led_to[i].tobytes()) for i in range(3)}
        before = twin.save()
        fails = t == 4
        buffer.send(actions, np.arange(3))
        while env._pool.num_pending:
            if fails:
                with pytest.raises(ZeroDivisionError, match="in the hook"):
                    buffer.recv()
            else:
                buffer.recv()
    found = steps_of(buffer)
    assert len(found) == 3 * 6
    for obs, action, _, after in found.values():
        assert true[obs] == (action, after)


def test_history_with_a_hook_that_raises_goes_on_behind_it():
    fails = False

    def reward(batch):
        if fails:
            raise ZeroDivisionError("in the hook")
        return batch.reward

    env = cartpoles(reward_hook=reward)
    env.reset()
    history = cypool.history(env)
    env.step([0, 1, 0, 1])
    fails = True
    with pytest.raises(ZeroDivisionError):
        env.step([1, 1, 0, 1])
    fails = False
    obs = [env.step([0, 1, 1, 1])[0].copy() for _ in range(3)]
    last = len(history)
    assert np.array_equal(history.seek(last)[0], obs[-1]) and np.array_equal(history.seek(last - 2)[0], obs[0])
    history.seek(1)


def test_rows_of_the_buffer_and_added_ones_do_not_join():
    env = cartpoles(2)
    buffer = cypool.ReplayBuffer(env, 100)
    buffer.reset()
    buffer.step([0, 1])
    rows = np.arange(16, dtype=np.float32).reshape(4, 1, 4)
    no = np.zeros(1, bool)
    first = buffer.add(rows[0], [1], [5.0], rows[1], no, no, [0])
    second = buffer.add(rows[1], [0], [6.0], rows[2], no, no, [0])
    sample = buffer.gather([first[0], second[0]])
    assert sample.is_first.tolist() == [True, False]
    np.testing.assert_array_equal(sample.obs, rows[:2, 0])
    # and the other way round, though the pool did not reset
    buffer.step([0, 1])
    buffer.step([0, 1])
    sample = buffer.gather(np.sort(buffer.indices()))
    assert not (sample.obs == rows[2, 0]).all(axis=1).any() and (sample.reward == 1).sum() == 5
    # steps of the pool that are not stored are no gap of added ones
    third = buffer.add(rows[0], [1], [5.0], rows[1], no, no, [1])
    env.step([0, 1])
    fourth = buffer.add(rows[1], [1], [5.0], rows[2], no, no, [1])
    assert buffer.gather([third[0], fourth[0]]).is_first.tolist() == [True, False]


def test_added_rows_with_nan_go_on():
    buffer = cypool.ReplayBuffer(cartpoles(1), 100, n_step=3, gamma=1.0)
    obs = np.full((7, 1, 4), np.nan, np.float32)
    no = np.zeros(1, bool)
    for t in range(5):
        buffer.add(obs[t], [0], [1.0], obs[t + 1], no, np.array([t == 4]))
    assert buffer.gather(np.sort(buffer.indices())).reward.tolist() == [3, 3, 3, 2, 1]


def test_refused_actions_are_not_taken_for_those_in_flight():
    env = cartpoles(2)
    buffer = cypool.ReplayBuffer(env, 100)
    buffer.reset()
    buffer.send([0, 0])
    for call in (buffer.send, buffer.step):
        with pytest.raises(RuntimeError, match="in flight"):
            call([1, 1])
    buffer.recv()
    assert buffer.gather(np.sort(buffer.indices())).action.tolist() == [0, 0]


@pytest.mark.parametrize("name, value", [
    ("alpha", 0.5), ("n_sampled_goal", 4), ("n_step", 9), ("gamma", 0.1), ("sequence_length", 3), ("capacity", 2**40),
    ("env", None)])
def test_attributes_of_a_buffer_are_read_only(name, value):
    buffer = cypool.ReplayBuffer(cartpoles(), 100)
    before = getattr(buffer, name)
    with pytest.raises(AttributeError, match=f"ReplayBuffer.{name}: cannot be set to a different value"):
        setattr(buffer, name, value)
    assert getattr(buffer, name) is before
    # as some programs do
    setattr(buffer, name, before)


def test_attributes_of_a_pool_cannot_mislead_a_buffer():
    env = cartpoles(2)
    for name, value in (("num_envs", 2**24), ("batch_size", 1), ("is_async", True), ("all_env_ids", np.array([7]))):
        with pytest.raises(AttributeError, match=f"{name}: cannot be set to a different value"):
            setattr(env, name, value)
    with pytest.raises(ValueError, match="read-only"):
        env.all_env_ids[:] = 2**30
    env.num_envs, env.all_env_ids = 2, np.arange(2)
    ring = cypool.ReplayBuffer(env, 100)._ring
    for wrong in (-1, 2, 2**30):
        ids = np.array([wrong], np.int32)
        for call in (lambda ids=ids: ring.note_actions(np.zeros(1, np.int64), ids), lambda ids=ids: ring.newest(ids)):
            with pytest.raises(ValueError, match=r"env_id: expected ids in \[0, 2\)"):
                call()


class Near:
    def compute_reward(self, achieved, desired):
        return -abs(achieved - desired).sum(-1)

    def compute_terminated(self, achieved, desired):
        return self.compute_reward(achieved, desired) > -1


@pytest.mark.parametrize("achieved, desired", [
    (Array((4000,), np.float64), Array((4,), np.float32)), (Array((4,), np.float64), Array((4,), np.float32)),
    (Array((4,), np.float32), None)])
def test_goals_of_different_kinds_are_refused(achieved, desired):
    observation = {"observation": Array((1,), np.float32), "achieved_goal": achieved}
    if desired is not None:
        observation["desired_goal"] = desired
    with pytest.raises(ValueError, match="goals: expected an observation whose achieved_goal and desired_goal"):
        EnvSpec(observation, Array((1,), np.float32), goals=Near())
    same = EnvSpec({**observation, "desired_goal": achieved}, Array((1,), np.float32), goals=Near())
    # a hook may return something without goals
    assert same.with_observation(Array((2,), np.float32)).goals is None
    assert same.with_observation(same.observation).goals is same.goals


@pytest.mark.parametrize("num_threads", [0, 2])
def test_close_while_another_thread_samples_is_not_refused(num_threads):
    for _ in range(5):
        with cypool.ThreadPool(2) as threads:
            env = cypool.make("CartPole-v1", num_envs=4, seed=0, thread_pool=threads) if num_threads else cartpoles()
            buffer = cypool.ReplayBuffer(env, 400)
            buffer.reset()
            for _ in range(20):
                buffer.step([0] * 4)
            started = threading.Event()

            def learn(buffer=buffer, started=started):
                buffer.sample(64)
                buffer.sample(7)
                started.set()

            with meanwhile(learn):
                assert started.wait(LIMIT)
                env.close()
                # while it continues
                threads.close()
            buffer.sample(300)


def in_a_child(function):
    """Calls a function in a forked process; returns the exception that it printed."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            function()
            os.write(write, b"fine")
        except BaseException:
            os.write(write, traceback.format_exc().encode()[-2000:])
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    os.waitpid(child, 0)
    return text


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_child_leaves_the_file_to_its_parent(tmp_path):
    env = cartpoles(1, num_threads=0)
    obs, no = env.reset()[0].copy(), np.zeros(1, bool)
    buffer = cypool.ReplayBuffer(env, 100, path=tmp_path / "rows")
    buffer.add(obs, [0], [1.0], obs, no, no)
    for call in (lambda: buffer.add(obs, [0], [2.0], obs, no, no), lambda: buffer.step([0])):
        assert "made before fork()" in in_a_child(call)
    assert len(buffer) == 1
    assert in_a_child(buffer.close) == "fine"
    with open(tmp_path / "rows", "rb") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    buffer.close()


def test_episodes_that_are_overwritten_between_two_are_left_out():
    buffer = cypool.ReplayBuffer(cartpoles(1), 200)
    buffer.reset()
    for _ in range(150):
        buffer.step([0])
    rest = buffer.episodes()
    first = next(rest)
    assert len(first.reward) > 5
    for _ in range(170):
        buffer.step([0])
    # those that are there are whole
    assert all(each.terminated[-1] and len(each.obs) == len(each.reward) + 1 for each in rest)


def test_few_rows_among_many_are_drawn_evenly():
    buffer = cypool.ReplayBuffer(cartpoles(2), 200_000, seed=0)
    obs, no, yes = np.zeros((2, 4), np.float32), np.zeros(2, bool), np.ones(2, bool)
    # an observation without a step is no row that can be drawn
    for _ in range(3):
        buffer.add(obs, [0, 0], [1.0, 1.0], obs + 1, no, yes)
    for _ in range(2000):
        buffer._ring.add(np.arange(2, dtype=np.int32), no, yes, [obs], np.zeros(2), no, no, [])
    assert len(buffer) == 6
    drawn = buffer.sample(6000).index
    assert sorted(set(drawn.tolist())) == sorted(buffer.indices().tolist())
    assert np.unique(drawn, return_counts=True)[1].min() > 850
    # no row is tried in vain, which took seconds: a number for each, or two
    bits = np.random.PCG64(0)
    assert buffer._bits.state["state"] in [bits.advance(1).state["state"] for _ in range(12_000)]


def test_too_many_parts_are_refused_when_the_buffer_is_made():
    env = cartpoles()
    spec = EnvSpec({f"part{k}": Array((1,), np.float32) for k in range(30)}, Array((1,), np.float32))
    env._batch_spec = spec
    with pytest.raises(ValueError, match="env: expected .* at most 64 arrays, got 67"):
        cypool.ReplayBuffer(env, 100)
