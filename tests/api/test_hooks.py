"""Rewards and observations of the user's, from C functions and from Python functions."""
import copy
import ctypes
import pickle

import numpy as np
import pytest
from engine.threads import start
from pool_arguments import MODES, THREADS
from receiving import started
from waiting import join

import cypool
from cypool.hooks import Transition
from cypool.spec import Array, Discrete

pytestmark = pytest.mark.families("atari")
TWO = Array((3,), np.float64)


@pytest.fixture(scope="module")
def hooks(walker):
    """The capsules of the plug-in's hooks, by name."""
    from walker import functions

    return functions.__pyx_capi__


def make(**arguments):
    env = cypool.make("CartPole-v1", **{"num_envs": 4, "seed": 3, **arguments})
    env.action_space.seed(5)
    return env


@pytest.mark.parametrize("num_threads", THREADS)
def test_a_reward_in_c(hooks, num_threads):
    plain = make(num_threads=num_threads, autoreset_mode="Disabled")
    env = make(num_threads=num_threads, autoreset_mode="Disabled", reward_hook=hooks["upright"])
    before, _ = plain.reset()
    assert (env.reset()[0] == before).all()
    for _ in range(60):
        action = env.action_space.sample()
        obs, reward, terminated, truncated, info = plain.step(action)
        mine = env.step(action)
        angles = [np.abs(each[:, 2].astype(np.float64)) for each in (obs, before)]
        expected = reward + (100 * info["elapsed_step"] + 10 * action - angles[0] - angles[1])
        assert (mine[0] == obs).all() and (mine[1] == expected).all()
        # the hook may end an episode
        ends = terminated | (np.abs(obs[:, 0]) > np.float32(0.2))
        assert (mine[2] == ends).all() and (mine[3] == truncated).all()
        before = obs
        if ends.any():
            # the other pool does not know of these ends
            before = plain.reset(options={"reset_mask": ends})[0]
            assert (env.reset(options={"reset_mask": ends})[0] == before).all()


def record(env, steps=50):
    """All that a synchronous pool gives, with sampled actions; finals included."""
    obs, info = env.reset()
    rows = [obs.tobytes()]
    for _ in range(steps):
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        rows.append((obs.tobytes(), reward.tobytes(), terminated.tobytes(), truncated.tobytes()))
        if "final_obs" in info:
            rows.append([final.tobytes() for final in info["final_obs"] if final is not None])
        ended = terminated | truncated
        if env.metadata["autoreset_mode"].value == "Disabled" and ended.any():
            rows.append(env.reset(options={"reset_mask": ended})[0].tobytes())
    return rows


@pytest.mark.parametrize("mode", MODES)
def test_hooks_in_c_do_not_depend_on_threads(hooks, mode):
    both = {"reward_hook": hooks["upright"], "observation_hook": (hooks["two_of_four"], TWO)}
    first, *others = [record(make(num_threads=n, autoreset_mode=mode, **both)) for n in THREADS]
    assert all(other == first for other in others)
    assert record(make(autoreset_mode=mode, debug=True, **both)) == first


@pytest.mark.parametrize("mode", MODES)
def test_an_observation_in_c_and_in_python_are_the_same(hooks, mode):
    def two_of_four(obs):
        # the step is no part of it
        return np.stack([obs[:, 0], obs[:, 2], np.zeros(len(obs))], axis=1)

    in_c = make(autoreset_mode=mode, observation_hook=(hooks["two_of_four"], TWO))
    in_python = make(autoreset_mode=mode, observation_hook=(two_of_four, TWO))
    assert in_c.single_observation_space == in_python.single_observation_space
    assert in_c.single_observation_space.shape == (3,) and in_c.single_observation_space.dtype == np.float64
    actions = np.random.default_rng(1).integers(0, 2, (60, 4))
    a, b = in_c.reset()[0], in_python.reset()[0]
    ended = np.zeros(4, bool)
    for action in actions:
        assert (a[:, :2] == b[:, :2]).all() and a.dtype == b.dtype
        (a, *more, info), (b, *others, other_info) = in_c.step(action), in_python.step(action)
        assert all((x == y).all() for x, y in zip(more, others, strict=True))
        ended = more[1] | more[2]
        # the step the hook in C sees is that of the row
        assert (a[:, 2] == info["elapsed_step"]).all()
        if mode == "SameStep" and ended.any():
            for i in np.flatnonzero(ended):
                x, y = info["final_obs"][i], other_info["final_obs"][i]
                assert (x[:2] == y[:2]).all() and x[2] == info["final_info"]["elapsed_step"][i]
        if mode == "Disabled" and ended.any():
            a, b = (env.reset(options={"reset_mask": ended})[0] for env in (in_c, in_python))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("num_threads", THREADS)
