"""Inputs known to crash or hang pools of C++ environments, in all apis: ids, actions, order of calls, make, render."""
import copy
import functools
import pickle

import numpy as np
import pytest
from engine.threads import at_once, start
from raising import Raising
from waiting import join, wait_until

import cypool
import cypool.compat.envpool as envpool
from cypool.arguments.actions import ActionReader
from cypool.spec import Array

pytestmark = pytest.mark.families("atari")
ENVPOOL = {
    "envpool": envpool.make_gymnasium,
    "envpool legacy": functools.partial(envpool.make, env_type="gym", legacy=True),
    "envpool dm": envpool.make_dm,
}
FACES = {**{face: functools.partial(cypool.make, env_type=face) for face in ("gymnasium", "gym", "dm")}, **ENVPOOL}
every_face = pytest.mark.parametrize("api", FACES)
envpools_faces = pytest.mark.parametrize("api", ENVPOOL)
sync_and_async = pytest.mark.parametrize("batch_size", [4, 2])


def ids_in(batch):
    """The env ids of a batch that `recv` returned."""
    return (batch.observation.env_id if hasattr(batch, "observation") else batch[-1]["env_id"]).tolist()


def receive_all(env):
    """Receives all pending rows; returns the env ids, sorted."""
    seen = []
    while env._pool.num_pending:
        seen += ids_in(env.recv())
    return sorted(seen)


def started(api, batch_size, id="CartPole-v1", **options):
    """A pool of 4 environments that were all reset, with nothing in flight."""
    env = FACES[api](id, num_envs=4, batch_size=batch_size, num_threads=2, seed=0, **options)
    env.async_reset()
    receive_all(env)
    return env


def refused(kind, message, call, env):
    """`call` raises, and the pool works on as if nothing had been called."""
    pending = env._pool.num_pending
    with pytest.raises(kind, match=f"^{message}"):
        call()
    assert env._pool.num_pending == pending
    receive_all(env)
    for _ in range(2):
        env.send([0] * 4, [3, 1, 2, 0])
        assert receive_all(env) == [0, 1, 2, 3]


BAD_IDS = [([4], ValueError), ([-1], ValueError), ([0, 1000], ValueError), ([10**8, 0], ValueError),
           ([-10**8], ValueError), ([1] * 6, ValueError), ([0, 0], ValueError), ([1.5], TypeError),
           (np.array([1.0]), TypeError), ([[0, 1]], ValueError), (2, ValueError), (np.array(2), ValueError),
           (["0"], TypeError), ({"env_id": [0]}, (TypeError, ValueError))]


@sync_and_async
@every_face
@pytest.mark.parametrize(("ids", "kind"), BAD_IDS, ids=str)
def test_ids_of_calls_without_actions(api, batch_size, ids, kind):
    env = started(api, batch_size)
    state = env.save([0])
    for call in (env.reset, env.async_reset, env.save, lambda ids: env.load(state, ids)):
        refused(kind, "env_id", functools.partial(call, ids), env)


@sync_and_async
@envpools_faces
@pytest.mark.parametrize(("ids", "kind"), BAD_IDS, ids=str)
def test_ids_of_calls_with_actions(api, batch_size, ids, kind):
    env = started(api, batch_size)
    actions = np.zeros(np.size(ids), int)
    for call in (env.step, env.send):
        # there are no six actions for four environments either
        for given in (actions, ids), ({"action": actions, "env_id": ids},):
            refused(kind, "env_id|actions: .*k from 1 to 4", functools.partial(call, *given), env)


@sync_and_async
@every_face
def test_ids_of_a_pool_that_was_never_reset(api, batch_size):
    env = FACES[api]("CartPole-v1", num_envs=4, batch_size=batch_size, num_threads=2)
    for call in (env.step, env.send):
        for ids in ([4], [-1], [0, 10**8]):
            with pytest.raises(ValueError, match="^env_id"):
                call([0] * len(ids), ids)
    assert env._pool.num_pending == 0
    env.async_reset()
    assert receive_all(env) == [0, 1, 2, 3]


@sync_and_async
@every_face
@pytest.mark.parametrize(("num_actions", "ids"), [(5, [0, 1, 2, 3]), (4, [0, 1]), (1, [0, 1]), (0, [2]), (2, [3])])
def test_as_many_actions_as_ids(api, batch_size, num_actions, ids):
    env = started(api, batch_size)
    for call in (env.step, env.send):
        refused(ValueError, "actions", lambda call=call: call(np.zeros(num_actions, int), ids), env)


