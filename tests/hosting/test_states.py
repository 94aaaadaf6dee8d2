"""States of Python environments: saved, loaded, edited; and rollouts, which start from them."""
import pickle
import threading
from functools import partial

import numpy as np
import pytest
from comparing import assert_same
from hosting.environments import GO, RAISE, Gated, Trouble
from hosting.hosts import HERE, PROCESSES, THREADS
from markers import slow
from receiving import started

import cypool


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_saved_state_continues_equally(host):
    with started(cypool.make("gymnasium:CartPole-v1", num_envs=3, **host, seed=1)) as env:
        actions = np.random.default_rng(0).integers(0, 2, (60, 3))
        for a in actions[:9]:
            shown = env.step(a)
        state = pickle.loads(pickle.dumps(env.save()))
        expected = [env.step(a)[:4] for a in actions]
        with cypool.make("gymnasium:CartPole-v1", num_envs=3, num_workers=1) as other:
            for each in (env, other):
                obs, info = each.load(state)
                assert_same((obs, info["elapsed_step"]), (shown[0], shown[4]["elapsed_step"]))
                assert_same([each.step(a)[:4] for a in actions], expected)


def test_environment_that_does_not_pickle_is_not_saved():
    class Stuck(Trouble):
        def __init__(self):
            self.lock = threading.Lock()
            super().__init__()

    with started(cypool.from_factories([Stuck])) as env:
        with pytest.raises(NotImplementedError, match="save: env 0 cannot be pickled"):
            env.save()
        assert env.step([GO])[0][0, 0] == 1


def test_a_rollout_ends_with_its_timeout(tmp_path):
    gate = tmp_path / "gate"
    env = started(cypool.from_factories([partial(Gated, str(gate))] * 2, num_workers=2, autoreset_mode="Disabled"))
    state = env.save()
    actions = np.array([[0, 0], [0, 2], [0, 0]])

    mask = np.array([True, False])
    for go_on in (env.reset, lambda: env.load(state), lambda: env.reset(options={"reset_mask": mask}),
                  lambda: env.reset([0, 1])):
        with pytest.raises(TimeoutError, match="^rollout: did not finish within 0.2 s; in step [01], recv: [01] of 2"):
            env.rollout(actions, timeout=0.2)
        gate.touch()
        obs, _ = go_on()
        assert obs.tolist() in ([0, 0], [0, 2])
        env.reset()
        assert env.rollout(actions, timeout=60).next_obs.tolist() == [[1, 1], [2, 2], [3, 3]]
        gate.unlink()
        env.reset()
    with pytest.raises(TimeoutError, match="^rollout: "):
        env.search(state[[0]], actions.T[[1]], timeout=0.2)
    gate.touch()
    assert env.search(state[[0]], actions.T, timeout=60).obs.tolist() == [3, 3]
    # steps that the user has sent do not belong to a rollout
    env.reset()
    env.send([0, 0])
    with pytest.raises(RuntimeError, match="in flight"):
        env.rollout(actions)
    with pytest.raises(RuntimeError, match="in flight"):
        env.load(state)
    assert env.recv()[0].tolist() == [1, 1]
    env.close()


def edited(state, edit):
    """The state with its first environment edited."""
    row, *others = state.rows
    own, *rest = row["own"]
    env = pickle.loads(own)
    edit(env)
    return cypool.State(state.env_id, [{**row, "own": (type(own)(pickle.dumps(env)), *rest)}, *others])

EDITS = [lambda env: delattr(env, "_max_episode_steps"), lambda env: setattr(env.unwrapped, "gravity", "x"),
         lambda env: setattr(env.unwrapped, "reset", None)]


@pytest.mark.parametrize("edit, host", [
    *((edit, host) for edit in EDITS for host in (HERE, THREADS)), (EDITS[0], PROCESSES),
    *slow(*((edit, PROCESSES) for edit in EDITS[1:]))])
def test_edited_state_costs_at_most_its_episode(edit, host):
    with started(cypool.make("gymnasium:CartPole-v1", num_envs=2, **host, seed=3)) as env:
        state = edited(env.save(), edit)

        def failures(call):
            try:
                call()
            except cypool.EnvError as error:
                assert error.causes.keys() == {0}
                return 1
            return 0

        for reset in (env.reset, lambda: env.reset([0]), lambda: env.step([0, 0])):
            env.load(state)
            assert failures(lambda: env.step([0, 0])) or failures(env.reset)
            # the next episode is one of a sound environment
            reset()
            for t in range(6):
                _, reward, terminated, truncated, _ = env.step([t % 2] * 2)
                assert reward[0] == 1 and not terminated[0] and not truncated[0]


def test_edited_state_that_does_not_unpickle_is_refused():
    with started(cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=1, seed=3)) as env:
        state = edited(env.save(), lambda env: delattr(env.unwrapped, "observation_space"))
        with pytest.raises(ValueError, match="env 0 cannot load: .*the pickle cannot be loaded: AttributeError"):
            env.load(state)
        env.step([0, 0])


class Moody(Trouble):
    """Shows random numbers."""

    def step(self, action):
        _, *rest = super().step(action)
        return self.np_random.integers(100, size=2), *rest


def test_an_environment_that_raises_after_load_keeps_its_random_stream():
    shown = []
    for loads in (False, True):
        with started(cypool.from_factories([Moody] * 2, num_workers=0, seed=3)) as env:
            env.step([0, 0])
            if loads:
                env.load(env.save())
            with pytest.raises(cypool.EnvError, match="raised in step"):
                env.step([RAISE, GO])
            shown.append([env.step([0, 0])[0].tolist() for _ in range(5)])
    assert shown[0] == shown[1]
