"""Bad input: each an exception that names the argument, and the pool works on."""
import inspect
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from receiving import receive_pending, started

import cypool
from cypool.arguments.action_readers import reader_of
from cypool.arguments.actions import ActionReader, ArraysReader
from cypool.features.rollouts import reader_of_rollouts
from cypool.spec import Array, Discrete, EnvSpec
from cypool.testing import check_env
from cypool.tools.compile import load

pytestmark = pytest.mark.families("atari", "mpe2", "mujoco", "vizdoom")


class NoAttributes:
    """An object whose attributes cannot be read."""

    def __getattr__(self, name):
        raise RuntimeError(name)


def rejected(kind, argument, call):
    with pytest.raises(kind, match=f"^{argument}"):
        call()


@pytest.mark.parametrize(("id", "hint"), [
    ("Pong-v3", "(did you mean Pong-v5 or ALE/Pong-v5 or Pong-v0 or PongNoFrameskip-v0 or Pong-v4 or "
                "PongNoFrameskip-v4?)"),
    ("pong-v5", "(did you mean Pong-v5 or"), ("ALE/Pong-v4", "(did you mean Pong-v5 or"),
    ("PongDeterministic-v4", "(did you mean Pong-v5 or"),
    ("mine/Walk-v0", "install the package that provides it, or import it first"), ("CartPol-v1", "CartPole-v1"),
    ("cypool/CartPole-v1", "only Gymnasium's make and make_vec need the prefix"),
    ("phys2d/Pendulum-v0", "'gymnasium:phys2d/Pendulum-v0' is Gymnasium's"),
    (gymnasium.Env, "from_factories([MyEnv] * 8) makes Python environments"),
    ([lambda: None], "from_factories([MyEnv] * 8) makes Python environments"),
    ("pong", None), ("", None), (None, None), (3, None),
    pytest.param(NoAttributes(), None, id="NoAttributes")])
def test_unknown_id(id, hint):
    with pytest.raises(ValueError, match="^id: no environment") as caught:
        cypool.make(id)
    assert hint is None or hint in str(caught.value)


def test_values_that_a_description_stumbles_over(walker):
    with pytest.raises(TypeError, match="^limit: expected values that walker/Walk-v0 accepts, got {'limit': 'x'}: "):
        cypool.make("walker/Walk-v0", limit="x")
    with pytest.raises(TypeError, match="^limit: expected values that walker/Walk-v0 accepts"):
        cypool.make_spec("walker/Walk-v0", limit=None)


def test_unknown_option():
    with pytest.raises(ValueError, match="^gravity: not an option of Ant-v5 .*changes values in its model"):
        cypool.make("Ant-v5", gravity=3)
    with pytest.raises(ValueError, match="^frame_skp: not an option of Pong-v5 .did you mean frame_skip"):
        cypool.make("Pong-v5", frame_skp=2)
    for id, given, known in (("Pong-v5", "frame_stack", "stack_num"), ("Ant-v5", "stack_num", "frame_stack")):
        with pytest.raises(ValueError, match=f"^{given}: not an option of {id} .did you mean {known}"):
            cypool.make(id, **{given: 2})
    with pytest.raises(ValueError, match="^num_env: .*did you mean num_envs"):
        cypool.make("Pong-v5", num_env=2)
    with pytest.raises(ValueError, match="^env_type: .*pass num_envs by name"):
        cypool.make("Pong-v5", 2)
    with pytest.raises(ValueError, match="^task: .*did you mean breakout"):
        cypool.make("Pong-v5", task="brekout")
    rejected(ValueError, "gravity", lambda: cypool.make("CartPole-v1", gravity=3))
    rejected(ValueError, "env_type", lambda: cypool.make("CartPole-v1", "jax"))


