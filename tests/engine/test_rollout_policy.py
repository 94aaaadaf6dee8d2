"""A rollout with a policy equals a loop in Python with the same policy, bit for bit."""
import ctypes
import pickle
import signal

import numpy as np
import pytest
from comparing import assert_same
from interrupting import alarms
from markers import slow
from pool_arguments import MODES, THREADS
from receiving import started

import cypool
from cypool.policies import Decision

pytestmark = pytest.mark.families("box2d", "vizdoom")
NUM = 7


@pytest.fixture(scope="module")
def policies(walker):
    """The capsules of the plug-in's policies, by name."""
    from walker import functions

    return functions.__pyx_capi__


def make(id="CartPole-v1", **options):
    env = cypool.make(id, **{"num_envs": NUM, "seed": 3, **options})
    return env, *env.reset()


def lean(obs, t):
    """The same as the plug-in's `lean`."""
    right = obs[:, 2] + obs[:, 3] > 0
    return (right != (t % 5 > 1)).astype(np.int64)


def compare(rollout, twin, obs, choose, every=1):
    """Asserts that a rollout equals the steps of `twin`; returns its last observation and how many ended."""
    steps, over, ended = len(rollout), np.zeros(twin.num_envs, bool), 0
    observed = [t for t in range(steps) if t % every == every - 1 or t == steps - 1]
    stays = twin.stays_at_end
    for t in range(steps):
        ids = np.flatnonzero(~over)
        if t % every == 0:
            assert_same(rollout.obs[t // every], obs)
        if len(ids):
            actions = choose(obs, t)
            assert_same(rollout.action[t][ids], actions[ids])
            now, reward, terminated, truncated, info = twin.step(actions[ids], ids)
            assert_same(rollout.reward[t][ids], reward), assert_same(rollout.terminated[t][ids], terminated)
            assert_same(rollout.truncated[t][ids], truncated)
            assert_same(rollout.info["elapsed_step"][t][ids], info["elapsed_step"])
            obs = obs.copy()
            obs[ids] = now
            if stays:
                over[ids] = terminated | truncated
            ended += (terminated | truncated).sum()
            if "episode" in info:
                assert_same(rollout.info["episode"]["r"][t][ids], info["episode"]["r"])
        if t in observed:
            assert_same(rollout.next_obs[observed.index(t)], obs)
    assert len(rollout.obs) == len(rollout.next_obs) == len(observed)
    assert_same(rollout.last_obs, obs)
    return obs, ended


def test_infos_of_environments_that_stay():
    actions = np.zeros((5, NUM), int)
    env, _, _ = make("Taxi-v3", autoreset_mode="Disabled", max_episode_steps=3, episode_statistics=True)
    twin, _, _ = make("Taxi-v3", autoreset_mode="Disabled", max_episode_steps=3, episode_statistics=True)
    rollouts = []
    for each in (env, twin):
        # it ends its episode a step before the others
        each.step([0], [2])
        rollouts.append(each.rollout(actions) if each is env else each.rollout(5, policy=lambda obs: actions[0]))
    want, got = (rollout.info for rollout in rollouts)
    assert want.keys() == got.keys() and want["elapsed_step"][:, 2].tolist() == [2, 3, 3, 3, 3]
    for key in ("env_id", "elapsed_step", "prob", "action_mask"):
        assert_same(got[key], want[key])
    for key in "rl":
        assert_same(got["episode"][key], want["episode"][key])


def test_failed_environments_that_stay(walker):
    actions, rollouts = np.array([[0, 0], [1, 0], [0, 1], [0, 0]]), []
    for policy in (None, iter(actions)):
        env = started(cypool.make("walker/Trouble-v0", num_envs=2, autoreset_mode="Disabled"))
        with pytest.raises(cypool.EnvError) as caught:
            env.rollout(actions) if policy is None else env.rollout(4, policy=lambda obs, policy=policy: next(policy))
        assert caught.value.steps == {0: 1, 1: 2}
        rollouts.append(caught.value.batch)
    want, got = rollouts
    assert want.next_obs["count"][:, :, 0].T.tolist() == [[1, 0, 2, 2], [1, 2, 0, 3]]
    for part in ("count", "last"):
        assert_same(got.next_obs[part], want.next_obs[part])
    for key in ("env_id", "elapsed_step", "bytes"):
        assert_same(got.info[key], want.info[key])


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("id, options", [("CartPole-v1", {}), ("LunarLander-v3", {"episode_statistics": True})],
                         ids=str)
def test_policy_equals_a_loop(policies, id, options, mode, num_threads):
    (env, obs, _), (twin, *_) = (make(id, autoreset_mode=mode, num_threads=num_threads, **options)
                            for _ in range(2))
    policy = policies["lean"]
    obs, ended = compare(env.rollout(150, policy=policy), twin, obs, lean)
    assert ended > 0
    # the caller's buffers; fewer observations; one step
    buffers = env.rollout_buffers(9)
    for steps, arguments, every in ((9, {"out": buffers}, 1), (10, {"observe": 4}, 4), (8, {"observe": "last"}, 8),
                                    (1, {}, 1)):
        if mode == "Disabled":
            (obs, _), _ = env.reset(), twin.reset()
        rollout = env.rollout(steps, policy=policy, **arguments)
        obs, _ = compare(rollout, twin, obs, lean, every)
    assert len(buffers.action) == 9
    # the next batches are as if nothing had been
    if mode != "Disabled":
        assert_same(env.step(np.zeros(NUM, int))[0], twin.step(np.zeros(NUM, int))[0])
        actions = np.ones((4, NUM), int)
        rollout = env.rollout(actions)
        assert rollout.action is None
        for t in range(4):
            assert_same(rollout.next_obs[t], twin.step(actions[t])[0])


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", MODES[:2])
def test_policy_with_state_and_parameters(policies, mode, num_threads):
    (env, obs, _), (twin, *_) = (make(autoreset_mode=mode, num_threads=num_threads) for _ in range(2))
    state, mine = np.zeros((NUM, 2)), np.zeros((NUM, 2))
    policy = cypool.Policy(policies["lagging"], state=state, parameters=np.array([0.02]))
    elapsed, over = np.zeros(NUM, int), np.zeros(NUM, bool)
    for _ in range(3):
        rollout = env.rollout(60, policy=policy)
        for t in range(60):
            mine[elapsed == 0, 1] = 0
            actions = (mine[:, 1] > 0.02).astype(int)
            mine[:, 0] += 1 + 100 * over
            mine[:, 1] = obs[:, 2]
            obs, reward, terminated, truncated, info = twin.step(actions)
            assert_same((rollout.action[t], rollout.next_obs[t], rollout.reward[t]), (actions, obs, reward))
            elapsed = info["elapsed_step"]
            over = (terminated | truncated) if mode == "NextStep" else over
        # its data are kept from rollout to rollout
        assert_same(state, mine)
    assert mode == "SameStep" or mine[:, 0].max() > 200


@pytest.mark.parametrize("num_threads", [0, 2])
def test_policy_sees_infos(policies, num_threads):
    (env, _, info), (twin, *_) = (make("Taxi-v4", num_threads=num_threads) for _ in range(2))
    elapsed = np.zeros(NUM, int)
    rollout = env.rollout(80, policy=policies["by_mask"])
    for t in range(80):
        wanted = (elapsed * 5 + np.arange(NUM)) % 6
        for i in range(NUM):
            # the first one from there that is legal
            wanted[i] = (wanted[i] + np.argmax(np.roll(info["action_mask"][i], -wanted[i]))) % 6
        obs, reward, _, _, info = twin.step(wanted)
        elapsed = info["elapsed_step"]
        assert_same((rollout.action[t], rollout.next_obs[t], rollout.reward[t]), (wanted, obs, reward))


def test_policy_with_dicts(policies):
    def doom():
        return make("VizdoomMyWayHome-v1", num_envs=2, num_threads=2,
                    config={"available_buttons": ["MOVE_FORWARD", "TURN_LEFT_RIGHT_DELTA"]})

    (env, obs, _), (twin, *_) = doom(), doom()
    rollout = env.rollout(6, policy=policies["walk_by_parts"])
    for t in range(6):
        screen = obs["screen"].reshape(2, -1)
        actions = {"binary": (screen[:, 777] % 2).astype(int), "continuous": screen[:, 999:1000].astype(np.float32)}
        obs, reward, *_ = twin.step(actions)
        assert_same(rollout.next_obs["screen"][t], obs["screen"]), assert_same(rollout.reward[t], reward)
        for name, part in actions.items():
            assert_same(rollout.action[name][t], part)


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("what, action, cause, message", [
    (0, 0, RuntimeError, "policy: expected a return value of 0, got 3"),
    (1, 0, KeyError, "of the policy"),
    (2, 0, ValueError, "policy: expected the policy to write only the 8 bytes of an action, but it wrote outside"),
    (3, 0, ValueError, "policy: expected the policy to write only the 8 bytes of an action, but it wrote outside"),
    (9, 2, ValueError, r"policy: expected actions in \[0, 1\], got 2"),
    (9, -1, ValueError, r"policy: expected actions in \[0, 1\], got -1"),
    (9, 2**62, ValueError, r"policy: expected actions in \[0, 1\], got 4611686018427387904")])
def test_policy_that_fails(policies, what, action, cause, message, mode, num_threads):
    env, *_ = make(autoreset_mode=mode, num_threads=num_threads)
    parameters = np.array([4, 2, what, action])
    policy = cypool.Policy(policies["misbehave"], parameters=parameters)
    with pytest.raises(cypool.EnvError, match=f"^env 4, step 2: {cause.__name__}: .*{message}") as caught:
        env.rollout(5, policy=policy)
    error = caught.value
    assert error.steps == {4: 2} and type(error.__cause__) is cause
    rollout = error.batch
    assert rollout.truncated.nonzero()[0].tolist() == [2] and rollout.truncated[2, 4]
    assert not rollout.next_obs[2, 4].any() and rollout.reward[2, 4] == 0 and (rollout.action == 0).all()
    if mode == "Disabled":
        assert (rollout.info["elapsed_step"][:, 4] == [1, 2, 2, 2, 2]).all()
        env.reset()
    else:
        # the next step started an episode
        assert (rollout.info["elapsed_step"][:, 4] == [1, 2, 2, 0, 1]).all()
    assert (rollout.info["elapsed_step"][:, 0] == np.arange(1, 6)).all()
    # the pool is usable
    parameters[0] = -1
    assert not env.rollout(3, policy=policy).truncated.any()
    env.close()


def test_policy_of_floats_out_of_bounds(policies):
    env, *_ = make("Pendulum-v1", num_envs=2)
    push = np.array([1.5], np.float32)
    policy = cypool.Policy(policies["push"], parameters=push)
    assert (env.rollout(3, policy=policy).action == 1.5).all()
    for bad in (np.nan, np.inf, -2.5, np.nextafter(np.float32(2), np.float32(3))):
        push[0] = bad
        with pytest.raises(cypool.EnvError, match=r"policy: expected actions in \[-2.0, 2.0\], got") as caught:
            env.rollout(3, policy=policy)
        assert set(caught.value.causes) == {0, 1} and caught.value.steps == {0: 0, 1: 0}
        env.reset()


@pytest.mark.parametrize("num_threads", [0, 2])
def test_policy_out_of_time(policies, num_threads):
    (env, *_), (twin, *_) = (make(num_threads=num_threads) for _ in range(2))
    with pytest.raises(TimeoutError, match="rollout: did not finish within 0"):
        env.rollout(500, policy=policies["lean"], timeout=0)
    (obs, _), _ = env.reset(seed=3), twin.reset(seed=3)
    compare(env.rollout(40, policy=policies["lean"], timeout=1e6), twin, obs, lean)


@pytest.mark.parametrize("num_threads", [0, 2])
def test_policy_and_ctrl_c(policies, num_threads):
    env, *_ = make(num_envs=2, num_threads=num_threads)
    with alarms(signal.default_int_handler, 0.1), pytest.raises(KeyboardInterrupt):
        for _ in range(10_000):
            env.rollout(20_000, observe="last", policy=policies["lean"])
    twin, *_ = make(num_envs=2)
    (obs, _), _ = env.reset(seed=1), twin.reset(seed=1)
    compare(env.rollout(5, policy=policies["lean"]), twin, obs, lean)


@pytest.mark.parametrize("num_threads", [0, 2])
def test_policy_in_ctypes(num_threads):
    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Decision))
    def policy(pointer):
        d = pointer.contents
        obs = ctypes.cast(d.obs[0], ctypes.POINTER(ctypes.c_float))
        right = np.float32(obs[2]) + np.float32(obs[3]) > 0
        ctypes.cast(d.action, ctypes.POINTER(ctypes.c_int64))[0] = int(right != (d.step % 5 > 1))
        return 0

    (env, obs, _), (twin, *_) = (make(num_threads=num_threads) for _ in range(2))
    obs, _ = compare(env.rollout(20, policy=policy), twin, obs, lean)
    compare(env.rollout(5, policy=ctypes.cast(policy, ctypes.c_void_p).value), twin, obs, lean)


