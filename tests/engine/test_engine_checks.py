"""The engine checks arguments against its own numbers, not against attributes, which may have changed."""
import copy
import pickle
import threading
from dataclasses import FrozenInstanceError
from functools import partial

import numpy as np
import pytest
from engine.threads import at_once, meanwhile, start
from markers import slow
from pool_arguments import MODES
from receiving import started
from waiting import attempts, join

import cypool
from cypool.spec import Array, Discrete, EnvSpec, Text

pytestmark = pytest.mark.families("atari")
NUM = 5


def test_a_rollout_takes_its_size_from_the_engine():
    env = started(cypool.make("CartPole-v1", num_envs=64, seed=0))
    with pytest.raises(AttributeError, match=r"GymnasiumPool\.num_envs: cannot be set to a different value"):
        env.num_envs = 1
    with pytest.raises(ValueError, match=r"^actions: expected shape \(T, 64\)"):
        env.rollout(np.zeros((1000, 1), int))
    # the same arrays, given to the engine itself
    for actions, num_steps in ((np.zeros(1000, int), 1000), (np.zeros(64, int), 0), (np.zeros(64 * 3, int), 2),
                               (np.zeros(64, np.int32), 1), (np.zeros(128, int)[::2], 1), (np.zeros(64, int), 2**31)):
        with pytest.raises(ValueError, match="^(actions|rollout): expected "):
            env._pool.rollout(actions, num_steps, 1)
    assert env.rollout(np.zeros((3, 64), int)).reward.shape == (3, 64)


def test_actions_of_a_policy_are_written_to_writeable_memory_only():
    env = started(cypool.make("CartPole-v1", num_envs=NUM, seed=0))
    mlp = cypool.MLP(env.env_spec, [np.zeros((2, 4))], [np.zeros(2)])
    actions = np.zeros(NUM, int)
    actions.flags.writeable = False
    with pytest.raises(ValueError, match="^actions: expected 5 C-contiguous rows"):
        env._pool.rollout(actions, 1, 1, None, None, mlp)


def test_specs_do_not_change():
    env = started(cypool.make("FrozenLake-v1", num_envs=NUM))
    for obj, name, value in ((env.env_spec.action, "n", 2**40), (env.env_spec, "action", Discrete(2**40)),
                             (env, "env_spec", cypool.make_spec("Pong-v5")), (Array((2,), float), "shape", (9,)),
                             (Text(8), "dtype", np.dtype(float)), (Array((2,), float), "low", np.zeros(2))):
        with pytest.raises((AttributeError, FrozenInstanceError)):
            setattr(obj, name, value)
        with pytest.raises((AttributeError, FrozenInstanceError)):
            delattr(obj, name)
    with pytest.raises(ValueError, match=r"^actions: expected integers in \[0, 4\)"):
        env.rollout(np.full((3, NUM), 2**39))


def test_bounds_and_dicts_of_specs_do_not_change():
    array = Array((2,), np.float32, 0, 1)
    for bound in (array.low, array.high):
        with pytest.raises(ValueError, match="read-only"):
            bound[0] = 3
        with pytest.raises(ValueError, match="WRITEABLE"):
            bound.flags.writeable = True
        # NumPy allows it
        bound.shape, bound.dtype = (2, 1), np.int8
    assert array == Array((2,), np.float32, 0, 1) and array.low.shape == array.high.shape == (2,)
    spec = EnvSpec({"a": array}, {"x": Discrete(3)}, {"i": Array((), int)})
    for part in (spec.observation, spec.action, spec.info):
        for change in (lambda d: d.update(b=array), lambda d: d.__setitem__("a", 1), lambda d: d.popitem(),
                       lambda d: d.clear(), lambda d: d.setdefault("c", 1), lambda d: d.__ior__({"z": 1})):
            with pytest.raises(TypeError, match="(specs|recipes) are immutable"):
                change(part)
    for again in (copy.deepcopy(spec), pickle.loads(pickle.dumps(spec))):
        assert again == spec and type(again.action) is type(spec.action)


@pytest.mark.parametrize("wrong", [
    lambda out: out[:-1], lambda out: (*out, np.zeros(NUM)), lambda out: (out[0].astype(np.float64), *out[1:]),
    lambda out: (np.zeros((NUM, 5), np.float32), *out[1:]), lambda out: (np.zeros((4, NUM), np.float32).T, *out[1:]),
    lambda out: (out[0], out[1], out[2], out[2]), lambda out: (*out[:3], np.zeros(NUM - 1, bool)),
    lambda out: (out[0], out[1].astype(">f8"), *out[2:]), lambda out: (*out[:3], None),
    lambda out: (np.frombuffer(bytes(NUM * 16), np.float32).reshape(NUM, 4), *out[1:])])