@pytest.mark.parametrize(("argument", "value", "kind"), [
    ("num_envs", 0, ValueError), ("num_envs", -1, ValueError), ("num_envs", 2**40, ValueError),
    ("num_envs", 2.5, TypeError), ("num_envs", "4", TypeError), ("num_envs", True, TypeError),
    ("batch_size", 0, ValueError), ("batch_size", -1, ValueError), ("batch_size", 5, ValueError),
    ("batch_size", 1.0, TypeError),
    ("num_threads", -1, ValueError), ("num_threads", 100_000, ValueError), ("num_threads", 1.5, TypeError),
    ("max_episode_steps", 0, ValueError), ("max_episode_steps", -5, ValueError),
    ("max_episode_steps", 2**31, ValueError), ("max_episode_steps", 1.5, TypeError),
    ("seed", -1, ValueError), ("seed", 1.5, TypeError), ("seed", "1", TypeError), ("seed", True, TypeError),
    ("seed", [1, 2, 3], ValueError), ("seed", [1, 2, 3, -4], ValueError), ("seed", [1, 2, 3, 4.5], TypeError),
    ("sutton_barto_reward", 1, TypeError),
])
def test_bad_arguments_of_make_are_named(argument, value, kind):
    rejected(kind, argument, lambda: cypool.make("CartPole-v1", **{"num_envs": 4, argument: value}))


@pytest.mark.parametrize("batch_size", [4, 2])
@pytest.mark.parametrize("num_threads", [0, 2])
@pytest.mark.parametrize(("actions", "kind"), [
    ([0], ValueError), ([], (ValueError, TypeError)), ([0] * 5, ValueError), (0, ValueError),
    ([[0], [0], [0], [0]], ValueError), (np.zeros((4, 1), np.int64), ValueError),
    ([0, 2, 0, 0], ValueError), ([0, -1, 0, 0], ValueError), ([0, 2**40, 0, 0], ValueError),
    (np.array([0, 2**63, 0, 0], np.uint64), ValueError), (np.array([0, 255, 0, 0], np.uint8), ValueError),
    ([0.0, 1.0, 0.0, 1.0], TypeError), ([0, float("nan"), 0, 0], TypeError), (None, TypeError),
    ("abcd", TypeError), ([True, False, True, False], TypeError), ([0, None, 0, 0], TypeError),
    ({"action": [0] * 4}, TypeError), (np.zeros(4, complex), TypeError),
])
def test_discrete_actions(actions, kind, num_threads, batch_size):
    env = started(cypool.make("CartPole-v1", num_envs=4, batch_size=batch_size, num_threads=num_threads))
    for call in (env.step, env.send):
        rejected(kind, "actions", lambda call=call: call(actions, [0, 1, 2, 3]))
    env.send([0, 1, 0, 1], [0, 1, 2, 3])
    env.recv()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, ">i4"])
def test_any_integer_dtype_and_layout_is_an_action(dtype):
    env = started(cypool.make("CartPole-v1", num_envs=4, seed=0))
    expected = env.step(np.array([0, 1, 1, 0]))[0]
    for actions in (np.array([0, 1, 1, 0], dtype), np.array([0, 9, 1, 9, 1, 9, 0, 9], dtype)[::2],
                    [0, 1, 1, 0], (0, 1, 1, 0)):
        env.reset(seed=0)
        assert (env.step(actions)[0] == expected).all()
    readonly = np.array([0, 1, 1, 0])
    readonly.setflags(write=False)
    env.reset(seed=0)
    assert (env.step(readonly)[0] == expected).all()


def test_samples_of_the_action_space_are_actions():
    env = started(cypool.make("CartPole-v1", num_envs=3))
    env.step(env.action_space.sample())
    one = started(cypool.make("CartPole-v1"))
    one.step(one.single_action_space.sample())
    one.step(np.asarray(1))
    one.step(1)


@pytest.mark.parametrize("batch_size", [4, 2])
@pytest.mark.parametrize(("ids", "kind"), [
    ([0, 4], ValueError), ([-1, 0], ValueError), ([0, 10**8], ValueError), ([0, 2**40], ValueError),
    ([0, -2**40], ValueError), ([1, 1], ValueError), ([0, 1.5], TypeError), ([[0, 1]], ValueError),
    (np.int64(0), ValueError), (["a", "b"], TypeError), ([True, False], TypeError), ([], ValueError),
])
def test_env_ids(ids, kind, batch_size):
    env = started(cypool.make("CartPole-v1", num_envs=4, batch_size=batch_size, num_threads=2))
    for call in (env.step, env.send):
        rejected(kind, "env_id", lambda call=call: call([0, 0], ids))
    env.step([0] * 4, [3, 1, 2, 0])