def test_a_reward_in_python_sees_what_the_step_led_to(mode, num_threads):
    plain, seen = make(num_threads=num_threads, autoreset_mode=mode), []

    def reward(batch):
        seen.append(batch)
        return batch.env_id + batch.observation[:, 0].astype(np.float64)

    env = make(num_threads=num_threads, autoreset_mode=mode, reward_hook=reward)
    assert (plain.reset()[0] == env.reset()[0]).all() and seen[-1].starts.all()
    starts = np.zeros(4, bool)
    for _ in range(60):
        action = plain.action_space.sample()
        obs, reward, terminated, truncated, info = plain.step(action)
        mine = env.step(action)
        led_to, ended = obs.copy(), terminated | truncated
        if mode == "SameStep":
            for i in np.flatnonzero(ended):
                led_to[i] = info["final_obs"][i]
        assert (seen[-1].observation == led_to).all() and (seen[-1].action == action).all()
        assert (seen[-1].reward == reward).all() and (seen[-1].starts == starts).all()
        assert (mine[1] == np.where(starts, 0, np.arange(4) + led_to[:, 0].astype(np.float64))).all()
        assert (mine[0] == obs).all() and (mine[2] == terminated).all()
        starts = ended if mode == "NextStep" else np.zeros(4, bool)
        if mode == "Disabled" and ended.any():
            for pool in (plain, env):
                pool.reset(options={"reset_mask": ended})
            # the others are only observed again
            assert (seen[-1].starts == ended).all()


@pytest.mark.parametrize("num_threads", THREADS)
def test_asynchronous_pools(hooks, num_threads):
    """Each env's rewards are those it has in a synchronous pool."""
    def collect(batch_size, **arguments):
        env = make(num_threads=num_threads, batch_size=batch_size, **arguments)
        rewards, steps = [[] for _ in range(4)], np.zeros(4, int)
        env.async_reset()
        while min(map(len, rewards)) < 40:
            obs, reward, terminated, truncated, info = env.recv()
            for i, each in zip(info["env_id"], reward, strict=True):
                rewards[i].append(each)
            steps[info["env_id"]] += 1
            # half of the time those of the last batch are not named
            names = () if steps.sum() % 2 else (info["env_id"],)
            env.send((steps[info["env_id"]] + info["env_id"]) % 2, *names)
        return [each[:40] for each in rewards]

    for hook in (hooks["upright"], lambda batch: batch.info["elapsed_step"] * 10.0 + batch.action):
        assert collect(4, reward_hook=hook) == collect(2, reward_hook=hook)


def test_statistics_count_a_reward_in_c_and_not_one_in_python(hooks):
    def returns(**arguments):
        env = started(make(num_envs=1, episode_statistics=True, autoreset_mode="SameStep", **arguments))
        total, info = 0, {}
        while "episode" not in info:
            *_, reward, terminated, truncated, info = env.step([0])
            total += reward[0]
        return info["episode"]["r"][0], total, info["episode"]["l"][0]

    counted, total, steps = returns(reward_hook=hooks["upright"])
    assert counted == total > 100
    counted, total, steps = returns(reward_hook=lambda batch: batch.reward * 3)
    assert (counted, total) == (steps, 3 * steps)


@pytest.mark.parametrize("id", ["Pong-v5", "Taxi-v4"])
def test_save_and_load(hooks, id):
    # a state is the environment's: hooks or not
    plain = started(cypool.make(id, num_envs=2, seed=1))
    env = started(cypool.make(id, num_envs=2, seed=9, reward_hook=lambda batch: batch.reward + 1))
    for _ in range(5):
        plain.step([1, 0])
    obs, info = env.load(plain.save())
    for _ in range(5):
        a, b = plain.step([2, 3]), env.step([2, 3])
        assert (a[0] == b[0]).all() and (a[1] + 1 == b[1]).all()