def test_arrays_that_the_engine_writes_to(wrong):
    env = started(cypool.make("CartPole-v1", num_envs=NUM, seed=0))
    out = (np.zeros((NUM, 4), np.float32), np.zeros(NUM), np.zeros(NUM, bool), np.zeros(NUM, bool))
    # a rollout also writes the observations before its first step
    longer = (np.zeros((2 * NUM, 4), np.float32), *out[1:])
    for call in (lambda: env._pool.step(np.zeros(NUM, int), None, wrong(out)),
                 lambda: env._pool.rollout(np.zeros(NUM, int), 1, 1, wrong(longer)),
                 lambda: env._pool.rollout(np.zeros(NUM, int), 1, 1, out),
                 lambda: env._pool.step(np.zeros(NUM, int), None, longer)):
        with pytest.raises((ValueError, TypeError)):
            call()
    with pytest.raises(ValueError, match="^out: expected None"):
        env._pool.rollout(np.zeros(NUM * 2, int), 2, 2, out)
    env._pool.step(np.zeros(NUM, int), None, out)
    assert out[1].all()
    env._pool.rollout(np.zeros(NUM, int), 1, 1, longer)
    assert (longer[0][:NUM] == out[0]).all() and (longer[0][NUM:] != out[0]).any()


@pytest.mark.parametrize("ids", [np.zeros(1), np.zeros(1, np.int64), np.arange(8, dtype=np.int32)[::2]], ids=str)
def test_ids_that_the_engine_reads(ids):
    env = started(cypool.make("CartPole-v1", num_envs=NUM, seed=0))
    for call in (lambda: env._pool.save(ids), lambda: env._pool.copy(ids, np.array([1], np.int32)),
                 lambda: env._pool.send_reset(ids)):
        with pytest.raises(TypeError, match="^(env_id|source): expected a C-contiguous array of int32"):
            call()
    with pytest.raises(ValueError, match="^env_id: expected the ids to reset"):
        env._pool.send_reset(None, True)


def test_a_policy_is_made_once():
    spec = cypool.make_spec("CartPole-v1")
    mlp = cypool.MLP(spec, [np.ones((2, 4))], [np.zeros(2)])
    before = mlp(np.ones((1, 4), np.float32))
    for call in (lambda: mlp.__init__(spec, [np.zeros((2, 4))], [np.ones(2)]),
                 lambda: mlp._network.__init__([], [], 0, 0, 0, [], [], [], False, 0, 0, 0),
                 lambda: cypool.Policy.__init__(mlp, 1)):
        with pytest.raises(RuntimeError, match="is already initialized"):
            call()
    assert mlp(np.ones((1, 4), np.float32)) == before


def test_a_policy_of_a_rollout_is_made_again_meanwhile():
    env = started(cypool.make("CartPole-v1", num_envs=64, num_threads=2, seed=0))
    mlp = cypool.MLP(env.env_spec, [np.ones((256, 4)), np.ones((2, 256))], [np.zeros(256), np.zeros(2)])

    def disturb():
        with pytest.raises(RuntimeError):
            mlp.__init__(env.env_spec, [np.ones((2, 4))], [np.zeros(2)])

    with meanwhile(disturb):
        env.rollout(500, policy=mlp)


@pytest.mark.parametrize("num_threads", [2, *slow(1, 5)])
def test_a_rollout_leaves_shared_threads_to_other_pools(num_threads):
    with cypool.ThreadPool(num_threads) as threads:
        long = started(cypool.make("Pong-v5", num_envs=4, thread_pool=threads, seed=0))
        short = cypool.make("CartPole-v1", num_envs=8, batch_size=4, thread_pool=threads, seed=0)
        short.async_reset()
        short.recv()
        ended = threading.Event()
        received = []

        def roll():
            try:
                long.rollout(np.zeros((4000, 4), int), observe="last")
            finally:
                ended.set()

        thread = start(roll)
        while not ended.is_set() and len(received) < 200:
            short.send(np.zeros(4, int))
            received.append(short.recv(timeout=60)[4]["env_id"])
        # the threads were at the rollout all the time before
        assert len(received) == 200 and not ended.is_set()
        join(thread)
        assert ended.is_set()
        long.close()
        short.close()


@pytest.mark.parametrize("batch", ["rollout", "step"])
@pytest.mark.parametrize("num_threads", [1, 2, 5])
def test_turns_change_no_results(num_threads, batch):
    def run(env):
        env.reset()
        if batch == "rollout":
            made = env.rollout(np.ones((300, 16), int))
            return made.next_obs, made.reward
        rows = [env.step(np.ones(16, int))[:2] for _ in range(50)]
        return np.array([obs for obs, _ in rows]), np.array([reward for _, reward in rows])

    wanted = run(cypool.make("Acrobot-v1", num_envs=16, num_threads=1, seed=3))
    with cypool.ThreadPool(num_threads) as threads:
        pools = [cypool.make("Acrobot-v1", num_envs=16, thread_pool=threads, seed=3) for _ in range(3)]
        got = [None] * 3

        def use(k):
            got[k] = run(pools[k])

        at_once(*(partial(use, k) for k in range(3)))
        for pool in pools:
            pool.close()
    for made in got:
        assert all(np.array_equal(a, b) for a, b in zip(made, wanted, strict=True))