@pytest.mark.parametrize(("actions", "ids", "message"), [
    ([0, 0], np.array([2**62, 0]), r"env_id: expected ids in \[0, num_envs\), got 4611686018427387904"),
    ([0, 0], [0, -2**40], r"env_id: expected ids in \[0, num_envs\), got -1099511627776"),
    ([0, 0], np.array([2**64 - 1, 0], np.uint64), r"env_id: expected ids in \[0, num_envs\), got 18446744073709551615"),
    ([0, 0], ["a", "b"], r"env_id: expected integers, got array\(\['a', 'b'\]"),
    ([], [], r"actions: expected shape \(k,\) with k from 1 to 4, got \(0,\)"),
    ([0, 1], None, "actions: expected 4 rows, got 2$"),
    (0, None, "actions: expected 4 rows, got 1: pass one for each environment, even if all are the same$"),
    ([[0], [1], [1], [0]], None, r"actions: expected shape \(k,\) with k from 1 to 4, got \(4, 1\)"),
    (None, None, "actions: expected integers, got None"),
    ({"a": 1}, None, r"actions: expected integers of shape .*, got {'a': 1}"),
    ([0.5] * 4, None, "actions: expected integers, got float64"),
])
def test_messages_show_what_came(actions, ids, message):
    env = started(cypool.make("CartPole-v1", num_envs=4))
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        env.step(actions, ids)


def test_env_options_are_named():
    with pytest.raises(ValueError, match=r"^env_options\[1\]: x: not an option of CartPole-v1"):
        cypool.make("CartPole-v1", num_envs=2, env_options=[{}, {"x": 1}])
    with pytest.raises(ValueError, match="^x: not an option of CartPole-v1"):
        cypool.make("CartPole-v1", num_envs=2, env_options=[{}, {}], x=1)


def test_search_says_which_mode_it_got():
    env = started(cypool.make("CartPole-v1", num_envs=2))
    with pytest.raises(ValueError, match="autoreset_mode='Disabled', got a synchronous one with 'NextStep'$"):
        env.search(env.save([0]), np.zeros((2, 3), int))


def test_descriptions_are_cypools():

    for bad in ({"observation": spaces.Discrete(3)}, {"observation": {"a": spaces.Discrete(3)}},
                {"observation": (3,)}, {"action": spaces.Discrete(3)}):
        with pytest.raises(TypeError, match=f"^{next(iter(bad))}: expected cypool.spec.Array or .*Discrete, got "):
            EnvSpec(**{"observation": Discrete(2), "action": Discrete(2), **bad})
    with pytest.raises(TypeError, match=r"^info\['a'\]: expected cypool.spec.Array, got Discrete\(2\) of type "):
        EnvSpec(Array((1,), "f4"), Discrete(2), {"a": Discrete(2)})


def test_more_or_fewer_actions_than_ids():
    env = started(cypool.make("CartPole-v1", num_envs=4))
    rejected(ValueError, "actions: expected 2 rows", lambda: env.step([0, 0, 0], [1, 2]))
    rejected(ValueError, "actions: expected 3 rows", lambda: env.step([0, 0], [1, 2, 3]))
    env.step([0, 0], [1, 2])


@pytest.mark.parametrize("num_threads", [0, 1, 2])
def test_order_of_calls(num_threads):
    env = cypool.make("CartPole-v1", num_envs=4, num_threads=num_threads)
    with pytest.raises(RuntimeError, match="never reset"):
        env.step([0] * 4)
    with pytest.raises(RuntimeError, match="nothing is pending"):
        env.recv()
    env.reset()
    env.send([0] * 4)
    for _ in range(100):
        with pytest.raises(RuntimeError, match="in flight"):
            env.send([0] * 4)
    env.recv()
    with pytest.raises(RuntimeError, match="nothing is pending"):
        env.recv()
    env.step([0] * 4)