@pytest.mark.parametrize("id, mode", [
    *(("CartPole-v1", mode) for mode in MODES), ("gymnasium:CartPole-v1", MODES[0]),
    *slow(*(("gymnasium:CartPole-v1", mode) for mode in MODES[1:]))])
def test_policy_in_python(id, mode):
    options = {"num_workers": 1} if id.startswith("gymnasium:") else {"num_threads": 2}
    (env, obs, _), (twin, *_) = (make(id, autoreset_mode=mode, **options) for _ in range(2))
    count = iter(range(10_000))
    obs, ended = compare(env.rollout(80, policy=lambda obs: lean(obs, next(count))), twin, obs, lean)
    assert ended > 0
    if mode != "Disabled":
        count = iter(range(10_000))
        rollout = env.rollout(11, observe=4, policy=lambda obs: lean(obs, next(count)))
        compare(rollout, twin, obs, lean, 4)
    env.close(), twin.close()


def test_policy_with_a_hook_in_python(policies):
    env, obs, _ = make(reward_hook=lambda batch: batch.reward * 2)
    twin, *_ = make(reward_hook=lambda batch: batch.reward * 2)
    count = iter(range(100))
    compare(env.rollout(30, policy=lambda obs: lean(obs, next(count))), twin, obs, lean)
    with pytest.raises(ValueError, match="policy: expected a Python function for a pool with Python environments or"):
        env.rollout(3, policy=policies["lean"])