@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
@every_face
def test_ids_in_flight(api, id):
    env = started(api, 2, id)
    state = env.save()
    for call in (lambda: env.send([0, 0], [3, 0]), lambda: env.step([0], [0]),
                 lambda: env.async_reset([1, 0]), lambda: env.save([0]), env.save, lambda: env.load(state)):
        env.send([0, 0], [0, 2])
        refused(RuntimeError, "env 0 is in flight", call, env)
    if api.startswith("envpool"):
        # there a reset returns whatever comes first
        return
    # the batch that comes after the reset would be of environments 0 and 2, and their rewards would be lost
    env.send([0, 0], [0, 2])
    refused(RuntimeError, "reset: expected no environments in flight", lambda: env.reset([1]), env)


@sync_and_async
@every_face
@pytest.mark.parametrize(("actions", "kind"), [
    ([0, 1, 0], ValueError), ([0], ValueError), ([], (ValueError, TypeError)), (np.zeros(0, int), ValueError),
    ([0] * 5, ValueError), (np.int64(1), ValueError), (np.asarray(1), ValueError), (1, ValueError),
    (np.zeros((4, 1), int), ValueError), (np.zeros((2, 1), int), ValueError), (None, TypeError)], ids=str)
def test_actions_without_ids(api, batch_size, actions, kind):
    env = started(api, batch_size)
    # after this, actions without ids are for the environments of the batch
    env.send([0] * batch_size, range(batch_size))
    env.recv()
    for call in (env.step, env.send):
        with pytest.raises(kind, match="^actions"):
            call(actions)
    env.send([0] * batch_size)
    assert len(receive_all(env)) == batch_size


@every_face
def test_a_single_environment_takes_a_scalar(api):
    env = FACES[api]("CartPole-v1", num_envs=1)
    env.reset()
    for action in (np.int64(1), np.asarray(1), 1, [1], env.action_spec().generate_value() if "dm" in api else 0):
        assert ids_in(env.step(action)) == [0]


@sync_and_async
@envpools_faces
@pytest.mark.parametrize(("actions", "kind"), [
    (np.full(4, 0.9), ValueError), (np.full(4, 2.0), ValueError), (np.full(4, np.nan), ValueError),
    (np.full(4, 1e30), ValueError), (np.full(4, -np.inf), ValueError), ([1.0] * 4, TypeError),
    ([0, 1, 2**40, 0], ValueError), ([0, 7, 0, 0], ValueError), ([0, 0, 0, -1], ValueError), ([True] * 4, TypeError),
    (None, TypeError)], ids=str)
def test_actions_in_a_dict(api, batch_size, actions, kind):
    env = started(api, batch_size)
    env.send({"action": np.ones(4, int), "env_id": np.arange(4)})
    receive_all(env)
    for call in (env.step, env.send):
        refused(kind, "actions", lambda call=call: call({"action": actions, "env_id": np.arange(4)}), env)
        refused(kind, "actions", lambda call=call: call(actions, np.arange(4)), env)
        refused(ValueError, "action: ", lambda call=call: call({"act": actions}), env)


def test_actions_that_are_dicts(walker):
    env = cypool.make("walker/Levers-v0", num_envs=2, autoreset_mode="Disabled")
    env.reset()
    state = cypool.State([0], [{}])
    for bad in (Raising(), {}, {"push": 1}, None, 3, [1, 2]):
        for call in (env.step, env.send, env.rollout, lambda actions: env.search(state, actions)):
            with pytest.raises(TypeError, match="^actions: expected a dict with keys push, lever"):
                call(bad)


@sync_and_async
@envpools_faces
def test_arrays_in_a_dict_may_be_read_only_and_may_change_after_send(api, batch_size):
    envs = [started(api, batch_size) for _ in range(2)]
    actions, ids = np.array([0, 1, 0, 1]), np.array([3, 1, 0, 2])
    frozen = actions.copy(), ids.copy()
    for array in frozen:
        array.setflags(write=False)
    envs[0].send({"action": actions, "env_id": ids})
    actions[:], ids[:] = 1 - actions, 0
    envs[1].send({"action": frozen[0], "env_id": frozen[1]})
    states = []
    for env in envs:
        assert receive_all(env) == [0, 1, 2, 3]
        states.append([row["own"] for row in env.save().rows])
    assert states[0] == states[1]


@sync_and_async
@every_face
@pytest.mark.parametrize("id", ["Pong-v5", "walker/Walk-v0", "walker/Trouble-v0"])
def test_actions_out_of_range(walker, id, api, batch_size):
    env = started(api, batch_size, id)
    most = env.env_spec.action.n - 1
    for action in (most + 1, 99, -1, 10**6, 2**31 - 1, -2**31, 2**62):
        for call in (env.step, env.send):
            refused(ValueError, rf"actions: expected integers in \[0, {most + 1}\), got {action} in row 1",
                    lambda call=call, action=action: call([0, action], [2, 1]), env)


