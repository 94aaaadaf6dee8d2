"""An environment that raises: its row completes, the others continue, the next step or a reset revives it."""
import pickle
import traceback

import pytest
from pool_arguments import THREADS
from receiving import started

import cypool


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize(("action", "kind", "where"), [
    ("RAISE_STEP", ValueError, "step"), ("CPP_THROW", RuntimeError, "step"), ("RAISE_OBSERVE", KeyError, "observe"),
])
def test_one_fails_the_others_go_on(trouble, num_threads, action, kind, where):
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, num_threads=num_threads))
    for turn in range(3):
        with pytest.raises(cypool.EnvError, match="^env 2: ") as caught:
            env.step([0, 0, getattr(trouble, action), 0])
        error = caught.value
        assert error.env_id == 2 and set(error.causes) == {2}
        assert type(error.__cause__) is kind
        assert any(f"Trouble.{where}" in line for line in traceback.format_exception(error))
        obs, reward, terminated, truncated, info = error.batch
        count = 2 * turn + 1
        assert obs["count"][:, 0].tolist() == [count, count, 0, count] and reward.tolist() == [count, count, 0, count]
        assert not terminated.any() and truncated.tolist() == [False, False, True, False]
        assert info["env_id"].tolist() == [0, 1, 2, 3] and info["bytes"][2].tolist() == [0, 0, 0]
        # the next step of the failed one is its reset
        obs, reward, *_, truncated, info = env.step([0] * 4)
        assert obs["count"][:, 0].tolist() == [count + 1, count + 1, 0, count + 1] and not truncated.any()
        assert info["elapsed_step"][2] == 0


@pytest.mark.parametrize("batch_size", [1, 2])
@pytest.mark.parametrize("num_threads", THREADS)
def test_brief_steps_that_raise_with_the_gil_held_fail_alone(trouble, num_threads, batch_size):
    env = cypool.make("walker/Trouble-v0", num_envs=2, batch_size=batch_size, num_threads=num_threads, brief=True)
    env.async_reset()
    failed = 0
    for turn in range(300):
        try:
            batch = env.recv()
        except cypool.EnvError as error:
            # until it knows how long a step takes, the pool lets go of the GIL
            assert turn > 99 and isinstance(error.__cause__, ValueError)
            batch, failed = error.batch, failed + len(error.causes)
        ids = batch[4]["env_id"]
        env.send([trouble.RAISE_STEP if turn % 50 == 49 and turn > 99 and i == 1 else 0 for i in ids], ids)
    assert failed > 0
    env.close()


@pytest.mark.parametrize("num_threads", THREADS)
def test_environments_that_all_raise_are_all_named(trouble, num_threads):
    env = started(cypool.make("walker/Trouble-v0", num_envs=200, num_threads=num_threads))
    with pytest.raises(cypool.EnvError, match=r"env 0: ValueError: raised in step \(and 199 more\)") as caught:
        env.step([trouble.RAISE_STEP] * 200)
    assert sorted(caught.value.causes) == list(range(200))
    env.step([0] * 200)
    *_, info = env.step([0] * 200)
    assert info["elapsed_step"].tolist() == [1] * 200


@pytest.mark.parametrize("num_threads", THREADS)
def test_a_reset_may_fail_too(trouble, num_threads):
    env = started(cypool.make("walker/Trouble-v0", num_envs=3, num_threads=num_threads))
    env.step([0, trouble.FAIL_NEXT_RESET, 0])
    with pytest.raises(cypool.EnvError, match="env 1: OSError: no reset today"):
        env.step([0, 0, 0])
    obs, _ = env.reset()
    assert obs["count"].tolist() == [[0.0, 0.0]] * 3


@pytest.mark.parametrize("num_threads", THREADS)
def test_asynchronous_pool_names_those_that_raised(trouble, num_threads):
    env = cypool.make("walker/Trouble-v0", num_envs=10, batch_size=3, num_threads=num_threads)
    env.async_reset()
    # the last action of each environment
    actions = {}
    failures = steps = 0
    for _ in range(300):
        causes = {}
        try:
            batch = env.recv()
        except cypool.EnvError as error:
            causes, batch = error.causes, error.batch
        ids = batch[4]["env_id"].tolist()
        assert set(causes) == {i for i in ids if actions.get(i) == trouble.RAISE_STEP}
        assert batch[3].tolist() == [i in causes for i in ids]
        failures += len(causes)
        steps += len(ids)
        # the action after an error makes a reset
        fails = next((i for i in ids if i not in causes), None)
        actions.update({i: trouble.RAISE_STEP if i == fails else trouble.GO for i in ids})
        env.send([actions[i] for i in ids], ids)
    assert failures > 200 and steps == 900


def test_reset_forgets_errors_in_flight(trouble):
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, batch_size=2, num_threads=2))
    env.send([trouble.RAISE_STEP] * 4, range(4))
    env.reset()
    env.recv()
    env.send([trouble.GO] * 4, range(4))
    env.recv()
    env.recv()


def test_an_error_pickles(trouble):
    env = started(cypool.make("walker/Trouble-v0", num_envs=3))
    with pytest.raises(cypool.EnvError) as caught:
        env.step([0, trouble.RAISE_STEP, trouble.CPP_THROW])
    error, copy = caught.value, pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is cypool.EnvError and str(copy) == str(error) and copy.env_id == 1
    assert set(copy.causes) == {1, 2} and type(copy.__cause__) is ValueError
    assert copy.__cause__ is copy.causes[1] and (copy.batch[1] == error.batch[1]).all()


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("number", [-1, 5])
@pytest.mark.parametrize("method", ["reset", "step", "observe"])
def test_methods_return_0(walker, method, number, num_threads, debug):
    # Python ends the process where it looks for the exception behind a -1
    env = cypool.make("walker/Returns-v0", num_envs=3, num_threads=num_threads, debug=debug, method=method,
                      number=number)
    with pytest.raises(cypool.EnvError, match=f"env 0: RuntimeError: {method}: .* return value of 0, got {number}"):
        env.reset()
        env.step([0] * 3)


@pytest.mark.parametrize("number", [-1, 5])
@pytest.mark.parametrize("method", ["load", "copy_from", "take_reset_options", "seed"])
def test_methods_on_the_callers_thread_return_0(walker, method, number):
    with pytest.raises((RuntimeError, cypool.EnvError), match=f"{method}: expected a return value of 0, got {number}"):
        env = cypool.make("walker/Returns-v0", num_envs=3, num_threads=1, method=method, number=number)
        env.reset(options={"a": 1} if method == "take_reset_options" else None)
        env.load(env.save())
        env.copy(0, [1, 2])