def test_policy_in_python_that_fails():
    env, *_ = make()

    def fails(obs):
        raise ArithmeticError("mine")

    with pytest.raises(ArithmeticError, match="mine"):
        env.rollout(4, policy=fails)
    for bad, error, message in [
            (lambda obs: np.full(NUM, 2), ValueError, r"policy: actions: expected integers in \[0, 2\), got 2"),
            (lambda obs: np.zeros(NUM - 1, int), ValueError, "policy: actions: expected 7 rows, got 6"),
            (lambda obs: np.zeros(NUM), TypeError, "policy: actions: expected integers"),
            (lambda obs: None, Exception, "policy: actions: expected")]:
        with pytest.raises(error, match=message):
            env.rollout(4, policy=bad)
    assert (env.rollout(np.zeros((2, NUM), int)).info["elapsed_step"][0] == 1).all()


def test_policy_and_history(policies):
    env, *_ = make(num_threads=2)
    history = cypool.history(env, every=50)
    rollout = env.rollout(90, policy=policies["lean"])
    assert len(history) == 90
    obs, _ = history.seek(70)
    assert_same(obs, rollout.next_obs[69])
    history.seek(90)
    # a rollout whose policy fails is not recorded, and does not disturb
    bad = cypool.Policy(policies["misbehave"], parameters=np.array([4, 2, 0, 0]))
    with pytest.raises(cypool.EnvError):
        env.rollout(5, policy=bad)
    rollout = env.rollout(10, policy=policies["lean"])
    obs, _ = history.seek(len(history) - 1)
    assert_same(obs, rollout.next_obs[8])