@sync_and_async
@every_face
def test_send_a_hundred_times(api, batch_size):
    env = started(api, batch_size)
    env.send([0] * 4, range(4))
    for _ in range(100):
        with pytest.raises(RuntimeError, match="in flight"):
            env.send([0] * 4, range(4))
    assert receive_all(env) == [0, 1, 2, 3]


@sync_and_async
@every_face
def test_async_reset_again_and_again(api, batch_size):
    env = FACES[api]("CartPole-v1", num_envs=4, batch_size=batch_size, num_threads=2)
    for k in range(50):
        env.async_reset()
        if k % 3:
            ids = ids_in(env.recv())
            if k % 2:
                env.send([0] * len(ids), ids)
    env.async_reset()
    assert receive_all(env) == [0, 1, 2, 3]


@sync_and_async
@envpools_faces
def test_recv_with_nothing_pending(api, batch_size):
    env = FACES[api]("CartPole-v1", num_envs=4, batch_size=batch_size, num_threads=2)
    for _ in range(3):
        for reset in (False, True):
            with pytest.raises(RuntimeError, match="nothing is pending"):
                env.recv(reset)
        env.async_reset()
        receive_all(env)


@every_face
def test_fewer_sent_than_a_batch_has_rows(api):
    env = FACES[api]("CartPole-v1", num_envs=5, batch_size=3, num_threads=2)
    env.async_reset()
    assert [len(ids_in(env.recv())), len(ids_in(env.recv()))] == [3, 2]
    for ids in ([4], [1, 0], [2]):
        env.send([0] * len(ids), ids)
        assert receive_all(env) == sorted(ids)
    assert len(ids_in(env.step([0], [3]))) == 1


@sync_and_async
@every_face
def test_several_threads_call_at_once(api, batch_size):
    env = started(api, batch_size)
    refusals = []

    def hammer():
        for k in range(200):
            try:
                (env.step, env.send)[k % 2]([0] * batch_size, range(batch_size))
                env.recv()
            except RuntimeError as error:
                refusals.append(str(error))

    at_once(*[hammer] * 3)
    assert {message for message in refusals if not any(
        part in message for part in ("one thread at a time", "in flight", "nothing is pending"))} == set()
    receive_all(env)
    env.send([0] * 4, range(4))
    assert receive_all(env) == [0, 1, 2, 3]


def test_a_spec_is_copied():
    spec = cypool.make_spec("Pong-v5", stack_num=2)
    for duplicate in copy.copy, copy.deepcopy, lambda spec: pickle.loads(pickle.dumps(spec)):
        assert duplicate(spec) == spec
    spec = envpool.make_spec("Pong-v5", num_envs=2)
    for duplicate in copy.copy, copy.deepcopy:
        assert str(duplicate(spec)) == str(spec)
    with pytest.raises(pickle.PicklingError, match="Config"):
        pickle.dumps(spec)


@envpools_faces
@pytest.mark.parametrize(("argument", "value", "kind"), [
    ("num_threads", -1, ValueError), ("num_threads", 100_000, ValueError), ("num_threads", 1.5, TypeError),
    ("num_envs", 0, ValueError), ("num_envs", -1, ValueError), ("num_envs", 2.5, TypeError),
    ("num_envs", "4", TypeError), ("num_envs", True, TypeError), ("num_envs", None, TypeError),
    ("batch_size", -1, ValueError), ("batch_size", 5, ValueError), ("batch_size", 1.0, TypeError),
    ("max_num_players", 0, ValueError), ("seed", 1.5, TypeError), ("seed", "1", (TypeError, ValueError)),
    ("seed", -1, ValueError), ("env_seed", [1], ValueError), ("env_seed", 3, TypeError),
    ("max_episode_steps", 0, ValueError), ("max_episode_steps", -5, ValueError),
    ("max_episode_steps", 2**40, ValueError), ("max_episode_steps", 1.5, TypeError),
    ("thread_affinity_offset", "0", TypeError), ("thread_affinity_offset", 2**40, ValueError),
])
def test_bad_arguments_of_envpools_make_are_named(api, argument, value, kind):
    name = "seed" if argument == "env_seed" and kind is ValueError else argument
    with pytest.raises(kind, match=f"^{name}"):
        FACES[api]("CartPole-v1", **{"num_envs": 4, argument: value})