def test_save_and_load_with_hooks_in_c(hooks):
    env = started(make(reward_hook=hooks["upright"], observation_hook=(hooks["two_of_four"], TWO)))
    env.step([1] * 4)
    state, seen = env.save(), env.step([0] * 4)
    for pool in (env, make(reward_hook=hooks["upright"], observation_hook=(hooks["two_of_four"], TWO))):
        obs, _ = pool.load(state)
        assert (obs[:, 2] == 1).all()
        again = pool.step([0] * 4)
        assert all((a == b).all() for a, b in zip(again[:4], seen[:4], strict=True))


def test_pong_as_a_player_sees_it(hooks):
    described = {"ball and paddles": Array((4,), np.float32, 0, 255), "lives": Discrete(10)}
    of_pong = {"num_envs": 4, "seed": 2, "obs_type": "ram", "stack_num": 1}
    env = cypool.make("Pong-v5", observation_hook=(hooks["pong"], described), **of_pong)
    plain = cypool.make("Pong-v5", **of_pong)
    obs, (ram, _) = env.reset()[0], plain.reset()
    for _ in range(80):
        assert (obs["ball and paddles"] == ram[:, [49, 54, 51, 50]]).all() and (obs["lives"] == 0).all()
        obs, ram = env.step([2, 3, 0, 2])[0], plain.step([2, 3, 0, 2])[0]
    assert len(np.unique(obs["ball and paddles"])) > 3 and env.observation_space.contains(obs)


def test_hook_of_ctypes_sees_the_step(hooks):
    calls = []

    @ctypes.CFUNCTYPE(None, ctypes.POINTER(Transition))
    def reward(t):
        seen = t.contents
        obs = np.ctypeslib.as_array(ctypes.cast(seen.obs[0], ctypes.POINTER(ctypes.c_float)), (4,))
        calls.append((seen.env_id, seen.elapsed_step, seen.action is not None, not seen.out))
        seen.reward = obs[0] * 2

    env = started(make(num_threads=2, reward_hook=reward))
    obs, made, *_ = env.step([0, 1, 0, 1])
    assert (made == obs[:, 0].astype(np.float64) * 2).all()
    assert sorted(calls) == [(i, 1, True, True) for i in range(4)]


def test_hook_given_by_its_address_equals_its_capsule(hooks):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(hooks["upright"], b"void (struct cypool::Transition *)")
    assert record(make(reward_hook=address)) == record(make(reward_hook=hooks["upright"]))


@pytest.mark.parametrize("env_type", ["gym", "dm"])
def test_other_apis(hooks, env_type):
    def reward(batch):
        return batch.reward * 7

    env = started(cypool.make("CartPole-v1", env_type, num_envs=2, seed=1, reward_hook=reward,
                              observation_hook=(hooks["two_of_four"], TWO)))
    step = env.step(np.array([0, 1]))
    if env_type == "gym":
        assert step[0].shape == (2, 3) and (step[1] == 7).all()
    else:
        assert step.observation.obs.shape == (2, 3) and (step.reward == 7).all()


def test_out_holds_the_results_of_hooks(hooks):
    def twice(obs):
        return np.concatenate([obs, obs], axis=1)

    env = started(make(observation_hook=(twice, Array((8,), np.float32)), reward_hook=lambda batch: batch.reward * 2))
    rollout = env.rollout_buffers(3)
    for t in range(3):
        obs, reward, terminated, truncated, info = env.step([1] * 4, out=rollout[t])
        assert (rollout.next_obs[t][:, :4] == rollout.next_obs[t][:, 4:]).all() and (rollout.reward[t] == 2).all()
        assert np.shares_memory(obs, rollout.next_obs) and np.shares_memory(reward, rollout.reward)
    with pytest.raises(ValueError, match="out: expected arrays of 4 rows, got 1"):
        env.step([1] * 4, out=tuple(part[:1] for part in rollout[0]))


def test_an_error_of_an_env_brings_a_hooked_batch(walker):
    env = started(cypool.make("walker/Trouble-v0", num_envs=2, reward_hook=lambda batch: batch.reward + 5,
                              observation_hook=(lambda obs: obs["last"], Discrete(8))))
    with pytest.raises(cypool.EnvError) as caught:
        env.step([0, 1])
    obs, reward, terminated, truncated, info = caught.value.batch
    assert obs.tolist() == [0, 0] and reward[0] == 6 and truncated.tolist() == [False, True]