def test_reset_arguments():
    env = cypool.make("CartPole-v1", num_envs=3)
    rejected(ValueError, "options", lambda: env.reset(options={"low": 1}))
    rejected(ValueError, "seed", lambda: env.reset(seed=-1))
    rejected(ValueError, "seed", lambda: env.reset(seed=[1]))
    rejected(TypeError, "seed", lambda: env.reset(seed="x"))
    env.reset(seed=[1, None, 3], options={})
    env.step([0] * 3)


@pytest.mark.parametrize("timeout", [-1, float("nan"), "soon"])
def test_bad_timeouts_are_refused(timeout):
    env = cypool.make("CartPole-v1", num_envs=3)
    with pytest.raises((ValueError, TypeError), match="timeout"):
        env.recv(timeout)


@pytest.mark.parametrize("id", ["GymV21Environment-v0", "GymV26Environment-v0"])
def test_unknown_id_that_gymnasium_refuses_is_not_suggested(id):
    with pytest.raises(ImportError):
        gymnasium.make(id)
    with pytest.raises(ValueError, match=f"^id: no environment '{id}'; `cypool list` or list_all_envs") as caught:
        cypool.make(id)
    assert "gymnasium:" not in str(caught.value)


def test_bad_registrations_are_refused():
    rejected(ValueError, "id", lambda: cypool.register("NoVersion", "a:B"))
    rejected(ValueError, "id", lambda: cypool.register("CartPole-v1", "a:B"))
    rejected(ValueError, "entry_point", lambda: cypool.register("New-v0", "nonsense"))
    rejected(ValueError, "max_episode_steps", lambda: cypool.register("New-v0", "a:B", max_episode_steps=0))
    cypool.register("test/Missing-v0", "no_such_module:Env")
    with pytest.raises(ImportError):
        cypool.make("test/Missing-v0")
    assert "test/Missing-v0" in cypool.list_all_envs()


def test_a_registered_default_can_be_overridden(walker):
    cypool.register("test/Short-v0", "walker.walk:Walk", limit=5)
    assert cypool.make_spec("test/Short-v0").options == {"limit": 5}
    assert cypool.make_spec("test/Short-v0", limit=2).options == {"limit": 2}


def test_box_actions():
    read = ActionReader(Array((2,), np.float32, [-1, 0], [1, 2]), 2).read
    good = np.array([[0.5, 1.5], [-1, 2]], np.float32)
    assert (read(good) == good).all() and not np.shares_memory(read(good), good)
    assert read([[0, 1]]).dtype == np.float32 and read(np.array([0.0, 1.0])).shape == (1, 2)
    rejected(ValueError, "actions: expected shape", lambda: read([[0.0, 1.0, 2.0]]))
    rejected(ValueError, "actions: expected shape", lambda: read(0.5))
    rejected(TypeError, "actions", lambda: read([["a", "b"]]))
    whole = ActionReader(Array((1,), np.int64), 1).read
    # as a float the bound is 2**63, which no int64 is
    rejected(ValueError, "actions", lambda: whole([[2.0**63]]))
    rejected(ValueError, "actions", lambda: whole([[0.5]]))
    assert whole([[3.0]]).tolist() == [[3]]
    for bad in (np.nan, np.inf, 1.01, -2):
        for dtype in (np.float64, np.float32):
            actions = np.array([[0, 1], [bad, 1]], dtype)
            rejected(ValueError, r"actions: expected values .* in row 1", lambda actions=actions: read(actions))
            rejected(ValueError, r"actions: expected values .* in row 0", lambda actions=actions: read(actions[1:]))
    # bounds differ from element to element; other layouts are read the same
    rejected(ValueError, r"actions: expected values .* in row 0", lambda: read(np.array([[0, -0.5]], np.float32)))
    for same in (np.asfortranarray(good), good.astype(">f4"), np.repeat(good, 2, 0)[::2]):
        assert read(same).tobytes() == good.tobytes() and read(same).dtype == np.float32