@pytest.mark.parametrize("make", [cypool.make, envpool.make_gymnasium])
@pytest.mark.parametrize(("option", "value"), [
    ("stack_num", 0), ("stack_num", -1), ("stack_num", 10**6), ("noop_max", -5), ("noop_max", 10**9),
    ("img_height", 0), ("img_height", -3), ("img_height", 10**5), ("img_width", 0), ("img_width", -3),
    ("img_width", 10**5), ("frame_skip", 0), ("frame_skip", -1), ("frame_skip", 2**31), ("task", "no_such_game"),
    ("task", "/etc/passwd"), ("task", ""), ("mode", 99), ("difficulty", 99)])
def test_make_atari(make, option, value):
    with pytest.raises(ValueError, match=f"^{option}: "):
        make("Pong-v5", **{option: value})


@pytest.mark.parametrize("options", [
    {"noop_max": 0}, {"noop_max": 1}, {"img_height": 1, "img_width": 1}, {"stack_num": 1, "frame_skip": 1},
    {"stack_num": 256, "img_height": 210, "img_width": 160, "gray_scale": False}], ids=str)
def test_the_least_and_the_most_that_atari_takes(options):
    env = cypool.make("Pong-v5", **options)
    env.reset()
    obs, *_ = env.step([1])
    assert env.observation_space.contains(obs)


def test_envpools_base_path_is_never_looked_at():
    env = envpool.make_gymnasium("Pong-v5", base_path="/no/such/folder")
    assert env.reset()[0].any()


def numbers_of(api, ids):
    """Which argument names the environments to draw."""
    return {"env_ids" if api in ENVPOOL else "env_id": ids}


@sync_and_async
@every_face
def test_render(api, batch_size):
    env = started(api, batch_size, "Pong-v5")
    assert env.render(**numbers_of(api, [2, 0])).shape == (2, 210, 160, 3)
    for ids, kind in ([-1], ValueError), ([99], ValueError), ([], ValueError), ([0, 0], ValueError), ([.5], TypeError):
        refused(kind, "env_id", lambda ids=ids: env.render(**numbers_of(api, ids)), env)
    if api in ENVPOOL:
        for number in -1, 99:
            refused(ValueError, "env_id", lambda number=number: env.render(number), env)
        refused(TypeError, "camera_id", lambda: env.render(camera_id="top"), env)
    env.send([0, 0], [2, 1])
    refused(RuntimeError, r"env 2 is in flight|2 envs are in flight", lambda: env.render(**numbers_of(api, [2])), env)
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.render()


@every_face
def test_render_before_reset(api):
    env = FACES[api]("Pong-v5", num_envs=2)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="^env 0 was never reset"):
            env.render()
    env.reset()
    env.render()


@every_face
def test_render_what_cannot_be_drawn(walker, api):
    env = started(api, 4, "walker/Bare-v0")
    refused(NotImplementedError, "Bare does not implement render", env.render, env)


@pytest.mark.parametrize("num_threads", [0, 2])
def test_render_while_another_thread_steps(trouble, num_threads):
    env = cypool.make("walker/Trouble-v0", num_envs=2, num_threads=num_threads)
    env.reset()
    trouble.set_gate(False)
    thread = start(env.step, [trouble.WAIT, trouble.GO])
    try:
        wait_until(lambda: trouble.num_waiting() > 0)
        for call in (env.render, env.save):
            with pytest.raises(RuntimeError, match="one thread at a time"):
                call()
    finally:
        trouble.set_gate(True)
        join(thread)
    assert env.step([0, 0])[4]["elapsed_step"].tolist() == [2, 2]


@pytest.mark.parametrize("given", [np.float32, np.float64])
@pytest.mark.parametrize("taken", [np.float32, np.float64])
def test_actions_of_both_kinds_of_floats(taken, given):
    low, high = np.array([-0.1, -np.inf], taken), np.array([0.1, 2], taken)
    reader = ActionReader(Array((2,), taken, low, high), 4).read
    actions = np.array([[-0.05, -1e30], [0.07, 2], [0, 1]], given)
    got = reader(actions)
    assert got.dtype == taken and (got == actions.astype(taken)).all() and not np.shares_memory(got, actions)
    # not behind each other in memory, and of another byte order
    for other in (np.asfortranarray(actions), actions[:, ::-1][:, ::-1], actions.astype(actions.dtype.newbyteorder())):
        assert (reader(other) == got).all()
    # larger as float64 only
    for bad in (0.11, np.nan, np.inf, *([float(high[0]) + 1e-12] if given == np.float64 else [])):
        actions[1, 0] = bad
        with pytest.raises(ValueError, match=r"actions: expected values in .* in row 1"):
            reader(actions)