def test_bad_policies(policies):
    env, *_ = make()
    with pytest.raises(TypeError, match="policy: expected a C function .*, a cypool.Policy or a Python function, got"):
        env.rollout(4, policy=3.5)
    for bad in (policies["returns_nothing"], policies["takes_a_number"]):
        with pytest.raises(TypeError, match=r"policy: expected a capsule for a C function 'int \(struct cypool"):
            env.rollout(4, policy=bad)
    for bad in (0, -1, 2**64):
        with pytest.raises(ValueError, match="policy: expected a C function .*, got .*, which is not an address$"):
            env.rollout(4, policy=bad)
    for bad in (ctypes.CFUNCTYPE(None, ctypes.c_void_p), ctypes.CFUNCTYPE(ctypes.c_int)):
        with pytest.raises(TypeError, match="policy: expected a ctypes function with restype c_int and argtypes"):
            env.rollout(4, policy=bad(lambda *_: None))
    for bad in (0, -3, 2**31, 1.5, None, np.zeros((4, NUM), int)):
        with pytest.raises((TypeError, ValueError), match="^actions: expected"):
            env.rollout(bad, policy=policies["lean"])
    with pytest.raises(TypeError, match="function: expected a C function"):
        cypool.Policy(lean)
    for name, bad in (("state", [1]), ("state", np.zeros((7, 4))[:, ::2]), ("parameters", np.array([object()])),
                      ("parameters", 3)):
        with pytest.raises(TypeError, match=f"{name}: expected a C-contiguous array of numbers, got"):
            cypool.Policy(policies["lean"], **{name: bad})
    for bad, got in ((np.array(1.0), "a scalar"), (np.broadcast_to(np.zeros((1, 1)), (1, 1)), "a read-only one")):
        with pytest.raises(ValueError, match=f"state: expected a writeable array of shape .* got {got}"):
            cypool.Policy(policies["lean"], state=bad)
    with pytest.raises(ValueError, match="policy: expected a state with 7 rows, one for each env, got 6"):
        env.rollout(4, policy=cypool.Policy(policies["lean"], state=np.zeros((6, 2))))
    with pytest.raises(ValueError, match="rollout: expected a synchronous pool"):
        cypool.make("CartPole-v1", num_envs=4, batch_size=2).rollout(3, policy=policies["lean"])
    with pytest.raises(RuntimeError, match="was never reset"):
        cypool.make("CartPole-v1", num_envs=NUM).rollout(3, policy=policies["lean"])
    with pytest.raises(ValueError, match="out: expected a writeable C-contiguous"):
        env.rollout(3, env.rollout_buffers(4), policy=policies["lean"])
    with pytest.raises(TypeError, match="cannot be pickled or copied"):
        pickle.dumps(cypool.Policy(policies["lean"]))
    # nothing of this has stepped an environment
    assert (env.rollout(3, policy=policies["lean"]).info["elapsed_step"][0] == 1).all()


