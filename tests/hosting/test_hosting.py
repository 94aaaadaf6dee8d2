"""Environments of Python in workers: they equal Gymnasium's vector environments, and nothing hangs."""
import collections
import contextlib
import copy
import gc
import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types
from functools import partial
from pathlib import Path

import cloudpickle
import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from pool_arguments import MODES
from waiting import attempts, wait_until
from weights import slow

import cypool
from cypool.hosting.spaces import attribute_of

# workers cannot import this module
cloudpickle.register_pickle_by_value(sys.modules[__name__])

HERE, PROCESS, PROCESSES = ({"num_workers": count} for count in (0, 1, 2))
THREADS = {"workers": "threads", "num_workers": 2}
# each pool of processes takes a new interpreter, which imports Gymnasium: most cases of one kind are slow tests
HOSTS = [HERE, *slow(PROCESS), {"num_workers": 3}, THREADS]
GO, RAISE, EXIT, HANG, RAISE_NEXT_RESET, TELL_NONSENSE, GRANDCHILD = range(7)


class Trouble(gymnasium.Env):
    """Counts its steps; the action chooses a failure."""

    observation_space = spaces.Box(0, 1000, (2,), np.int64)
    action_space = spaces.Discrete(7)
    fail_reset = False

    def __init__(self, number=0):
        self.number = number
        self.count = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if self.fail_reset:
            self.fail_reset = False
            raise OSError("no reset today")
        self.count = 0
        return np.array([0, self.number]), {}

    def step(self, action):
        self.count += 1
        if action == RAISE:
            self.raise_deep_down()
        elif action == EXIT:
            os._exit(3)
        elif action == HANG:
            threading.Event().wait()
        elif action == GRANDCHILD:
            subprocess.Popen(["sleep", "1000"])
        self.fail_reset = action == RAISE_NEXT_RESET
        observation = np.zeros(3) if action == TELL_NONSENSE else np.array([self.count, self.number])
        return observation, 1.0, self.fail_reset, False, {}

    def raise_deep_down(self):
        raise KeyError("raised in step")


class Teller(gymnasium.Env):
    """Reports all sorts of infos, now and then; its actions and observations have every possible shape."""

    observation_space = spaces.Dict({
        "box": spaces.Box(-1, 1, (2, 3), np.float32),
        "which": spaces.Discrete(5, start=-2),
        "many": spaces.MultiDiscrete([3, 4]),
        "bits": spaces.MultiBinary(4),
        "bytes": spaces.Box(0, 255, (7,), np.uint8),
    })
    action_space = spaces.MultiDiscrete([3, 5])

    def __init__(self, length=7):
        self.length = length
        # others have the same object, and may sample at the same time
        self.observation_space = copy.deepcopy(self.observation_space)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.observe(), {"began": True, "options": str(options)}

    def observe(self):
        self.observation_space.seed(int(self.np_random.integers(1000)))
        return self.observation_space.sample()

    def step(self, action):
        assert action.dtype == np.int64 and action.shape == (2,)
        self.steps += 1
        info = {"env_id": 77}
        if self.np_random.random() < 0.5:
            info |= {"number": self.steps, "text": "x" * self.steps, "array": np.arange(3.0) * action[1],
                     "deep": {"er": {"bit": bool(action[0])}, "small": np.float32(0.5)}, "none": None}
        ended = self.steps == self.length
        return self.observe(), np.float32(action.sum()), ended, self.steps > 3 and not ended, info


class Several(gymnasium.Env):
    """Observes a tuple, and takes the given action space."""

    observation_space = spaces.Tuple([spaces.Discrete(9), spaces.Box(-np.inf, np.inf, (3,), np.float64)])

    def __init__(self, action_space):
        self.action_space = action_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return (0, np.zeros(3)), {}

    def step(self, action):
        number = int(np.sum(np.asarray(action, np.float64)) * 7) % 9
        return (number, self.np_random.random(3)), float(number), False, number == 0, {}