def test_the_observation_is_always_in_its_space():
    for id in ("CartPole-v1", "Pong-v5"):
        env = cypool.make(id, num_envs=3)
        assert isinstance(env, gymnasium.vector.VectorEnv)
        obs, _ = env.reset()
        for _ in range(50):
            assert env.observation_space.contains(obs)
            obs, *_ = env.step(env.action_space.sample())


class Unprintable:
    """Says nothing of itself."""

    def __repr__(self):
        raise ArithmeticError("on purpose")

    __str__ = __index__ = __float__ = __array__ = __iter__ = __repr__


ODD = [10**5000, -10**5000, np.zeros(3), np.zeros((2, 2), int), np.array(["a"]), np.array([None, "x"]),
       np.zeros(2, [("a", "i4")]), float("nan"), 1j, "\ud800", b"x", {"a": 1}, object(), Unprintable(), [1, [2]],
       [[1], 2]]


@pytest.mark.parametrize("argument", [
    "id", "env_type", "num_envs", "batch_size", "num_threads", "seed", "max_episode_steps", "autoreset_mode",
    "episode_statistics", "normalize_obs", "normalize_reward", "render_mode", "thread_pool", "thread_affinity",
    "env_options", "reward_hook", "observation_hook", "debug", "sutton_barto_reward"])
def test_whatever_make_gets(argument):
    for value in ODD:
        # any number that is not negative is a seed
        if not (argument == "seed" and isinstance(value, int) and value >= 0):
            with pytest.raises((ValueError, TypeError), match=f"^{argument}: "):
                cypool.make(**{"id": "CartPole-v1", "num_envs": 2, argument: value})


@pytest.mark.parametrize(("id", "option"), [
    ("Ant-v5", "main_body"), ("Ant-v5", "xml_file"), ("Ant-v5", "healthy_z_range"), ("Ant-v5", "randomize"),
    ("Ant-v5", "visual_options"), ("Pong-v5", "frame_skip"), ("Pong-v5", "task"), ("Pong-v5", "mode"),
    ("FrozenLake-v1", "desc"), ("FrozenLake-v1", "reward_schedule"), ("Basic-v1", "map_id"), ("Basic-v1", "wad_path")])
def test_whatever_an_option_gets(id, option):
    for value in ODD:
        with pytest.raises((ValueError, TypeError), match=f"^{option}"):
            cypool.make_spec(id, **{option: value})


@pytest.mark.parametrize("batch_size", [2, 1])
@pytest.mark.parametrize("id", ["CartPole-v1", "Pendulum-v1"])
def test_whatever_a_pool_gets(id, batch_size):
    env = cypool.make(id, num_envs=2, batch_size=batch_size, num_threads=2)

    def receive():
        receive_pending(env)

    env.async_reset()
    receive()
    good, state = [[0], [0]] if id == "Pendulum-v1" else [0, 0], env.save()
    calls = {
        "step(.)": ("actions", lambda value: env.step(value, [0, 1])),
        "send(.)": ("actions", lambda value: env.send(value, [0, 1])),
        "step(actions, .)": ("env_id", lambda value: env.step(good, value)),
        "reset": ("env_id", env.reset), "save": ("env_id", env.save), "render": ("env_id", env.render),
        "load(state, .)": ("env_id", lambda value: env.load(state, value)), "load": ("state", env.load),
        "reset(seed=.)": ("seed", lambda value: env.reset(seed=value)), "recv": ("timeout", env.recv),
        "reset(options=.)": ("options", lambda value: env.reset(options=value)),
        "reset_mask": ("reset_mask", lambda value: env.reset(options={"reset_mask": value})),
        "out": ("out", lambda value: env.step(good, [0, 1], out=value)),
        "rollout_buffers": ("num_steps|rollout_buffers", env.rollout_buffers)}
    for value in (*ODD, np.broadcast_to(np.int64(0), 10**12), range(10**12)):
        for name, (argument, call) in calls.items():
            if name != "reset(seed=.)" or not isinstance(value, int) or value < 0:
                with pytest.raises((ValueError, TypeError), match=f"^({argument}): "):
                    print(name, type(value), value if isinstance(value, np.ndarray) else "", call(value))
    assert env._pool.num_pending == 0
    env.send(good, [0, 1])
    receive()