def test_hooks_in_python_are_pickled_and_those_in_c_refused(hooks):
    env = make(reward_hook=len_of_batch)
    copied = pickle.loads(pickle.dumps(env))
    copied.action_space.seed(5)
    assert record(copied) == record(env)
    for way in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="a C function used as a hook is an address in this process"):
            way(make(reward_hook=hooks["upright"]))


def len_of_batch(batch):
    return batch.reward * len(batch.reward)


def two_arguments(batch, more):
    pass


INT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda t: 0)
DOUBLES = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double))(lambda t: None)
NULL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)()


@pytest.mark.parametrize(("hook", "error", "message"), [
    *((address, ValueError, f"expected a C function .* or a Python function, got {address}, which is not an address")
      for address in (0, 3)),
    (True, TypeError, "expected a C function .* or a Python function, got True"),
    ("no hook", TypeError, "expected a C function .* or a Python function, got 'no hook'"),
    (two_arguments, TypeError, r"expected a Python function with one argument, got signature \(batch, more\)"),
    (INT, TypeError, "expected a ctypes function with restype None and argtypes .*got restype .*c_int"),
    (DOUBLES, TypeError, r"expected a ctypes function .*argtypes \(.*LP_c_double"),
    (NULL, ValueError, "got a null pointer"),
    ("returns_something", TypeError, r"got one for 'int \(struct cypool::Transition \*\)'"),
    ("takes_something_else", TypeError, r"got one for 'void \(double \*\)'"),
])
@pytest.mark.parametrize("name", ["reward_hook", "observation_hook"])
def test_wrong_hooks(hooks, name, hook, error, message):
    with pytest.raises(error, match=f"{name}: .*{message}"):
        cypool.make("CartPole-v1", **{name: hooks.get(hook, hook) if isinstance(hook, str) else hook})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_debug_finds_rewards_of_a_hook_that_are_not_finite(value):
    def hook(batch):
        return np.where(batch.env_id == 1, value, 0)

    for debug in (False, True):
        with started(cypool.make("CartPole-v1", num_envs=3, reward_hook=hook, debug=debug)) as env:
            # rows of a reset have no reward
            if debug:
                with pytest.raises(ValueError, match=f"^reward_hook: expected finite numbers, got {value} for env 1$"):
                    env.step([0, 0, 0])
            else:
                assert not np.isfinite(env.step([0, 0, 0])[1][1])


@pytest.mark.parametrize("described", [None, 3, np.float64, (), {}, {"a": 3}, [Array((1,), np.float32)]])
def test_wrong_descriptions(described):
    with pytest.raises(TypeError, match="observation_hook: expected a function, or .function, description."):
        cypool.make("CartPole-v1", observation_hook=(lambda obs: obs, described))


@pytest.mark.parametrize(("made", "message"), [
    (lambda batch: 1.0, r"reward_hook: expected numbers of shape \(4,\), got float64 of shape \(\)"),
    (lambda batch: batch.reward[:2], r"got float64 of shape \(2,\)"),
    (lambda batch: ["a"] * 4, "reward_hook: expected numbers"),
    (lambda batch: None, "reward_hook: expected numbers"),
])
def test_wrong_rewards(made, message):
    env = make(reward_hook=made)
    with pytest.raises(ValueError, match=message):
        env.reset()


@pytest.mark.parametrize(("made", "described", "message"), [
    (lambda obs: obs, Array((3,), np.float32), r"expected an array of float32, shape \(4, 3\), got float32, \(4, 4\)"),
    (lambda obs: obs * 1.0, Array((4,), np.float64), r"expected an array of float64, .* got float32"),
    (lambda obs: obs, {"a": Array((4,), np.float32)}, r"expected a dict with the keys \['a'\]"),
    (lambda obs: {"a": obs, "b": obs}, {"a": Array((4,), np.float32)}, r"expected a dict with the keys \['a'\]"),
    (lambda obs: {"a": obs[:, :2]}, {"a": Array((4,), np.float32)}, r"expected an array of .* \(4, 4\) as a, got"),
    (lambda obs: (obs,), (Array((4,), np.float32), Discrete(3)), "expected a tuple of 2 arrays"),
])
def test_wrong_observations(made, described, message):
    env = make(observation_hook=(made, described))
    with pytest.raises(ValueError, match=f"observation_hook: {message}"):
        env.reset()