# rows say whether they are of a step or a reset


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("id", ["CartPole-v1", "MountainCar-v0"])
def test_rows_say_whether_they_begin_an_episode(id, mode, num_threads):
    env = cypool.make(id, num_envs=NUM, num_threads=num_threads, autoreset_mode=mode, max_episode_steps=7, seed=0)
    env.reset()
    assert env._pool.starts().all() and not env._pool.stepped().any()
    over = np.zeros(NUM, bool)
    for step in range(40):
        mask = over | (np.arange(NUM) == step % NUM)
        if mode == "Disabled" and over.any():
            env.reset(options={"reset_mask": mask})
            assert (env._pool.starts() == mask).all() and not env._pool.stepped().any()
            over[:] = False
        _, _, terminated, truncated, info = env.step(np.ones(NUM, int))
        wanted = over if mode == "NextStep" else np.zeros(NUM, bool)
        assert (env._pool.starts() == wanted).all() and (env._pool.stepped() == ~wanted).all()
        assert ((info["elapsed_step"] == 0) == wanted).all() or mode == "SameStep"
        over = terminated | truncated
    env.load(env.save([1]), [2])
    assert len(env._pool.starts()) == 1 and not env._pool.starts().any() and not env._pool.stepped().any()


def test_rows_of_failed_environments_are_of_no_step(walker):
    env = started(cypool.make("walker/Trouble-v0", num_envs=3, seed=0))
    with pytest.raises(cypool.EnvError):
        env.step([0, 1, 0])
    assert env._pool.stepped().tolist() == [True, False, True] and not env._pool.starts().any()
    env.step([0, 0, 0])
    assert env._pool.starts().tolist() == [False, True, False]


def test_dm_step_types_after_a_rollout():
    def types(env, steps):
        return np.array([env.step(np.ones(NUM, int)).step_type for _ in range(steps)])

    make = {"num_envs": NUM, "seed": 0, "max_episode_steps": 5}
    env, other = (started(cypool.make("CartPole-v1", "dm", **make)) for _ in range(2))
    env.rollout(np.ones((5, NUM), int))
    types(other, 5)
    assert np.array_equal(types(env, 12), types(other, 12))


@pytest.mark.parametrize("mode", MODES)
def test_rewards_are_normalized_after_a_load_as_after_a_reset(mode):
    make = {"num_envs": 2, "seed": 0, "autoreset_mode": mode, "normalize_reward": True}
    source = started(cypool.make("CartPole-v1", num_envs=2, seed=0, autoreset_mode=mode))
    for _ in attempts():
        *_, terminated, truncated, _ = source.step([1, 1])
        if (terminated | truncated).any():
            break
    over = source.save()
    source.reset()
    begun = source.save()
    env = started(cypool.make("CartPole-v1", **make))
    env.load(over)
    env.load(begun)
    count = env.normalization()["reward"]["count"]
    env.step([0, 0])
    assert env.normalization()["reward"]["count"] == count + 2 and (env._returns == 1).all()
    env.step([0, 0])
    env.copy(0, 1)
    assert env._returns.tolist() == [1.99, 1.99]
    env.load(begun[[0]], [0])
    assert env._returns.tolist() == [0, 1.99]


@pytest.mark.parametrize("env_type", ["gymnasium", "gym", "dm"])
def test_a_reset_returns_no_other_environments(env_type):
    env = started(cypool.make("CartPole-v1", env_type, num_envs=8, batch_size=4, num_threads=2, seed=0))
    env.send(np.zeros(8, int), np.arange(8))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="^reset: expected no environments in flight"):
            env.reset([7])
    rewards = [env.recv() for _ in range(2)]
    assert len(rewards) == 2
    env.reset([7, 2])
    assert sorted(env.async_reset([7]) or [int(i) for i in np.atleast_1d(env._pool.recv()[4]["env_id"])]) == [7]


def test_a_rollout_of_many_steps_ends_in_time():
    env = started(cypool.make("CartPole-v1", num_envs=1, seed=0))
    steps = []

    def policy(obs):
        steps.append(1)
        return [len(steps) % 2]

    # the lists that depend on the number of steps are made behind them
    with pytest.raises(TimeoutError, match="^rollout: did not finish within 0.05 s"):
        env.rollout(2**27, policy=policy, timeout=0.05)
    assert steps