def no_trouble(kind, policies):
    """Returns the first argument of a rollout of three steps of five environments, and the policy."""
    if kind == "actions":
        return np.zeros((3, 5), int), None
    return 3, cypool.Policy(policies["by_count"], parameters=np.zeros(4, int)) if kind == "C" else lambda obs: [0] * 5


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("kind", ["actions", "C"])
def test_an_environment_that_had_failed_to_observe_begins_an_episode(trouble, policies, kind, mode, num_threads):
    env = started(cypool.make("walker/Trouble-v0", num_envs=5, num_threads=num_threads, autoreset_mode=mode))
    with pytest.raises(cypool.EnvError, match="^env 2: KeyError: .*raised in observe"):
        env.step([0, 0, trouble.RAISE_OBSERVE, 0, 0])
    actions, policy = no_trouble(kind, policies)
    rollout = env.rollout(actions, policy=policy)
    # its row was zero then, too
    assert rollout.obs["count"][0, :, 0].tolist() == [1, 1, 0, 1, 1] and not rollout.obs["count"][0, 2].any()
    assert rollout.info["elapsed_step"].T.tolist() == [[2, 3, 4], [2, 3, 4], [0, 1, 2], [2, 3, 4], [2, 3, 4]]
    assert rollout.valid.tolist() == [[True, True, False, True, True]] + [[True] * 5] * 2


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["actions", "C", "random"])
def test_an_environment_that_cannot_observe_before_a_rollout_fails_alone(trouble, policies, kind, mode, num_threads):
    trouble.set_gate(True)
    env = started(cypool.make("walker/Trouble-v0", num_envs=5, num_threads=num_threads, autoreset_mode=mode))
    env.step([0] * 5)
    state = env.save([2])
    row = {**state.rows[0], "own": (1.0, trouble.RAISE_OBSERVE, False)}
    with pytest.raises(KeyError, match="raised in observe"):
        env.load(cypool.State(state.env_id, [row]))
    actions, policy = no_trouble(kind, policies) if kind != "random" else (3, cypool.RandomPolicy(env.env_spec))
    with pytest.raises(cypool.EnvError) as caught:
        env.rollout(actions, policy=policy)
    assert type(caught.value.causes[2]) is KeyError and caught.value.steps[2] == 0
    rollout = caught.value.batch
    assert rollout.obs["count"][0, [0, 1, 3, 4], 0].tolist() == [1] * 4 and rollout.truncated[0, 2]
    assert not rollout.valid[0, 2]
    if kind == "random":
        return
    assert list(caught.value.causes) == [2]
    assert rollout.info["elapsed_step"][:, [0, 1, 3, 4]].tolist() == [[2] * 4, [3] * 4, [4] * 4]
    assert rollout.info["elapsed_step"][:, 2].tolist() == ([1, 1, 1] if mode == "Disabled" else [1, 0, 1])
