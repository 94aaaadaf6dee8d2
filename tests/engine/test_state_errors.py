"""Input that `save` and `load` reject, and environments that raise in them."""
import pickle

import dm_env
import numpy as np
import pytest
from pool_arguments import MODES
from receiving import receive_pending
from saving import make, started

import cypool
from cypool.state import State

pytestmark = pytest.mark.families("atari")


def test_calls_at_the_wrong_time(trouble):
    for batch_size in (4, 2):
        env = cypool.make("walker/Trouble-v0", num_envs=4, batch_size=batch_size, num_threads=2)
        for call in (env.save, env.render, lambda env=env: env.save([1])):
            with pytest.raises(RuntimeError, match="never reset: call reset"):
                call()
        started(env)
        state = env.save()
        env.send([0, 0], [0, 1])
        for call in (env.save, env.render, lambda env=env, state=state: env.load(state)):
            with pytest.raises(RuntimeError, match="in flight: call recv"):
                call()
        assert env._pool.num_pending == 2
        if env.is_async:
            # those that are not in flight may be looked at and moved
            assert env.render([2, 3]).shape == (2, 2, 3, 3)
            env.load(env.save([2]), [3])
        ids = env.recv()[4]["env_id"]
        assert sorted(ids) == [0, 1]
        env.load(state)
        env.close()
        env.close()
        for call in (env.save, env.render, lambda env=env, state=state: env.load(state)):
            with pytest.raises(cypool.ClosedError):
                call()


def test_wrong_arguments_change_nothing(walker):
    env = started(cypool.make("CartPole-v1", num_envs=3, seed=0))
    for _ in range(4):
        env.step([0, 1, 0])
    state = env.save()
    for bad, kind in (([3], ValueError), ([-1], ValueError), ([1, 1], ValueError), ([], ValueError),
                      ([0.5], TypeError), (1, ValueError), ([[0]], ValueError), (["a"], TypeError)):
        for call in (env.save, env.render, lambda ids: env.load(state[[0] * np.size(ids)], ids)):
            with pytest.raises(kind, match="^env_id"):
                call(bad)
    for ids in ([0], [0, 1]):
        with pytest.raises(ValueError, match=f"^state: expected {len(ids)} rows, one for each env, got 3"):
            env.load(state, ids)
    with pytest.raises(ValueError, match="^state: expected rows from distinct environments, .*, got rows from .0, 0."):
        env.load(state[[0, 0]])
    with pytest.raises(ValueError, match="^env_id: expected each id once, got 1 twice"):
        env.load(state[[0, 0]], [1, 1])
    with pytest.raises(ValueError, match="^env_id: expected at least one id"):
        env.load(state[[]])
    with pytest.raises(ValueError, match=r"^env_id: expected ids in \[0, 3\), got 3"):
        env.load(state, [1, 2, 3])
    big = started(cypool.make("CartPole-v1", num_envs=9))
    with pytest.raises(ValueError, match=r"^state: expected rows from environments in \[0, 3\), or an env_id"):
        env.load(big.save())
    for bad in (None, 3, {}, state.rows, pickle.dumps(state), env):
        with pytest.raises(TypeError, match="^state: expected a state returned by save"):
            env.load(bad)
    for other in (cypool.make("CartPole-v0", num_envs=3), cypool.make("walker/Walk-v0", num_envs=3),
                  cypool.make("CartPole-v1", num_envs=3, sutton_barto_reward=True)):
        other.reset()
        with pytest.raises(ValueError, match="^state: expected a state of CartPole-v1 with .*False.* for env 0, got"):
            env.load(other.save())
        with pytest.raises(ValueError, match="^state: expected a state of .*, got CartPole-v1 with"):
            other.load(state)
    # nothing has changed
    assert [row["own"] for row in env.save().rows] == [row["own"] for row in state.rows]
    assert env.step([0] * 3)[4]["elapsed_step"].tolist() == [5, 5, 5]


def tampered(row, **changes):
    return State([0], [{**row, **changes}])


def hit(row, k, value):
    """The environment's own state with another k-th part."""
    return (*row["own"][:k], value, *row["own"][k + 1:])


