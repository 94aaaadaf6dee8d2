"""Observers of a pool are notified of all that it does, in order."""
import gc

import numpy as np
import pytest
from receiving import started

import cypool
from cypool.engine.observer import Observer

pytestmark = pytest.mark.families("robotics")


class Notes(Observer):
    """Writes down all reports to it."""

    def __init__(self, notes=None, fails=()):
        self.notes, self.fails = [] if notes is None else notes, set(fails)

    def note(self, *what):
        self.notes.append(what)
        if what[0] in self.fails:
            self.fails.discard(what[0])
            raise KeyboardInterrupt(what[0])

    def _before(self, options):
        if options:
            self.note("before", options)

    def _on_sent(self, actions, env_ids):
        self.note("sent", actions.tolist(), None if env_ids is None else env_ids.tolist())

    def _on_reset(self, env_ids, others, seeds, options):
        self.note("reset", None if env_ids is None else env_ids.tolist(), others)

    def _on_received(self, batch, stepped, starts):
        self.note("received", batch[4]["env_id"].tolist(), stepped.tolist(), starts.tolist())
        return batch

    def _on_gap(self):
        self.note("gap")


def observed(num_envs=2, fails=(), **options):
    env = started(cypool.make("CartPole-v1", num_envs=num_envs, seed=0, **options))
    observer = Notes(fails=fails)
    env._pool.observers.attach(observer)
    return env, observer


def test_calls_are_reported_in_order():
    env, observer = observed()
    env.step([0, 1])
    env.send([1], [1])
    env.recv()
    env.reset([0])
    env.reset(options={"reset_mask": np.array([True, False])})
    env.load(env.save())
    env.copy(0, 1)
    env.rollout(np.zeros((3, 2), int))
    yes, no = True, False
    assert observer.notes == [
        ("sent", [0, 1], None), ("received", [0, 1], [yes, yes], [no, no]),
        ("sent", [1], [1]), ("received", [1], [yes], [no]),
        ("reset", [0], no), ("received", [0], [no], [yes]),
        ("reset", [0], yes), ("received", [0, 1], [no, no], [yes, no]),
        ("gap",), ("gap",), ("gap",)]


def test_asynchronous_pool_names_the_environments():
    env, observer = observed(4, batch_size=2, num_threads=0)
    env.async_reset()
    ids = env.recv()[4]["env_id"].tolist()
    env.send([0, 1])
    assert observer.notes[-1] == ("sent", [0, 1], ids)


def test_what_is_refused_is_not_reported():
    env, observer = observed()
    for call in (lambda: env.step([0, 9]), lambda: env.step([0], [7]), env.recv, lambda: env.reset([9]),
                 lambda: env.load(3), lambda: env.copy(0, 0)):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            call()
    assert observer.notes == []


@pytest.mark.parametrize("fails", ["sent", "received", "reset"])
def test_observer_that_raises_is_notified_of_a_gap(fails):
    env, observer = observed(fails=[fails])
    other = Notes()
    env._pool.observers.attach(other)
    with pytest.raises(KeyboardInterrupt):
        env.step([0, 1])
        env.reset([0])
    if env._pool.num_pending:
        env.recv()
    env.step([0, 1])
    for each in (observer, other):
        names = [name for name, *_ in each.notes]
        assert names.count("gap") == 1 and names[-2:] == ["sent", "received"]
    assert [name for name, *_ in other.notes].index("gap") <= 2


def test_batch_that_is_thrown_away_is_a_gap():
    env, observer = observed()
    env.send([0, 1])
    env.reset()
    assert [name for name, *_ in observer.notes] == ["sent", "gap", "reset", "received"]


def test_observer_that_nobody_holds_is_notified_no_more():
    env, observer = observed()
    notes = observer.notes
    del observer
    gc.collect()
    env.step([0, 1])
    assert notes == [] and not env._pool.observers.includes(Notes)
    # nor is one that was detached
    env, observer = observed()
    env._pool.observers.detach(observer)
    env.step([0, 1])
    assert observer.notes == []


@pytest.mark.parametrize("options, error", [({"nope": 1}, ValueError), ([{"nope": 1}, None], ValueError)])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_refused_reset_leaves_what_is_in_flight(options, error, num_threads):
    env, twin = (started(cypool.make("CartPole-v1", num_envs=2, num_threads=num_threads, seed=0)) for _ in "12")
    env.send([0, 1])
    with pytest.raises(error):
        env.reset(options=options)
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=[1, 2, 3])
    assert np.array_equal(env.recv()[0], twin.step([0, 1])[0])
    env.send([0, 1])
    assert np.array_equal(env.reset(seed=3)[0], twin.reset(seed=3)[0])


@pytest.mark.parametrize("id, num_threads", [("CartPole-v1", 0), ("CartPole-v1", 2), ("PointMaze_UMaze-v3", 2)])
def test_refused_reset_leaves_what_is_in_flight_in_an_asynchronous_pool(id, num_threads):
    env = cypool.make(id, num_envs=7, batch_size=3, num_threads=num_threads, seed=0)
    twin = cypool.make(id, num_envs=7, num_threads=0, seed=0)
    wrong = {"nope": 1} if id == "CartPole-v1" else [None] * 6 + [{"goal_cell": [99, 99]}]
    actions = np.zeros((7, *env.single_action_space.shape), env.single_action_space.dtype)

    def recv_all(batch=None):
        rows = {}
        while len(rows) < 7:
            obs, reward, _, _, info = batch or env.recv()
            batch = None
            # full batches, as long as there are enough
            assert len(reward) == min(3, 7 - len(rows))
            parts = [*obs.values()] if isinstance(obs, dict) else [obs]
            rows.update({i: tuple(part[k].tobytes() for part in parts) for k, i in enumerate(info["env_id"].tolist())})
        return rows

    def rows_of(obs):
        parts = [*obs.values()] if isinstance(obs, dict) else [obs]
        return {i: tuple(part[i].tobytes() for part in parts) for i in range(7)}

    def is_refused():
        with pytest.raises(ValueError, match="options|goal_cell"):
            env.reset(options=wrong)

    env.async_reset()
    is_refused()
    assert recv_all() == rows_of(twin.reset()[0])
    env.send(actions, np.arange(7))
    is_refused()
    is_refused()
    obs, reward, _, _, info = env.recv()
    # three in flight again, next to four that are at rest
    env.send(actions[:3], info["env_id"])
    again = set(info["env_id"].tolist())
    is_refused()
    wanted, later = rows_of(twin.step(actions)[0]), rows_of(twin.step(actions)[0])
    for i, row in recv_all().items():
        assert row == (later if i in again else wanted)[i]
    # a reset of all is not refused, and throws away rows in flight
    for seed in (5, 6):
        env.send(actions, np.arange(7))
        if seed == 6:
            is_refused()
        obs, info = env.reset(seed=seed, options={})
        assert recv_all((obs, info["env_id"], None, None, info)) == rows_of(twin.reset(seed=seed)[0])


def test_rollout_interrupted_before_its_first_step_can_be_loaded():
    env, observer = observed(fails=["reset"])
    state = env.save()
    with pytest.raises(KeyboardInterrupt):
        env.rollout(5, policy=lambda obs: [0, 1])
    assert env._pool.num_pending
    env.load(state)
    env.step([0, 1])
    # but rows in flight from a `send` are still in the way
    env.send([0, 1])
    with pytest.raises(RuntimeError, match="in flight"):
        env.rollout(np.zeros((2, 2), int))
    with pytest.raises(RuntimeError, match="in flight"):
        env.load(state)