def test_what_a_hook_in_c_writes_is_watched(hooks):
    env = make(observation_hook=(hooks["too_much"], TWO), debug=True)
    with pytest.raises(cypool.EnvError, match=r"observation: expected 24 bytes, as .* observe wrote at least 32"):
        env.reset()


def test_errors_in_a_hook_are_the_callers(hooks):
    def fails(batch):
        if not batch.starts.all():
            raise ZeroDivisionError("in the hook")
        return batch.reward

    env = started(make(reward_hook=fails))
    with pytest.raises(ZeroDivisionError, match="in the hook"):
        env.step([0] * 4)
    # the pool is as after any step
    env.reset()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_actions_that_are_dicts(walker, mode):
    seen = []

    def reward(batch):
        seen.append(batch)
        return batch.action["lever"] * 10 + batch.action["push"][:, 2]

    env = started(cypool.make("walker/Levers-v0", num_envs=3, num_threads=2, autoreset_mode=mode, reward_hook=reward))
    actions = {"lever": np.array([0, 1, 2]), "push": np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3)}
    expected = actions["lever"] * 10 + actions["push"][:, 2]
    _, got, terminated, _, _ = env.step(actions)
    assert got.tolist() == expected.tolist() and terminated.tolist() == [False, False, True]
    assert seen[-1].action.keys() == actions.keys()
    for name, part in actions.items():
        assert seen[-1].action[name].dtype == part.dtype and (seen[-1].action[name] == part).all()
        # its own: the hook may keep it
        seen[-1].action[name][:] = 0
    # some, in another order
    _, got, *_ = env.step({name: part[:2] for name, part in actions.items()}, [1, 0])
    assert got.tolist() == expected[:2].tolist() and seen[-1].env_id.tolist() == [1, 0]


@pytest.mark.parametrize("num_threads", [0, 2])
@pytest.mark.parametrize("where", ["reward_hook", "observation_hook", "policy"])
def test_hooks_and_policies_that_call_their_own_pool(where, num_threads):
    refused = []

    def meddle(given, returned):
        for call in (lambda: env.step([0] * 4), env.reset, lambda: env.send([0] * 4), env.recv, env.save, env.render,
                     env.close, lambda: env.load(state), lambda: env.copy(0, 1),
                     lambda: env.rollout(2, policy=lambda obs: [1] * 4)):
            with pytest.raises(RuntimeError, match="another call is using the pool|close: another thread is using"):
                call()
            refused.append(call)
        # nor does it help to have another thread call
        thread = start(call_in_a_thread)
        join(thread)
        return returned

    def call_in_a_thread():
        with pytest.raises(RuntimeError, match="another call is using the pool"):
            env.step([0] * 4)
        refused.append(env.step)

    def act(obs):
        return (obs[:, 2] > 0).astype(int)

    hooks = {"reward_hook": lambda batch: meddle(batch, batch.reward), "observation_hook": lambda obs: meddle(obs, obs)}
    twin = started(make(num_threads=num_threads))
    state = twin.save()
    env = make(num_threads=num_threads, render_mode="rgb_array", **{where: hooks[where]} if where in hooks else {})
    env.reset()
    got = env.rollout(15, policy=act if where != "policy" else lambda obs: meddle(obs, act(obs)))
    want = twin.rollout(15, policy=act)
    assert len(refused) >= 15 * 11
    assert got.obs.tobytes() == want.obs.tobytes() and got.reward.tobytes() == want.reward.tobytes()
    env.close(), twin.close()


def test_an_error_of_a_hook_that_calls_its_pool():
    env = make(reward_hook=lambda batch: env.step(batch.action)[1] if meddles else batch.reward)
    meddles = False
    env.reset()
    env.step([0] * 4)
    meddles = True
    for _ in range(3):
        with pytest.raises(RuntimeError, match="another call is using the pool: use the pool from one thread at"):
            env.step([0] * 4)
    meddles = False
    assert (env.step([1] * 4)[1] == 1).all()
    with pytest.raises(RuntimeError, match="another call is using the pool"):
        env.rollout(3, policy=lambda obs: env.step([0] * 4))
    env.step([0] * 4)
    env.close()
    # asynchronous pools hand out batches in the same way
    env = make(reward_hook=lambda batch: env.recv(1)[1], batch_size=2)
    env.async_reset()
    with pytest.raises(RuntimeError, match="another call is using the pool"):
        env.recv(10)
    env.close()