def test_more_steps_than_memory_holds():
    env = cypool.make("Pong-v5", num_envs=2)
    with pytest.raises(ValueError, match="^num_steps: expected a rollout that fits in memory"):
        env.rollout_buffers(2**31 - 1)


def test_whatever_other_functions_get():
    env = cypool.make("NChain-v0", num_envs=2)

    def record(**changes):
        cypool.record(**{"env": env, "path": "out.gif", **changes})

    def register(**changes):
        cypool.register(**{"id": "test/Odd-v0", "entry_point": "a:B", **changes})

    calls = [
        *((name, lambda value, name=name: record(**{name: value}))
          for name in ("env", "path", "num_steps", "fps", "env_id", "actions")),
        *((name, lambda value, name=name: register(**{name: value}))
          for name in ("id", "entry_point", "reference", "max_episode_steps")),
        ("id", cypool.make_spec), ("num_threads", cypool.ThreadPool),
        ("max_episode_steps", lambda value: cypool.make_spec("NChain-v0", max_episode_steps=value)),
        ("thread_affinity", lambda value: cypool.ThreadPool(1, value)), ("factories", cypool.from_factories),
        ("factories", lambda value: cypool.from_factories([lambda: value], num_workers=0)),
        ("num_workers", lambda value: cypool.from_factories([dict], num_workers=value)),
        ("worker_timeout", lambda value: cypool.from_factories([dict], worker_timeout=value))]
    for value in ODD:
        for argument, call in calls:
            with pytest.raises((ValueError, TypeError), match=f"^{argument}: "):
                call(value)
    with pytest.raises(TypeError, match="^env: expected a pool with env_type 'gymnasium', got 3"):
        cypool.record(3, "out.gif")
    with pytest.raises(ValueError, match="^path: expected a file name that ends in .mp4, .*, got 'out'"):
        cypool.record(env, "out")
    assert "test/Odd-v0" not in cypool.list_all_envs()
    cypool.register("test/Base-v0", "cypool.env:Env")
    with pytest.raises(TypeError, match="^cypool.env:Env: expected a class with a static method describe"):
        cypool.make("test/Base-v0")


def test_statistics_of_normalized_pools():
    env = started(cypool.make("CartPole-v1", num_envs=2, normalize_obs=True))
    good = env.normalization()
    for bad in (*ODD, None, {}, {"obs": None, "reward": None}, {**good, "reward": good["obs"]}, {**good, "obs": {}},
                *({**good, "obs": {**good["obs"], key: value}} for key, value in (
                    ("mean", np.zeros(3)), ("mean", np.full(4, np.nan)), ("var", -np.ones(4)), ("var", np.ones(3)),
                    ("var", "x"), ("count", 0), ("count", float("nan")), ("count", "1"), ("count", None)))):
        with pytest.raises(ValueError, match="^statistics: expected the statistics of a pool with normalize_obs="):
            env.load_normalization(bad)
    assert str(env.normalization()) == str(good)
    env.load_normalization(good)


def test_arguments_of_make_are_no_options():
    names = list(inspect.signature(cypool.make).parameters)
    assert names[:3] == ["id", "env_type", "num_envs"] and names[-1] == "options"
    for name in set(names) - {"id", "options", "max_episode_steps"}:
        with pytest.raises(ValueError, match=f"^{name}: not an option of CartPole-v1, but an argument of cypool.make"):
            cypool.make_spec("CartPole-v1", **{name: 1})
    for name in ("normalise_obs", "normalize_rewards", "batchsize"):
        with pytest.raises(ValueError, match=f"^{name}: not an option of CartPole-v1 .did you mean "):
            cypool.make("CartPole-v1", **{name: True})