def same(ours, theirs):
    """Whether two results of any structure are equal, with their types."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, tuple | list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, np.ndarray) and theirs.dtype != object:
        return ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes()
    if isinstance(theirs, np.ndarray):
        return ours.dtype == object and same(list(ours), list(theirs))
    return type(ours) is type(theirs) and ours == theirs


def without_ours(info):
    """Infos without those that the engine adds."""
    info = {key: value for key, value in info.items() if key not in ("env_id", "elapsed_step")}
    if "final_info" in info:
        info["final_info"] = {key: value for key, value in info["final_info"].items()
                              if key not in ("elapsed_step", "_elapsed_step", "env_id", "_env_id")}
    return info


def without_env_id(info):
    """Their infos, without those that Teller reports in vain."""
    for part in (info, info.get("final_info", {})):
        for key in ("env_id", "_env_id"):
            part.pop(key, None)
    return info


def compare(env, reference, steps, seed=5):
    """Steps both with the same actions; they have to agree in everything."""
    mode = env.metadata["autoreset_mode"]
    obs, info = env.reset(seed=seed)
    their_obs, their_info = reference.reset(seed=seed)
    assert same(obs, their_obs) and same(without_ours(info), without_env_id(their_info))
    env.action_space.seed(seed)
    ends = 0
    for _ in range(steps):
        actions = env.action_space.sample()
        ours, theirs = env.step(actions), reference.step(actions)
        assert same(ours[:4], theirs[:4])
        assert same(without_ours(ours[4]), without_env_id(theirs[4])), (ours[4], theirs[4])
        ended = ours[2] | ours[3]
        ends += ended.sum()
        if mode == AutoresetMode.DISABLED and ended.any():
            obs, info = env.reset(options={"reset_mask": ended})
            their_obs, their_info = reference.reset(options={"reset_mask": ended})
            assert same(obs, their_obs) and same(without_ours(info), without_env_id(their_info))
    assert ends > 3
    env.close()
    reference.close()


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def fork_servers():
    """The processes that start workers of ours."""
    return [pid for pid in children(os.getpid()) if b"forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def forkserver_of():
    (forkserver,) = fork_servers()
    return forkserver


def gone(pid):
    try:
        return b"(zombie)" in Path(f"/proc/{pid}/status").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return True


def of_hosts(cases, in_processes, hosts=(HERE, THREADS)):
    """Cases with some hosts; some of them also with processes, and the rest as slow tests."""
    return [*((*case, host) for case in cases for host in hosts), *((*cases[k], PROCESSES) for k in in_processes),
            *slow(*((*case, PROCESSES) for k, case in enumerate(cases) if k not in in_processes),
                  *((*case, HERE) for case in cases if HERE not in hosts))]


@pytest.fixture(autouse=True)
def nothing_stays_behind():
    yield
    if fork_servers():
        gc.collect()
    # nor a zombie
    assert not fork_servers()


@pytest.mark.parametrize("mode, host", [
    (MODES[0], HERE), (MODES[0], {"num_workers": 3}), *((mode, THREADS) for mode in MODES),
    *slow((MODES[0], PROCESS), *((mode, host) for mode in MODES[1:] for host in (HERE, PROCESS, {"num_workers": 3})))])
def test_equals_gymnasium(mode, host):
    env = cypool.make("gymnasium:CartPole-v1", num_envs=5, **host, autoreset_mode=mode)
    compare(env, SyncVectorEnv([partial(gymnasium.make, "CartPole-v1")] * 5, autoreset_mode=mode), 120)
    env = cypool.from_factories([Teller, partial(Teller, 3)] * 2, **host, autoreset_mode=mode)
    compare(env, SyncVectorEnv([Teller, partial(Teller, 3)] * 2, autoreset_mode=mode), 40)


@pytest.mark.parametrize("mode", [MODES[0], *slow(*MODES[1:])])
def test_equals_asynchronous_gymnasium(mode):
    env = cypool.make("gymnasium:CartPole-v1", num_envs=2, autoreset_mode=mode)
    # a fork would inherit our threads, of which newer Pythons warn
    reference = AsyncVectorEnv([partial(gymnasium.make, "CartPole-v1")] * 2, autoreset_mode=mode, context="spawn")
    compare(env, reference, 80)


@pytest.mark.parametrize("action_space", [
    spaces.MultiDiscrete([[2, 3], [4, 5]]), spaces.Box(-2, 2, (2,), np.float32),
    *slow(spaces.Discrete(3, start=-1), spaces.MultiBinary(3), spaces.Discrete(4),
          spaces.Box(-np.inf, 3, (1, 2), np.float64), spaces.Box(-3, 3, (2,), np.int16)),
], ids=str)
def test_action_spaces(action_space):
    for host in (HERE, PROCESSES, THREADS):
        env = cypool.from_factories([partial(Several, action_space)] * 2, **host)
        assert env.single_action_space == action_space and env.single_observation_space == Several.observation_space
        compare(env, SyncVectorEnv([partial(Several, action_space)] * 2), 150)


class Sampler(gymnasium.Env):
    """Shows samples of any space, and reports the actions that it was given."""

    def __init__(self, observation_space, action_space):
        # others have the same object
        self.observation_space, self.action_space = copy.deepcopy((observation_space, action_space))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(int(self.np_random.integers(1000)))
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.5, False, self.np_random.random() < 0.2, {"given": repr(action)}


@pytest.mark.parametrize("space", [
    spaces.Box(0, 1, (3,), np.bool_), spaces.Box(0, 1, (), np.bool_), spaces.Box(-1, 1, (2,), np.float16),
    spaces.Box(0, 2**64 - 1, (2,), np.uint64), spaces.Box(-2**63, 2**63 - 1, (2,), np.int64),
    spaces.MultiBinary([2, 3]), spaces.MultiDiscrete([[2, 3], [4, 5]], dtype=np.int32),
    spaces.MultiDiscrete([3, 4], start=[-1, 5]), spaces.Discrete(3, start=2**62), spaces.Discrete(5, dtype=np.uint8),
    spaces.Box(-1, 1, (1,) * 7 + (2,), np.float32), spaces.Box(-1, 1, (), np.float32),
], ids=lambda space: str(space).replace("\n", ""))
def test_spaces_of_all_kinds(space):
    factories = [partial(Sampler, spaces.Dict(a=space, b=spaces.Tuple([space]).spaces[0]), space)] * 2
    compare(cypool.from_factories(factories, num_workers=0), SyncVectorEnv(factories), 60)


@pytest.mark.parametrize("space", [spaces.Box(-1, 1, (2, 0)), spaces.Box(-1, 1, (1,) * 9), spaces.Tuple([]),
                                   spaces.Tuple([spaces.Tuple([spaces.Discrete(2)])])], ids=str)
def test_spaces_that_are_refused(space):
    for kinds, name in [((space, spaces.Discrete(2)), "observation"), ((spaces.Discrete(2), space), "action")]:
        with pytest.raises(ValueError, match=rf"{name}_space.*: expected|{name}_space: shape: expected"):
            cypool.from_factories([partial(Sampler, *kinds)], num_workers=0)


class Mission(spaces.Space):
    """Any str."""

    def __init__(self):
        super().__init__(dtype=str)

    def __eq__(self, other):
        return isinstance(other, Mission)

    __hash__ = None

    def contains(self, x):
        return isinstance(x, str)


class Speaker(Trouble):
    """Says `said`, once and again."""

    observation_space = spaces.Dict(count=spaces.Discrete(100), long=Mission(), text=spaces.Text(6, charset="abcé"))

    def __init__(self, number=0, **said):
        super().__init__(number)
        self.said, self.count = said, 0

    def observation(self):
        return {"count": self.count, "long": "say " * self.count, "text": "é" * (self.count % 7)} | self.said

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return {"count": 0, "long": "", "text": "abc"}, {}

    def step(self, action):
        self.count += 1
        return self.observation(), 0.0, self.count == 20, False, {}


class Writer(Speaker):
    """Its spaces are known in other processes."""

    observation_space = spaces.Dict(Speaker.observation_space.spaces | {"long": spaces.Text(200, charset="say ")})


@pytest.mark.parametrize("kind, host, length", [(Speaker, HERE, 512), (Writer, PROCESSES, 200), (Writer, THREADS, 200)])
def test_texts(kind, host, length):
    with cypool.from_factories([kind] * 2, **host) as env:
        reference = SyncVectorEnv([kind] * 2)
        assert env.single_observation_space["text"] == spaces.Box(0, 255, (12,), np.uint8)
        assert env.single_observation_space["long"].shape == (length,)
        obs, expected = env.reset()[0], reference.reset()[0]
        for _ in range(45):
            assert (obs["count"] == expected["count"]).all() and obs in env.observation_space
            for key in ("long", "text"):
                assert cypool.text(obs[key]) == expected[key]
            actions = env.action_space.sample()
            obs, expected = env.step(actions)[0], reference.step(actions)[0]


@pytest.mark.parametrize("said, error, message", [
    ({"text": "é" * 7}, ValueError, r"observation 'text': text: expected at most 12 bytes of UTF-8"),
    ({"long": "x" * 513}, ValueError, r"observation 'long': text: expected at most 512 bytes"),
    ({"text": "a\0"}, ValueError, "observation 'text': text: expected .* without a zero at the end"),
    ({"text": "\ud800"}, ValueError, "observation 'text': .*surrogates"),
    ({"text": b"abc"}, TypeError, "observation 'text': expected a str, as the observation space has it, got b'abc'"),
    ({"text": None}, TypeError, "observation 'text': expected a str"),
])
def test_bad_texts(said, error, message):
    with cypool.from_factories([partial(Speaker, **said)], num_workers=0) as env:
        env.reset()
        with pytest.raises(cypool.EnvError, match=message) as caught:
            env.step(env.action_space.sample())
        assert isinstance(caught.value.__cause__, error)


def test_texts_are_no_actions():
    with pytest.raises(ValueError, match="action_space: expected a Box"):
        cypool.from_factories([partial(Sampler, spaces.Discrete(2), spaces.Text(3))], num_workers=0)


def test_actions_of_bool():
    space = spaces.Box(0, 1, (2,), np.bool_)
    with cypool.from_factories([partial(Sampler, spaces.Discrete(2), space)] * 2, num_workers=0) as env:
        env.reset()
        for actions in ([[True, False], [False, False]], [[1, 0], [0, 0]], np.array([[1.0, 0], [0, 0]])):
            assert env.step(actions)[4]["given"][0] == "array([ True, False])"
            env.reset()
        with pytest.raises(ValueError, match=r"actions: expected values in \[False, True\], got 2 in row 1"):
            env.step([[0, 0], [0, 2]])
        with pytest.raises(TypeError, match="actions: expected bool, got array"):
            env.step([["a", "b"]] * 2)


class Seeder(Trouble):
    """Shows the seed of each reset, or -1; without one it takes its own."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=7 if seed is None else seed)
        return np.array([-1 if seed is None else seed, self.np_random.integers(1000)]), {}


@pytest.mark.parametrize("host", [*slow(HERE, PROCESSES), THREADS])
def test_seeds_of_the_first_reset(host):
    factories = [Seeder] * 3
    reference = SyncVectorEnv(factories)
    for seed, shown in [(None, [-1] * 3), (5, [5, 6, 7]), ([3, None, 4], [3, -1, 4])]:
        with cypool.from_factories(factories, **host, seed=seed) as env:
            first = env.reset()[0]
            assert first[:, 0].tolist() == shown and same(first, reference.reset(seed=seed)[0])
            assert env.reset()[0][:, 0].tolist() == [-1] * 3
            with pickle.loads(pickle.dumps(env)) as copied:
                assert same(copied.reset()[0], first)
    with cypool.from_factories(factories, **host, batch_size=2) as env:
        assert env.reset()[0][:, 0].tolist() == [-1] * 2