@pytest.mark.parametrize("batch_size", [2, 1])
@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
def test_tampered_rows_are_refused(id, num_threads, batch_size):
    env = started(cypool.make(id, num_envs=2, num_threads=num_threads, batch_size=batch_size, seed=5))
    for _ in range(3):
        env.send([1, 0], [0, 1])
        receive_pending(env)
    state = env.save()
    row = state.rows[0]
    # these are refused before anything happens
    for key in row:
        rest = {other: value for other, value in row.items() if other != key}
        with pytest.raises(ValueError, match="^state: expected rows returned by save"):
            env.load(State([0], [rest]))
    for bad in (None, 3, [], {**row, "more": 1}):
        with pytest.raises(ValueError, match="^state: expected rows returned by save"):
            env.load(State([0], [bad]))
    for changes in ({"id": "Other"}, {"options": {}}, {"options": None}, {"options": range(10**12)}):
        with pytest.raises(ValueError, match="^state: expected a state of"):
            env.load(tampered(row, **changes))
    bad_engine = [{"elapsed_step": "x"}, {"elapsed_step": 10**20}, {"elapsed_step": -1}, {"elapsed_step": 2**31 - 1},
                  {"elapsed_step": True}, {"episode_return": None}, {"episode_return": "0"}, {"episode_length": []},
                  {"episode_length": 2**31 - 1}, {"episode_ns": 1j}, {"episode_ns": -1}, {"episode_ns": 2**63},
                  {"needs_reset": 1}, {"reset_requested": None}, {"rng": 3}]
    if id == "CartPole-v1":
        bad_engine += [{"rng": None}, {"rng": {}}, {"rng": {**row["rng"], "state": None}},
                       {"rng": {**row["rng"], "uinteger": 2**33}}, {"rng": {**row["rng"], "bit_generator": "MT19937"}},
                       {"rng": {**row["rng"], "state": {"state": 2**128, "inc": 1}}}]
    for changes in bad_engine:
        # the other row is not loaded either
        with pytest.raises(ValueError, match="^state: expected rows returned by save.* env 0 cannot load: .*Error: "):
            env.load(State([1, 0], [state.rows[0], {**row, **changes}]))
    assert [each["own"] for each in env.save().rows] == [each["own"] for each in state.rows]
    assert not env.save().needs_reset.any()
    # these the environment refuses: its next step is a reset
    bad_rows = [{"own": None}, {"own": ()}, {"own": (1,)}, {"own": (None,) * len(row["own"])}]
    if id == "CartPole-v1":
        bad_rows += [{"own": hit(row, 3, "x")}, {"own": hit(row, 0, float("nan"))}, {"own": hit(row, 0, 10**400)}]
    else:
        packed = row["own"][0]
        bad_rows += [{"own": hit(row, 0, packed[:-1])}, {"own": hit(row, 0, packed[: len(packed) // 2])},
                     {"own": hit(row, 0, b"")}, {"own": hit(row, 0, b"x" + packed)}, {"own": hit(row, 0, "x")},
                     {"own": hit(row, 1, row["own"][1] - 1)}, {"own": hit(row, 1, -1)}, {"own": hit(row, 1, "x")},
                     {"own": hit(row, 2, b"")}, {"own": hit(row, 2, b"1 2 3")}, {"own": hit(row, 2, 7)},
                     {"own": hit(row, 6, 4)}, {"own": hit(row, 6, -1)}, {"own": hit(row, 6, None)},
                     {"own": hit(row, 7, 10**10)}, {"own": hit(row, 10, "x")}]
    for changes in bad_rows:
        with pytest.raises(ValueError, match="^state: expected rows returned by save.* env 0 cannot load: .*Error: "):
            env.load(tampered(row, **changes))
        assert env.save().needs_reset.tolist() == [True, False], changes
        *_, truncated, info = env.step([0], [0])
        assert not truncated.any() and info["elapsed_step"].tolist() == [0], changes
        env.load(state)
        assert [each["own"] for each in env.save().rows] == [each["own"] for each in state.rows]
    # all others of the call were loaded before
    with pytest.raises(ValueError, match="that env 0 cannot load"):
        env.load(State([1, 0], [state.rows[0], {**row, "own": None}]))
    assert env.save().needs_reset.tolist() == [True, False]
    env.load(state)
    *_, info = env.step([0], [1])
    assert info["elapsed_step"].tolist() == [4]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_save_load_and_render_that_raise_cost_one_episode(trouble, monkeypatch, num_threads, mode):
    env = started(make("walker/Trouble-v0", mode, num_threads, num_envs=3))
    env.step([0] * 3)
    state = env.save()
    for name, call, kind in (("save", env.save, LookupError), ("render", env.render, ArithmeticError),
                             ("load", lambda: env.load(state), OSError)):
        monkeypatch.setattr(trouble, "broken", {name})
        with pytest.raises(kind, match=f"raised in {name}"):
            call()
    monkeypatch.setattr(trouble, "broken", set())
    # only the first had come to its load
    assert env.save().needs_reset.tolist() == [True, False, False]
    if mode == "Disabled":
        with pytest.raises(RuntimeError, match="the episode of env 0 is over"):
            env.step([0] * 3)
        env.reset([0])
    else:
        obs, _, terminated, truncated, info = env.step([0] * 3)
        assert obs["count"][:, 0].tolist() == [0, 2, 2] and not (terminated | truncated).any()
    assert env.load(state)[0]["count"].tolist() == [[1, -1]] * 3
    assert env.step([0] * 3)[0]["count"].tolist() == [[2, -2]] * 3


def test_save_load_and_render_without_a_method_are_refused(walker):
    env = started(cypool.make("walker/Bare-v0", num_envs=2))
    for name in ("save", "render"):
        with pytest.raises(NotImplementedError, match=f"^Bare does not implement {name}"):
            getattr(env, name)()
    row = {"elapsed_step": 0, "needs_reset": False, "reset_requested": False, "episode_return": 0.0,
           "episode_length": 0, "episode_ns": 0, "agents": None, "rng": np.random.PCG64(0).state, "own": None}
    with pytest.raises(NotImplementedError, match="^Bare does not implement load"):
        env.load(State([1], [{"id": "walker/Bare-v0", "options": {}, **row}]))
    env.step([0, 0])
    assert env.metadata["render_modes"] == [] and env.render_mode is None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_a_state_of_one_that_has_raised(trouble, num_threads, mode):
    env = started(make("walker/Trouble-v0", mode, num_threads, num_envs=3))
    env.step([0] * 3)
    for action in (trouble.RAISE_STEP, trouble.CPP_THROW):
        with pytest.raises(cypool.EnvError):
            env.step([0, action, 0])
        state = env.save()
        assert state.needs_reset.tolist() == [False, True, False] and env.render([1]).shape == (1, 2, 3, 3)
        # the others may be reset meanwhile
        env.reset(options={"reset_mask": np.array([True, False, False])})
        env.load(state)
        if mode == "Disabled":
            env.reset([1])
            want = [[3, -3], [1, -1], [3, -3]]
        else:
            want = [[3, -3], [0, 0], [3, -3]]
        assert env.step([0] * 3)[0]["count"].tolist() == want
        env.reset()
        env.step([0] * 3)
    # an object that raises when it is read raises to the caller, and the pool continues
    with pytest.raises(cypool.EnvError):
        env.step([0, trouble.RAISE_OBSERVE, 0])
    state = env.save()
    with pytest.raises(KeyError, match="raised in observe"):
        env.load(state)
    if mode != "Disabled":
        assert env.step([0] * 3)[0]["count"].tolist() == [[3, -3], [0, 0], [3, -3]]


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_a_state_between_an_end_and_a_reset_that_fails(trouble, num_threads):
    env = started(make("walker/Trouble-v0", "NextStep", num_threads, num_envs=2))
    env.step([0, trouble.FAIL_NEXT_RESET])
    state = env.save()
    for _ in range(2):
        env.load(state)
        with pytest.raises(cypool.EnvError, match="env 1: OSError: no reset today"):
            env.step([0, 0])
        after = env.save()
        assert after.needs_reset.tolist() == [False, True]
        env.load(after)
        assert env.step([0, 0])[0]["count"].tolist() == [[3, -3], [0, 0]]


def test_dm_step_types_after_a_load_that_failed(walker):
    env = started(cypool.make("walker/Trouble-v0", "dm", num_envs=4))
    over = env.step([0, 6, 0, 0]) and env.save()
    env.step([0] * 4)
    running = env.save()
    first, mid = dm_env.StepType.FIRST, dm_env.StepType.MID
    # 1 is over by it, 2 has failed, 3 was not come to
    rows = [over.rows[1], {**running.rows[2], "own": None}, over.rows[1]]
    with pytest.raises(ValueError, match="env 2 cannot load"):
        env.load(State([1, 2, 3], rows))
    assert env.step([0] * 4).step_type.tolist() == [mid, first, first, mid]
    # refused before anything happens
    with pytest.raises(ValueError):
        env.load(over, [0, 1, 2, 9])
    assert env.step([0] * 4).step_type.tolist() == [mid] * 4