def test_actions_of_agents_in_one_pass_are_those_of_the_reader(walker):
    """Valid arrays are read at once; all other actions, valid or not, by a reader for each group."""
    rng = np.random.default_rng(0)
    for id, options in (("walker/Crowd-v0", {"leave": False}), ("mpe2/simple_spread-v3", {})):
        spec = cypool.make_spec(id, **options)
        read = reader_of(spec, 5)
        assert isinstance(read, ArraysReader)
        for rows in (1, 4, 5):
            red = rng.integers(3, size=(rows, 3))
            blue = rng.uniform(-1, 1, (rows, 2, 2))
            for given in ((red, blue.astype(np.float32)), (red.astype(np.uint8), blue),
                          (np.asfortranarray(red), blue[:, ::-1]), (red.tolist(), blue.tolist()),
                          (red.reshape(-1), blue.reshape(-1, 2)), (red.astype(">i4"), blue)):
                given = dict(zip(("red", "blue"), given, strict=True)) if "Crowd" in id else given[0]
                want, found = read.reader(given), read(given)
                assert (found.dtype, found.shape) == (want.dtype, want.shape) and found.tobytes() == want.tobytes()
    read = reader_of(cypool.make_spec("walker/Crowd-v0", leave=False), 2)
    zeros = {"red": np.zeros((2, 3), int), "blue": np.zeros((2, 2, 2), np.float32)}
    for name, wrong in (("red", 3), ("red", -1), ("blue", 1.5), ("blue", np.nan)):
        changed = zeros[name].copy()
        changed[1, 1] = wrong
        rejected(ValueError, "actions: expected", lambda changed=changed, name=name: read({**zeros, name: changed}))
    rejected(ValueError, "actions: expected", lambda: read({**zeros, "red": zeros["red"][:1]}))
    rejected(TypeError, "actions: expected a dict with keys red, blue", lambda: read({"red": zeros["red"]}))


def test_actions_of_rollouts_in_one_pass_are_those_of_the_reader(walker):
    rng = np.random.default_rng(0)
    for id, options in (("CartPole-v1", {}), ("Pendulum-v1", {}), ("walker/Crowd-v0", {"leave": False}),
                        ("mpe2/simple_spread-v3", {})):
        spec = cypool.make_spec(id, **options)
        read = reader_of_rollouts(spec, 3)
        assert isinstance(read, ArraysReader)
        for steps in (1, 4):
            parts = [rng.integers(2, size=(steps, 3, *part.shape)).astype(part.dtype) for _, part in spec.actions]
            for change in (lambda part: part, lambda part: part.astype(">i4"), np.asfortranarray, np.ndarray.tolist,
                           lambda part: part[:, ::-1]):
                given = [change(part) for part in parts]
                given = given[0] if len(given) == 1 else dict(zip(("red", "blue"), given, strict=True))
                want, found = read.reader(given), read(given)
                assert (found.dtype, found.shape) == (want.dtype, want.shape) and found.tobytes() == want.tobytes()
    read = reader_of_rollouts(cypool.make_spec("CartPole-v1"), 3)
    one = np.zeros(1, np.int64)
    for wrong in (np.zeros((2, 2), int), np.zeros((0, 3), int), np.full((2, 3), 2), np.full((2, 3), -1),
                  np.zeros(3, int), np.broadcast_to(one, (2**30, 3))):
        rejected(ValueError, "actions: expected", lambda wrong=wrong: read(wrong))
    rejected(TypeError, "actions: expected", lambda: read(np.zeros((2, 3))))