class Oddity(Trouble):
    """Env 1 reports `value`, and the others valid values."""

    observation_space = spaces.Dict(small=spaces.Box(0, 255, (2,), np.uint8), real=spaces.Box(-9, 9, (), np.float32))

    def __init__(self, number, observation=None, info=None):
        super().__init__(number)
        self.observation, self.info = observation, info

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return {"small": np.zeros(2, np.uint8), "real": 0.5}, {}

    def step(self, action):
        observation, info = {"small": [self.number, 1], "real": self.number}, {"x": self.number}
        if self.number == 1:
            observation.update(self.observation or {})
            info = info if self.info is None else self.info()
        return observation, 1.0, False, action == TELL_NONSENSE, info


class OddStep(Oddity):
    """Its steps return these instead of a reward and flags."""

    def __init__(self, number, *given):
        super().__init__(number)
        self.given = given

    def step(self, action):
        observation, *_, info = super().step(action)
        return observation, *self.given, info


@pytest.mark.parametrize("given, message", [
    (("x", False, False), "TypeError: reward: expected a number, got 'x'"),
    ((None, False, False), "TypeError: reward: expected a number, got None"),
    ((0, np.zeros(2), False), "TypeError: terminated: expected True or False, got array"),
    ((0, False, np.zeros(2)), "TypeError: truncated: expected True or False, got array")], ids=str)
def test_what_a_step_returns_is_named(given, message):
    with cypool.from_factories([partial(OddStep, 0, *given)], num_workers=0) as env:
        env.reset()
        with pytest.raises(cypool.EnvError, match=f"env 0: .*{message}"):
            env.step([0])


def itself():
    info = {}
    info["itself"] = info
    return info


@pytest.mark.parametrize("info, message", [
    (lambda: {"x": threading.Lock()}, "TypeError: info: expected what can be pickled: cannot pickle '_thread"),
    (lambda: {"x": bytes(1 << 24)}, "ValueError: info: expected at most .* bytes when pickled")])
def test_infos_that_processes_cannot_send(info, message):
    with cypool.from_factories([partial(Oddity, i, None, info) for i in range(3)], num_workers=2) as env:
        env.reset()
        with pytest.raises(cypool.EnvError, match=f"env 1: .*({message})") as caught:
            env.step([GO] * 3)
        assert caught.value.batch[4]["x"].tolist() == [0, 0, 2]


@pytest.mark.parametrize("observation, info, message, host", of_hosts([
    (None, list, r"TypeError: info: expected a dict, got \[\]"),
    (None, lambda: 5, "TypeError: info: expected a dict, got 5"),
    (None, itself, "ValueError: info: expected dicts in dicts at most 100 deep"),
    ({"small": np.array([300, 1])}, None, "ValueError: observation 'small': expected values that uint8 has"),
    ({"small": [-1, 1]}, None, "ValueError: observation 'small': expected values that uint8 has"),
    ({"small": [0.5, 1]}, None, "ValueError: observation 'small': expected values that uint8 has"),
    ({"real": None}, None, "ValueError: observation 'real': expected values that float32 has"),
    ({"small": [[1, 1]]}, None, r"ValueError: observation 'small': expected shape \(2,\)"),
    ({"real": 1j}, None, "ComplexWarning|ValueError: observation 'real': expected values that float32 has"),
    ({"real": "1"}, None, "ValueError: observation 'real': expected values that float32 has"),
], [0, 6], [THREADS]))
def test_an_oddity_costs_its_own_row(observation, info, message, host):
    factories = [partial(Oddity, i, observation, info) for i in range(3)]
    with cypool.from_factories(factories, **host) as env:
        env.reset()
        with pytest.raises(cypool.EnvError, match=f"env 1: .*({message})") as caught:
            env.step([GO] * 3)
        assert caught.value.causes.keys() == {1}
        obs, _, _, truncated, infos = caught.value.batch
        assert obs["small"].tolist() == [[0, 1], [0, 0], [2, 1]] and truncated.tolist() == [False, True, False]
        assert infos["x"].tolist() == [0, 0, 2] and infos["_x"].tolist() == [True, False, True]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("info, expected", [
    (lambda: {"x": np.ones(2)}, [0, np.ones(2), 2]),
    (lambda: {"x": "word"}, [0, "word", 2]),
    (lambda: {"x": None}, [0, None, 2]),
    (lambda: {"x": 2**70}, [0, 2**70, 2]),
    (lambda: {"x": {"y": 1}}, [0, {"y": 1}, 2]),
    (lambda: {"x": 1, "final": 3, "extra_infos": 4, "final_obs": 5, "players": 6, 7: 8}, [0, 1, 2]),
    (lambda: types.MappingProxyType({"x": 1}), [0, 1, 2]),
    (lambda: collections.OrderedDict(x=1), [0, 1, 2]),
])
def test_infos_that_do_not_fit_together(info, expected, mode):
    factories = [partial(Oddity, i, None, info) for i in range(3)]
    with cypool.from_factories(factories, num_workers=0, autoreset_mode=mode) as env:
        env.reset()
        for action in (GO, TELL_NONSENSE):
            infos = env.step([action] * 3)[4]
            if action == TELL_NONSENSE and mode == "SameStep":
                infos = infos["final_info"]
            assert same([x.item() if isinstance(x, np.generic) else x for x in infos["x"]], expected)
            assert infos["_x"].all()


@pytest.mark.parametrize("host", HOSTS)
def test_asynchronous_trajectories_equal_synchronous_ones(host):
    length, num_envs = 60, 5
    actions = np.random.default_rng(0).integers(0, 2, (num_envs, length))
    reference = cypool.make("CartPole-v1", num_envs=num_envs, seed=9)
    reference.reset()
    expected = [reference.step(actions[:, t]) for t in range(length)]
    env = cypool.make("gymnasium:CartPole-v1", num_envs=num_envs, batch_size=2, **host, seed=9)
    env.async_reset()
    done = np.full(num_envs, -1)
    while done.min() < length:
        obs, reward, terminated, truncated, info = env.recv()
        ids = info["env_id"]
        for row, i in enumerate(ids):
            if 0 <= done[i] < length:
                want = expected[done[i]]
                assert obs[row].tobytes() == want[0][i].tobytes() and reward[row] == want[1][i]
                assert terminated[row] == want[2][i] and info["elapsed_step"][row] == want[4]["elapsed_step"][i]
        done[ids] += 1
        env.send(actions[ids, np.minimum(done[ids], length - 1)], ids)
    env.close()


def test_an_env_that_hangs_holds_nobody_up():
    env = cypool.from_factories([partial(Trouble, i) for i in range(4)], batch_size=3)
    env.async_reset()
    env.recv()
    env.recv()
    env.send([GO, HANG, GO, GO], [0, 1, 2, 3])
    for _ in range(3):
        *_, info = env.recv()
        assert sorted(info["env_id"]) == [0, 2, 3]
        env.send([GO, GRANDCHILD, GO], [0, 2, 3])
    env.recv()
    with pytest.raises(TimeoutError, match="recv: 0 of 1"):
        env.recv(timeout=0.01)
    # closing the pool ends workers that still step, and processes that environments have started
    grandchild, *_ = children(children(forkserver_of())[2])
    env.close()
    env.close()
    wait_until(lambda: gone(grandchild))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("batch_size", [4, 2])