def test_options_that_make_has_for_itself_are_refused(monkeypatch):
    text = """
from cypool.env cimport Env, Slot, import_cypool
from cypool.spec import Discrete, EnvSpec

import_cypool()

cdef class Named(Env):
    @staticmethod
    def describe(seed=3):
        return EnvSpec(observation=Discrete(2), action=Discrete(2))

cdef class Required(Env):
    @staticmethod
    def describe(level):
        return EnvSpec(observation=Discrete(2), action=Discrete(2))
"""
    named = "options with names that differ from the arguments of cypool.make, got seed"
    required = "describe: expected a default for each option, got none for level"
    with pytest.raises(TypeError, match=named):
        cypool.compile(text, "Named")
    with pytest.raises(TypeError, match=required):
        cypool.compile(text, "Required")
    assert not {"local/Named-v0", "local/Required-v0"} & set(cypool.list_all_envs())
    assert cypool.make_spec(cypool.compile(text, "Required", level=3)).options == {"level": 3}

    module = load(text)
    with pytest.raises(TypeError, match=named):
        cypool.register("test/Named-v0", f"{module.__name__}:Named")
    with pytest.raises(TypeError, match=required):
        cypool.register("test/Required-v0", f"{module.__name__}:Required")
    # without the class at hand, the first use finds it
    monkeypatch.delitem(sys.modules, module.__name__)
    cypool.register("test/Named-v0", f"{module.__name__}:Named")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for use in (cypool.make, cypool.make_spec, check_env):
        with pytest.raises(TypeError, match=named):
            use("test/Named-v0")


@pytest.mark.families("metaworld")
def test_ids_in_namespaces_of_cypool_ask_for_no_plug_in():
    with pytest.raises(ValueError, match="^id: no environment 'Meta-World/reach-v2'") as caught:
        cypool.make("Meta-World/reach-v2")
    assert "install the package" not in str(caught.value)


@pytest.mark.parametrize("id", ["CartPole-v1", "mpe2/simple_spread-v3"])
def test_dicts_where_arrays_are_expected_are_named(id):
    with started(cypool.make(id)) as env:
        with pytest.raises(TypeError, match="^actions: expected int.* of shape .* got {'a': 1}: "):
            env.step({"a": 1})


@pytest.mark.parametrize("normalize_obs", [False, True])
def test_number_of_actions_of_an_asynchronous_pool(normalize_obs):
    env = cypool.make("CartPole-v1", num_envs=4, batch_size=2, normalize_obs=normalize_obs)
    env.async_reset()
    env.recv()
    for call in env.send, env.step:
        with pytest.raises(ValueError, match="^actions: expected 2 rows, got 4: .*the last received batch"):
            call([0] * 4)
    env.step([0] * 2)


def test_ids_in_small_letters_are_found():
    with pytest.raises(ValueError, match="did you mean CartPole-v1 or CartPole-v0"):
        cypool.make("cartpole-v1")


def test_windows_are_shown_by_a_command():
    with pytest.raises(ValueError, match="got 'human'; use cypool play for a window or cypool.record for a video$"):
        cypool.make("CartPole-v1", render_mode="human")
    rejected(ValueError, "render_mode: expected None or 'rgb_array', got 'x'$",
             lambda: cypool.make("CartPole-v1", render_mode="x"))


@pytest.mark.parametrize("id, mode, modes", [
    ("CartPole-v1", "ansi", "None or 'rgb_array'"), ("Blackjack-v1", "ansi", "None or 'rgb_array'"),
    ("Taxi-v4", "full", "None, 'rgb_array' or 'ansi'"), ("gymnasium:Taxi-v4", "full", "None, 'rgb_array' or 'ansi'")])
def test_a_render_mode_that_is_not_there_names_those_that_are(id, mode, modes):
    rejected(ValueError, f"render_mode: expected {modes}, got '{mode}'$", lambda: cypool.make(id, render_mode=mode))


def test_state_of_more_environments():
    many, few = (cypool.make("CartPole-v1", num_envs=n) for n in (4, 2))
    many.reset()
    with pytest.raises(ValueError, match=r"^state: expected rows from environments in \[0, 2\), or an env_id for each "
                                         r"row, got rows from \[0, 1, 2, 3\]$"):
        few.load(many.save())
    few.load(many.save([3, 1]), [0, 1])


@pytest.mark.parametrize("entry_point", ["no_such_module:Env", "json.no_such_module:Env"])
def test_registered_module_is_missing(entry_point):
    module = entry_point.partition(":")[0]
    cypool.register(f"typo/{module}-v0", entry_point)
    with pytest.raises(ModuleNotFoundError, match=f"^{entry_point}, registered as .*: no module {module}$"):
        cypool.make(f"typo/{module}-v0")