def test_an_env_that_raises(host, batch_size):
    env = cypool.from_factories([partial(Trouble, i) for i in range(4)], **host, batch_size=batch_size)
    env.async_reset()
    for _ in range(4 // batch_size):
        env.recv()
    env.send([GO, RAISE, TELL_NONSENSE, GO], [0, 1, 2, 3])
    causes, rows = {}, {}
    for _ in range(4 // batch_size):
        try:
            batch = env.recv()
        except cypool.EnvError as error:
            causes |= error.causes
            batch = error.batch
        rows |= {i: [part[row] for part in batch[:4]] for row, i in enumerate(batch[4]["env_id"])}
    assert causes.keys() == {1, 2}
    assert isinstance(causes[1], KeyError) and causes[1].args == ("raised in step",)
    assert isinstance(causes[2], ValueError) and "expected shape (2,)" in str(causes[2])
    if host in (HERE, THREADS):
        assert causes[1].__traceback__.tb_next is not None and causes[1].__cause__ is None
    else:
        assert "in raise_deep_down" in str(causes[1].__cause__)
    for i in (0, 3):
        assert rows[i][0].tolist() == [1, i] and rows[i][1:] == [1, False, False]
    for i in (1, 2):
        assert rows[i][0].tolist() == [0, 0] and rows[i][1:] == [0, False, True]
    # NEXT_STEP: two start new episodes
    env.send([GO] * 4, [0, 1, 2, 3])
    counts = {}
    for _ in range(4 // batch_size):
        obs, *_, info = env.recv()
        counts |= dict(zip(info["env_id"].tolist(), obs[:, 0].tolist(), strict=True))
    assert counts == {0: 2, 1: 0, 2: 0, 3: 2}
    env.close()


@pytest.mark.parametrize("mode, host", [
    ("NextStep", {}), ("NextStep", THREADS), ("SameStep", THREADS), *slow(("SameStep", {}))], ids=str)
def test_a_reset_that_raises(mode, host):
    env = cypool.from_factories([partial(Trouble, i) for i in range(3)], **host, autoreset_mode=mode)
    env.reset()
    if mode == "NextStep":
        env.step([GO, RAISE_NEXT_RESET, GO])
    with pytest.raises(cypool.EnvError, match="env 1: OSError: no reset today") as caught:
        env.step([GO, RAISE_NEXT_RESET, GO])
    assert caught.value.batch[3].tolist() == [False, True, False]
    assert env.step([GO] * 3)[0][:, 0].tolist()[1] == 0
    env.close()


@pytest.mark.parametrize("batch_size, start_method", [
    (4, "forkserver"), (2, "spawn"), *slow((2, "forkserver"), (4, "spawn"))])
def test_a_process_that_exits_is_replaced(batch_size, start_method):
    env = cypool.from_factories([partial(Trouble, i) for i in range(4)], num_workers=2, batch_size=batch_size,
                                start_method=start_method)
    env.async_reset()
    for _ in range(4 // batch_size):
        env.recv()
    for _ in range(2):
        env.send([EXIT, GO, GO, GO], [0, 1, 2, 3])
        causes, rows = {}, {}
        for _ in range(4 // batch_size):
            try:
                batch = env.recv()
            except cypool.EnvError as error:
                causes |= error.causes
                batch = error.batch
            rows |= dict(zip(batch[4]["env_id"].tolist(), batch[0][:, 0].tolist(), strict=True))
        # env 1 is in the same process: its step was done before, or was lost as well
        assert 0 in causes and not {2, 3} & causes.keys()
        assert isinstance(causes[0], cypool.WorkerError) and "exit status 3" in str(causes[0])
        assert rows[2] >= 1 and rows[3] >= 1
        env.async_reset()
        for _ in range(4 // batch_size):
            assert env.recv()[0][:, 0].tolist() == [0] * batch_size
    env.close()


def test_an_episode_that_was_lost_with_its_process():
    env = cypool.from_factories([partial(Trouble, i) for i in range(2)], num_workers=2)
    env.reset()
    workers = children(forkserver_of())
    os.kill(workers[0], signal.SIGKILL)
    wait_until(lambda: children(forkserver_of()) != workers)
    # no step was in flight: the next one fails
    with pytest.raises(cypool.EnvError) as caught:
        env.step([GO, GO])
    assert "SIGKILL" in str(caught.value) or "lost" in str(caught.value)
    assert len(caught.value.causes) == 1
    assert env.step([GO, GO])[3].tolist() == [False, False]
    # a reset needs no lost state
    os.kill(children(forkserver_of())[0], signal.SIGKILL)
    for _ in range(3):
        assert env.reset()[0][:, 0].tolist() == [0, 0]
    assert env.step([GO, GO])[0][:, 0].tolist() == [1, 1]
    env.close()


def test_the_process_that_starts_workers_is_replaced():
    env = cypool.from_factories([partial(Trouble, i) for i in range(3)], num_workers=2)
    env.reset()
    forkserver = forkserver_of()
    workers = children(forkserver)
    os.kill(forkserver, signal.SIGKILL)
    wait_until(lambda: all(map(gone, workers)))
    with pytest.raises(cypool.EnvError, match="SIGKILL") as caught:
        env.step([GO] * 3)
    assert caught.value.causes.keys() == {0, 1, 2}
    assert env.reset()[0][:, 0].tolist() == [0] * 3
    assert env.step([GO] * 3)[0][:, 0].tolist() == [1] * 3
    assert forkserver_of() != forkserver
    env.close()


def make_at_times(folder):
    """Fails at the second and third call."""
    calls = len(list(folder.iterdir()))
    (folder / str(calls)).touch()
    if calls == 1:
        raise ArithmeticError("no environment today")
    if calls == 2:
        os._exit(4)
    return Trouble()


def test_a_replacement_that_fails(tmp_path):
    env = cypool.from_factories([partial(make_at_times, tmp_path)])
    env.reset()
    with pytest.raises(cypool.EnvError, match="exit status 3"):
        env.step([EXIT])
    said = []
    # it may have failed before anybody asked
    for _ in range(3):
        try:
            assert env.reset()[0].tolist() == [[0, 0]]
            break
        except cypool.EnvError as error:
            said.append(str(error))
    else:
        pytest.fail(str(said))
    assert all("ArithmeticError: no environment today" in each or "exit status 4" in each for each in said)
    assert env.step([GO])[0].tolist() == [[1, 0]]
    env.close()


@pytest.mark.parametrize("batch_size", [2, *slow(1)])
def test_a_process_that_hangs_is_replaced(batch_size):
    env = cypool.from_factories([partial(Trouble, i) for i in range(2)], batch_size=batch_size, worker_timeout=2)
    env.async_reset()
    for _ in range(2 // batch_size):
        env.recv()
    env.send([GO, HANG], [0, 1])
    with pytest.raises(cypool.EnvError, match=r"env 1: WorkerError: not done within worker_timeout=2 s"):
        for _ in range(2 // batch_size):
            env.recv()
    env.async_reset()
    for _ in range(2 // batch_size):
        assert not env.recv()[0][:, 0].any()
    env.close()


def stop(pid):
    """Stops a process, and waits until it is."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: b"T (stopped)" in Path(f"/proc/{pid}/status").read_bytes())


@pytest.mark.parametrize("num_workers", [1, *slow(2)])
def test_a_process_that_is_stopped_is_replaced(num_workers):
    env = cypool.from_factories([partial(Trouble, i) for i in range(2)], num_workers=num_workers, worker_timeout=2)
    env.reset()
    stop(children(forkserver_of())[0])
    env.send([GO, GO])
    with pytest.raises(cypool.EnvError, match="env 0: WorkerError: not done within worker_timeout=2 s") as caught:
        env.recv(timeout=60)
    assert len(caught.value.causes) == 3 - num_workers
    assert env.reset()[0].tolist() == [[0, 0], [0, 1]]
    # a reset is done by the next process; the newest is the last
    stop(children(forkserver_of())[-1])
    env.async_reset()
    assert env.recv(timeout=60)[0].tolist() == [[0, 0], [0, 1]]
    # other calls fail
    stop(children(forkserver_of())[-1])
    with pytest.raises(cypool.WorkerError, match="not done within worker_timeout=2 s"):
        env.save([0])
    env.close()


def test_a_process_that_hangs_while_others_answer():
    env = cypool.from_factories([partial(Trouble, i) for i in range(2)], batch_size=1, worker_timeout=2)
    env.async_reset()
    env.recv()
    env.recv()
    env.send([GO, HANG], [0, 1])
    end = time.monotonic() + 60
    with pytest.raises(cypool.EnvError, match="env 1: WorkerError: not done within worker_timeout=2 s"):
        while time.monotonic() < end:
            assert env.recv(timeout=60)[4]["env_id"].tolist() == [0]
            env.send([GO], [0])
    env.close()


class Noting(Trouble):
    """Leaves a file where it is stepped before its first reset."""

    was_reset = False

    def __init__(self, number, folder):
        super().__init__(number)
        self.folder = folder

    def reset(self, *, seed=None, options=None):
        self.was_reset = True
        return super().reset(seed=seed, options=options)

    def step(self, action):
        if not self.was_reset:
            (self.folder / str(self.number)).touch()
        return super().step(action)


def test_a_step_that_was_given_up_is_not_done_by_the_next_process(tmp_path):
    env = cypool.from_factories([partial(Noting, i, tmp_path) for i in range(3)], num_workers=1)
    env.reset()
    with pytest.raises(cypool.EnvError, match="exit status 3") as caught:
        env.step([EXIT, GO, GO])
    assert caught.value.causes.keys() == {0, 1, 2}
    # the new process comes to the mailbox of env 1 before it resets env 2
    assert env.reset([2])[0].tolist() == [[0, 2]]
    assert not list(tmp_path.iterdir())
    assert env.step([GO] * 3)[0].tolist() == [[0, 0], [0, 1], [1, 2]]
    env.close()


class Interrupted(KeyboardInterrupt):
    """A Ctrl-C, and another one when it is pickled."""

    def __reduce__(self):
        signal.raise_signal(signal.SIGINT)
        return KeyboardInterrupt, ()


class Impatient(Trouble):
    def step(self, action):
        if action == RAISE:
            raise Interrupted
        return super().step(GO)


def test_one_ctrl_c_after_another():
    env = cypool.from_factories([partial(Impatient, i) for i in range(3)], num_workers=0)
    env.reset()
    env.send([GO, RAISE, GO])
    with pytest.raises(KeyboardInterrupt):
        env.recv(timeout=60)
    with pytest.raises(cypool.EnvError, match="env 1: WorkerError: it raised Interrupted") as caught:
        env.recv(timeout=60)
    assert caught.value.batch[0].tolist() == [[1, 0], [0, 0], [1, 2]]
    assert isinstance(caught.value.causes[1].__cause__, Interrupted)
    assert env.step([GO] * 3)[0].tolist() == [[2, 0], [0, 1], [2, 2]]
    env.close()


# a worker imports it, and pickles its objects
PESTERED = """
import signal

left = 2

def interrupt():
    '''The result of unpickling a Pestered: the first times, Ctrl-C comes meanwhile.'''
    global left
    left -= 1
    if left >= 0:
        signal.raise_signal(signal.SIGINT)
    return "unpickled"

class Pestered:
    def __reduce__(self):
        return interrupt, ()
"""


class Pestering(Trouble):
    def step(self, action):
        *result, info = super().step(GO)
        if action == HANG:
            info["thing"] = importlib.import_module("pestered").Pestered()
        return *result, info


def test_ctrl_c_while_an_answer_is_read(tmp_path, monkeypatch):
    (tmp_path / "pestered.py").write_text(PESTERED)
    monkeypatch.syspath_prepend(tmp_path)
    with cypool.from_factories([partial(Pestering, i) for i in range(3)], num_workers=1) as env:
        env.reset()
        env.send([GO, GO, HANG])
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                env.recv(timeout=60)
        obs, *_, info = env.recv(timeout=60)
        assert obs.tolist() == [[1, 0], [1, 1], [1, 2]] and info["thing"].tolist() == [None, None, "unpickled"]


class Torn(Trouble):
    """Ctrl-C leaves it in a state that no reset mends."""

    torn = False

    def step(self, action):
        if self.torn:
            raise OSError("torn")
        if action == RAISE:
            self.torn = True
            raise KeyboardInterrupt
        return super().step(action)


def test_an_environment_that_ctrl_c_has_torn():
    with cypool.from_factories([partial(Torn, i) for i in range(2)], num_workers=0) as env:
        env.reset()
        with pytest.raises(KeyboardInterrupt):
            env.step([GO, RAISE])
        with pytest.raises(cypool.EnvError, match="env 1: WorkerError: it raised KeyboardInterrupt"):
            env.recv()
        for t in range(3):
            assert env.step([GO, GO])[0].tolist() == [[t + 2, 0], [t, 1]]


def test_ctrl_c(run_forked):
    done = run_forked("""
import os, signal, tempfile, cypool, gymnasium

pool = os.getpid()
gate = os.path.join(tempfile.mkdtemp(), "gate")
os.mkfifo(gate)

class Slow(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        return 0, {}
    def step(self, action):
        if action:
            os.kill(pool, signal.SIGINT)
            open(gate).read()
        return 1, 0.0, False, False, {}

for batch_size in (2, 1):
    env = cypool.from_factories([Slow] * 2, batch_size=batch_size)
    env.async_reset()
    for _ in range(2 // batch_size):
        env.recv()
    try:
        env.send([1, 0], [0, 1])
        for _ in range(2 // batch_size):
            env.recv()
    except KeyboardInterrupt:
        open(gate, "w").close()
        print(env.recv()[0])
    env.close()
""")
    assert done.stdout == "[1 1]\n[1]\n" and done.stderr == "", done.stderr


@pytest.mark.parametrize("closed", [[0, 1, 2], *slow([0], [1, 2])], ids=str)
@pytest.mark.parametrize("start_method", ["forkserver", *slow("spawn")])
def test_without_standard_files(tmp_path, closed, start_method):
    said = tmp_path / "said"
    code = f"""
import os
for fd in {closed}:
    os.close(fd)
try:
    import cypool
    with cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=1, start_method="{start_method}") as env:
        env.reset()
        done = str(env.step([0, 1])[1].tolist())
except BaseException as error:
    done = repr(error)
with open({str(said)!r}, "w") as file:
    file.write(done)
"""
    # elsewhere than in the checkout, whose ./cypool is not compiled
    subprocess.run([sys.executable, "-c", code], timeout=300, stdin=subprocess.DEVNULL, cwd=tmp_path)
    assert said.read_text() == "[1.0, 1.0]"


@pytest.mark.parametrize("way", ["os.kill(os.getpid(), 9)", "sys.exit()", "env = None", "env.close()", *slow(
    "os.killpg(0, 15)", "os._exit(0)", "env.send([0, 0])", "1 / 0")])
def test_no_process_outlives_ours(run_forked, way):
    done = run_forked(f"""
import os, sys, cypool, gymnasium
os.setpgid(0, 0)
from pathlib import Path

class Parent(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        import subprocess
        self.child = subprocess.Popen(["sleep", "1000"])
        return 0, {{}}
    def step(self, action):
        return 1, 0.0, False, False, {{}}

env = cypool.from_factories([Parent] * 2)
env.reset()
def below(pid):
    for child in Path(f"/proc/{{pid}}/task/{{pid}}/children").read_text().split():
        yield child
        yield from below(child)
print(*below(os.getpid()), flush=True)
{way}
""")
    pids = done.stdout.split()
    assert len(pids) == 5, done.stderr
    wait_until(lambda: all(map(gone, pids)))
    assert ("ZeroDivisionError" in done.stderr) if way == "1 / 0" else done.stderr == ""


@pytest.mark.parametrize("host", [PROCESSES, THREADS])
def test_fork(run_forked, host):
    done = run_forked(f"""
import os, sys, warnings, cypool
warnings.simplefilter("ignore", DeprecationWarning)
env = cypool.make("gymnasium:CartPole-v1", num_envs=2, **{host})
env.reset()
child = os.fork()
if child == 0:
    try:
        env.step([0, 0])
    except RuntimeError as error:
        assert "fork" in str(error), error
        env.close()
        sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
env.step([0, 0])
print("ok")
""")
    assert (done.stdout, done.stderr) == ("ok\n", "")


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_save_and_load(host):
    env = cypool.make("gymnasium:CartPole-v1", num_envs=3, **host, seed=1)
    env.reset()
    actions = np.random.default_rng(0).integers(0, 2, (60, 3))
    for a in actions[:9]:
        shown = env.step(a)
    state = pickle.loads(pickle.dumps(env.save()))
    expected = [env.step(a)[:4] for a in actions]
    with cypool.make("gymnasium:CartPole-v1", num_envs=3, num_workers=1) as other:
        for each in (env, other):
            obs, info = each.load(state)
            assert same(obs, shown[0]) and same(info["elapsed_step"], shown[4]["elapsed_step"])
            assert same([each.step(a)[:4] for a in actions], expected)
    env.close()


def test_what_does_not_pickle_is_not_saved():
    class Stuck(Trouble):
        def __init__(self):
            self.lock = threading.Lock()
            super().__init__()

    env = cypool.from_factories([Stuck])
    env.reset()
    with pytest.raises(NotImplementedError, match="save: env 0 does not pickle"):
        env.save()
    assert env.step([GO])[0][0, 0] == 1
    env.close()


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_render(host):
    env = cypool.make("gymnasium:CartPole-v1", num_envs=2, **host, render_mode="rgb_array")
    reference = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    assert env.metadata["render_fps"] == 50 and env.render_mode == "rgb_array"
    env.reset(seed=3)
    reference.reset(seed=3)
    assert env.render()[0].tobytes() == reference.render().tobytes()
    assert env.render([1]).shape == (1, 400, 600, 3)
    # infos and observations are as before
    assert env.step([0, 0])[0][0].tobytes() == reference.step(0)[0].tobytes()
    env.close()
    reference.close()
    with cypool.make("gymnasium:CartPole-v1", num_workers=0) as env:
        env.reset()
        with pytest.raises(NotImplementedError, match="render_mode='rgb_array'"):
            env.render([0])


def test_options_limits_and_statistics():
    env = cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=1, max_episode_steps=5, episode_statistics=True,
                      env_options=[{"sutton_barto_reward": True}, {}])
    assert env.env_spec.max_episode_steps == 5 and env.num_threads == 1
    obs, _ = env.reset(seed=1, options={"low": 0.0, "high": 0.0})
    assert not obs.any()
    for t in range(5):
        _, reward, terminated, truncated, info = env.step([t % 2] * 2)
    assert reward.tolist() == [0, 1] and truncated.all() and not terminated.any()
    assert info["episode"]["l"].tolist() == [5, 5] and info["episode"]["r"].tolist() == [0, 5]
    assert env.step([0, 0])[0].any()
    copy = pickle.loads(pickle.dumps(env))
    assert copy.num_threads == 1 and copy.env_spec == env.env_spec
    copy.close()
    env.close()
    with cypool.from_factories([Trouble] * 2, max_episode_steps=3, autoreset_mode="SameStep", num_workers=2) as env:
        env.reset()
        for _ in range(3):
            obs, _, _, truncated, info = env.step([GO, GO])
        assert truncated.all() and obs[:, 0].tolist() == [0, 0]
        assert [each.tolist() for each in info["final_obs"]] == [[3, 0], [3, 0]]
        assert info["final_info"]["elapsed_step"].tolist() == [3, 3]
        with pickle.loads(pickle.dumps(env)) as copy:
            assert copy.num_envs == 2 and copy.env_spec.max_episode_steps == 3


def test_num_threads_is_the_number_of_workers():
    with cypool.make("gymnasium:CartPole-v1", num_envs=3, num_threads=2) as env:
        assert env.num_threads == 2 and len(children(forkserver_of())) == 2
    with cypool.make("gymnasium:CartPole-v1", num_envs=3) as env:
        assert env.num_threads == 3 and len(children(forkserver_of())) == 3


@pytest.mark.parametrize("host", [PROCESSES, THREADS])
def test_other_apis(host):
    with cypool.make("gymnasium:CartPole-v1", "gym", num_envs=2, **host, seed=3) as env:
        with cypool.make("CartPole-v1", "gym", num_envs=2, seed=3) as reference:
            assert same(env.reset(), reference.reset())
            for t in range(40):
                assert same(env.step([t % 2] * 2), reference.step([t % 2] * 2))
    with cypool.from_factories([Teller] * 2, "dm", **host) as env:
        assert env.reset().first().all()
        for _ in attempts():
            if env.step(np.ones((2, 2), np.int64)).last().any():
                break


def test_out():
    with cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=2, seed=3) as env:
        buffers = env.rollout_buffers(10)
        env.reset()
        for t in range(10):
            env.step([0, 1], out=buffers[t])
        assert buffers.obs.any(axis=2).all()


class Unfit(Trouble):
    observation_space = spaces.Sequence(spaces.Discrete(2))


class Nested(Trouble):
    observation_space = spaces.Dict({"a": spaces.Dict({"b": spaces.Discrete(2)})})


class Wide(Trouble):
    observation_space = spaces.Box(0, 1000, (3,), np.int64)


def fail():
    raise ArithmeticError("no environment today")


@pytest.mark.parametrize("factories, error, message, host", of_hosts([
    ([Unfit], ValueError, "observation_space: expected a Box"),
    ([Nested], ValueError, r"observation_space\['a'\]: expected a Box"),
    ([Trouble, Wide], ValueError, "expected the same observation_space everywhere, but env 0 has"),
    ([Trouble, fail], ArithmeticError, "no environment today"),
    ([Trouble, int], TypeError, "factories: expected functions that return a gymnasium.Env, got 0"),
    ([Trouble, 3], TypeError, "factories: expected"),
    ([], TypeError, "factories: expected"),
    (Trouble, TypeError, "factories: expected"),
], [2, 3, 5, 6, 7]))
def test_bad_factories(factories, error, message, host):
    with pytest.raises(error, match=message):
        cypool.from_factories(factories, **host)


def test_a_process_that_exits_before_it_is_ready():
    with pytest.raises(cypool.WorkerError, match="its process ended: exit status 5"):
        cypool.from_factories([partial(os._exit, 5)])


@pytest.mark.parametrize("arguments, error, message", [
    ({"id": "gymnasium:Nothing-v0"}, ValueError, "id: .*Nothing"),
    ({"id": "gymnasium:CartPole-v77"}, ValueError, "id: .*v77"),
    ({"nonsense": 1, "num_workers": 0}, TypeError, "nonsense"),
    ({"num_workers": -1}, ValueError, "num_workers: expected 0 to 4096"),
    ({"start_method": "fork"}, ValueError, "start_method: expected one of 'forkserver', 'spawn'"),
    ({"worker_timeout": "long"}, TypeError, "worker_timeout: expected a number"),
    ({"worker_timeout": 0}, ValueError, "worker_timeout: expected"),
    ({"max_episode_steps": 0}, ValueError, "max_episode_steps: expected"),
    ({"seed": -1, "num_workers": 0}, ValueError, "seed: expected at least 0"),
    ({"thread_affinity": "numa"}, ValueError, "thread_affinity: expected neither"),
    ({"env_options": [{}]}, ValueError, "env_options: expected a dict for each of 2"),
])
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        cypool.make(**{"id": "gymnasium:CartPole-v1", "num_envs": 2, **arguments})


def test_bad_actions_send_nothing():
    with cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=2) as env:
        env.reset()
        with pytest.raises(ValueError, match="actions: expected integers in"):
            env.step([0, 2])
        with pytest.raises(RuntimeError, match="nothing is pending"):
            env.recv()
        env.step([0, 1])


class Unpicklable:
    def __reduce__(self):
        raise OSError("not today")


class Counted:
    """Counts how often it is pickled."""

    pickled = 0

    def __reduce__(self):
        Counted.pickled += 1
        return int, (5,)


class Asked(gymnasium.Env):
    """Returns the arguments of `reset` in its infos; episodes have two steps."""

    observation_space = spaces.Discrete(9)
    action_space = spaces.Discrete(2)

    def reset(self, **arguments):
        super().reset(seed=arguments.get("seed"))
        self.steps = 0
        # Gymnasium passes options always
        given = {name: value for name, value in arguments.items() if (name, value) != ("options", None)}
        return self.np_random.integers(9), {"arguments": repr(given)}

    def step(self, action):
        self.steps += 1
        return self.np_random.integers(9), 0.0, self.steps == 2, False, {}


@pytest.mark.parametrize("mode, host", [
    *((mode, host) for mode in MODES for host in (HERE, THREADS)), (MODES[0], PROCESSES),
    *slow(*((mode, PROCESSES) for mode in MODES[1:]))])
def test_arguments_of_resets_are_those_of_gymnasium(mode, host):
    env = cypool.from_factories([Asked] * 3, **host, autoreset_mode=mode)
    reference = SyncVectorEnv([Asked] * 3, autoreset_mode=mode)

    def compare(ours, theirs):
        assert same(ours[:-1], theirs[:-1]) and same(without_ours(ours[-1]), theirs[-1])

    options = {"easy": Counted()}
    Counted.pickled = 0
    compare(env.reset(seed=3, options=options), reference.reset(seed=3, options={"easy": 5}))
    assert Counted.pickled == 1
    # each its own
    info = env.reset(seed=3, options=[{"easy": 5}, None, {}])[1]
    assert list(info["arguments"]) == [repr({"seed": 3, "options": {"easy": 5}}), repr({"seed": 4}),
                                       repr({"seed": 5, "options": {}})]
    env.reset(seed=3, options={"easy": 5})
    for _ in range(7):
        ours, theirs = env.step([0, 1, 0]), reference.step([0, 1, 0])
        compare(ours, theirs)
        if mode == "Disabled" and ours[2].any():
            mask = np.array([True, False, True])
            compare(env.reset(options={"reset_mask": mask, **options}),
                    reference.reset(options={"reset_mask": mask, "easy": 5}))
            assert Counted.pickled == 2
            break
    compare(env.reset(), reference.reset())
    env.close()
    reference.close()


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_options_that_cannot_be_pickled_change_nothing(host):
    env, twin = (cypool.from_factories([Asked] * 3, **host, seed=1) for _ in "12")
    env.reset()
    twin.reset()
    for bad, kind, message in (({"x": Unpicklable()}, TypeError, "^options: expected what can be pickled, .*not today"),
                               ({"x": bytes(2**24)}, ValueError, "^options: expected at most [0-9]* bytes")):
        with pytest.raises(kind, match=message):
            env.reset(seed=7, options=bad)
        with pytest.raises(kind, match=message):
            env.reset([1], seed=7, options=bad)
        assert env.np_random_seed == (1, 2, 3)
        for _ in range(4):
            assert same(env.step([0] * 3), twin.step([0] * 3))
    assert same(env.reset(), twin.reset())
    env.close()
    twin.close()


class Bare(gymnasium.Env):
    """A `reset` without options, as in the tests of Stable-Baselines3; counts its steps."""

    observation_space = spaces.Discrete(1000)
    action_space = spaces.Discrete(3)
    steps = 0

    def reset(self, seed=None):
        self.steps = 0
        return 0, {}

    def step(self, action):
        self.steps += 1
        return self.steps, 0.0, action == 1, False, {}

    def render(self):
        return np.full((2, 2, 3), self.steps, np.uint8)


@pytest.mark.parametrize("mode, num_workers", [
    *((mode, 0) for mode in MODES[1:]), (MODES[0], 1), *slow(*((mode, 1) for mode in MODES[1:]))])
def test_a_reset_without_options(mode, num_workers):
    with cypool.from_factories([Bare] * 2, num_workers=num_workers, autoreset_mode=mode) as env:
        env.reset(seed=3)
        env.step([1, 0])
        assert env.reset()[0].tolist() == [0, 0]
        with pytest.raises(cypool.EnvError, match="unexpected keyword argument 'options'"):
            env.reset(options={"x": 1})


# states of it are pickled in workers, so these import it
GATED = """
import os, time, gymnasium

class Gated(gymnasium.Env):
    '''Counts its steps; waits with action 2 until there is a file, a minute at most.'''

    observation_space = gymnasium.spaces.Discrete(1000)
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self, path):
        self.path = path

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return 0, {}

    def step(self, action):
        end = time.monotonic() + 60
        while action == 2 and not os.path.exists(self.path) and time.monotonic() < end:
            os.sched_yield()
        self.steps += 1
        return self.steps, 0.0, False, False, {}
"""


def test_a_rollout_ends_with_its_timeout(tmp_path, monkeypatch):
    (tmp_path / "gated_env.py").write_text(GATED)
    monkeypatch.syspath_prepend(tmp_path)
    gated = importlib.import_module("gated_env").Gated
    gate = tmp_path / "gate"
    env = cypool.from_factories([partial(gated, str(gate))] * 2, num_workers=2, autoreset_mode="Disabled")
    env.reset()
    state = env.save()
    actions = np.array([[0, 0], [0, 2], [0, 0]])

    mask = np.array([True, False])
    for go_on in (env.reset, lambda: env.load(state), lambda: env.reset(options={"reset_mask": mask}),
                  lambda: env.reset([0, 1])):
        with pytest.raises(TimeoutError, match="^rollout: not done in 0.2 s; in step 1, recv: 1 of 2 envs finished"):
            env.rollout(actions, timeout=0.2)
        gate.touch()
        obs, _ = go_on()
        assert obs.tolist() in ([0, 0], [0, 2])
        env.reset()
        assert env.rollout(actions, timeout=60).obs.tolist() == [[1, 1], [2, 2], [3, 3]]
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
def test_an_edited_state_that_breaks_an_environment(edit, host):
    with cypool.make("gymnasium:CartPole-v1", num_envs=2, **host, seed=3) as env:
        env.reset()
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


def test_an_edited_state_that_is_refused():
    with cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=1, seed=3) as env:
        env.reset()
        state = edited(env.save(), lambda env: delattr(env.unwrapped, "observation_space"))
        with pytest.raises(ValueError, match="env 0 cannot load: .*its pickle cannot be loaded: AttributeError"):
            env.load(state)
        env.step([0, 0])


class Moody(gymnasium.Env):
    """Raises with action 1."""

    observation_space = spaces.Discrete(100)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return int(self.np_random.integers(100)), {}

    def step(self, action):
        if action:
            raise OSError("as it does")
        return int(self.np_random.integers(100)), 1.0, False, False, {}


def test_an_environment_that_raises_after_load_keeps_its_random_stream():
    shown = []
    for loads in (False, True):
        with cypool.from_factories([Moody] * 2, num_workers=0, seed=3) as env:
            env.reset()
            env.step([0, 0])
            if loads:
                env.load(env.save())
            with pytest.raises(cypool.EnvError, match="as it does"):
                env.step([1, 0])
            shown.append([env.step([0, 0])[0].tolist() for _ in range(5)])
    assert shown[0] == shown[1]


class Closing(gymnasium.Env):
    """Notes in a file when it is made and closed; raises `what` in a step with action 1, and in `close`."""

    observation_space = action_space = spaces.Discrete(2)

    def __init__(self, path, number, what):
        self.path, self.number, self.what = path, number, what
        self.note("made")

    def note(self, text):
        with open(self.path, "a") as file:
            file.write(f"{text} {self.number}\n")

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        if action:
            raise self.what
        return 0, 0.0, False, False, {}

    def close(self):
        self.note("closed")
        if self.number == 0:
            raise self.what


WHAT = [SystemExit(3), KeyboardInterrupt(), OSError("broken")]


@pytest.mark.parametrize("what, host", [
    *((what, host) for what in WHAT for host in (HERE, {"workers": "threads", "num_workers": 1})), (WHAT[0], PROCESS),
    *slow(*((what, PROCESS) for what in WHAT[1:]))], ids=repr)
def test_each_environment_is_closed_once(host, what, tmp_path, capfd, monkeypatch):
    path = tmp_path / "notes"
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    env = cypool.from_factories([partial(Closing, path, i, what) for i in range(3)], **host)
    env.reset()
    # its class is of this module, which a process cannot import
    state = None if host == PROCESS else env.save([2])
    with pytest.raises(cypool.EnvError if host != HERE or not isinstance(what, KeyboardInterrupt) else type(what)):
        env.step([0, 1, 0])
    with contextlib.suppress(cypool.EnvError):
        env.reset()
    # SystemExit and Ctrl-C cost the environment, too: it is made again
    made = ["made 0", "made 1", "made 2", *([] if isinstance(what, OSError) else ["closed 1", "made 1"])]
    if state is not None:
        env.load(state, [2])
        made.append("closed 2")
    assert path.read_text().splitlines() == made
    with contextlib.suppress(KeyboardInterrupt):
        env.close()
    assert path.read_text().splitlines() == [*made, "closed 0", "closed 1", "closed 2"]
    if not isinstance(what, KeyboardInterrupt):
        assert type(what).__name__ in capfd.readouterr().err


@pytest.mark.parametrize("num_workers", [0, *slow(1)])
@pytest.mark.parametrize("wrap", [lambda env: env, gymnasium.wrappers.OrderEnforcing], ids=["same", "wrapped"])
def test_one_environment_for_several_rows(num_workers, wrap):
    one = Bare()
    with pytest.raises(ValueError, match="^factories: expected an environment of its own .* the same for rows 0 and 2"):
        cypool.from_factories([lambda: one, Bare, lambda: wrap(one)], num_workers=num_workers)


class Drawn(Bare):
    render_mode = "rgb_array"


class Undrawn(Bare):
    render_mode = "rgb_array"
    render = gymnasium.Env.render


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_render_before_the_first_reset(host):
    with cypool.from_factories([Drawn] * 2, **host) as env:
        assert [picture.shape for picture in env.render()] == [(2, 2, 3)] * 2
        with pytest.raises(RuntimeError, match="never reset"):
            env.step([0, 0])
        env.reset()
        env.step([0, 0])
        assert env.render([1]).max() == 1
    with cypool.make("gymnasium:CartPole-v1", **host, render_mode="rgb_array") as env:
        # that one cannot, and says so
        with pytest.raises(gymnasium.error.ResetNeeded, match="Cannot call `env.render"):
            env.render([0])


def test_an_environment_without_render():
    with cypool.from_factories([Undrawn], num_workers=1) as env:
        env.reset()
        with pytest.raises(NotImplementedError, match="^render: expected environments that have it, but env 0"):
            env.render([0])


class Classic(Bare):
    def __init__(self, wrong):
        self.wrong = wrong

    def reset(self, seed=None):
        observation, info = super().reset()
        return observation if self.wrong == "reset" else (observation, info)

    def step(self, action):
        observation, reward, terminated, _, info = super().step(action)
        return observation, reward, terminated, info


@pytest.mark.parametrize("wrong, message", [
    ("reset", r"reset: expected 2 values \(observation, info\), got none: 0"),
    ("step", r"step: expected 5 values \(observation, reward, terminated, truncated, info\), got 4: \(1, 0.0, ")])
@pytest.mark.parametrize("num_workers", [0, *slow(1)])
def test_an_environment_of_gym(wrong, message, num_workers):
    with cypool.from_factories([partial(Classic, wrong)] * 2, num_workers=num_workers) as env:
        with pytest.raises(cypool.EnvError, match=message):
            env.reset()
            env.step([0, 0])


def test_ctrl_c_of_a_terminal_reaches_no_process_of_the_pool(run_forked):
    # it reaches all processes of the group, whenever it comes
    done = run_forked("""
import os, signal, sys, threading, time
os.setsid()
import cypool

count, over = 0, threading.Event()

def take(*_):
    global count
    count += 1

def pester():
    k = 0
    while not over.wait(0.0003 + k % 7 * 0.003):
        os.killpg(0, signal.SIGINT)
        k += 1

signal.signal(signal.SIGINT, take)
thread = threading.Thread(target=pester, daemon=True)
thread.start()
for method in ("forkserver", "spawn"):
    with cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=2, start_method=method) as env:
        env.reset(seed=0)
        for _ in range(100):
            env.step([0, 1])
# the same with the handler of Python: a KeyboardInterrupt, and nothing else
with cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=2) as env:
    env.reset(seed=0)
    steps = interrupts = 0
    signal.signal(signal.SIGINT, signal.default_int_handler)
    while True:
        try:
            while steps < 2000 or interrupts < 20:
                steps += 1
                env.recv() if env._pool.num_pending else env.step([0, 1])
            signal.signal(signal.SIGINT, take)
            break
        except KeyboardInterrupt:
            interrupts += 1
over.set()
thread.join()
print(count > 20 and interrupts >= 20)
""")
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


class Blank(gymnasium.Env):
    """Draws nothing."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}
    render_mode = "rgb_array"
    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        return 0, 0.0, False, False, {}

    def render(self):
        return None


def test_a_picture_that_is_none_is_named():
    with cypool.from_factories([Blank], workers="threads") as env:
        env.reset()
        with pytest.raises(TypeError, match="^render: expected pictures that are arrays, got None"):
            env.render([0])


class Quacking:
    """Derives from no class of Gymnasium's: spaces, `reset` and `step` are all that it has."""

    observation_space = gymnasium.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return np.zeros(3, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.full(3, self.steps / 10, np.float32), 1.0, self.steps >= 4, False, {"action": action}


class QuackingInColour(Quacking):
    render_mode = "rgb_array"

    def render(self):
        return np.full((2, 2, 3), self.steps, np.uint8)


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_environment_that_is_none_of_gymnasiums_is_stepped_and_closed(host, capfd):
    with cypool.from_factories([QuackingInColour, Quacking], **host) as env:
        env.reset(seed=3)
        for t in range(1, 5):
            obs, reward, terminated, _, info = env.step([0, 1])
            assert (obs == np.float32(t / 10)).all() and reward.tolist() == [1, 1] and info["action"].tolist() == [0, 1]
        assert terminated.all() and env.render([0])[0].max() == 4
        assert env.env_spec.render_fps == 30 and env.env_spec.max_episode_steps is None
        assert env._pool.ask(None, attribute_of, "steps") == [4, 4]
    assert capfd.readouterr() == ("", "")
