"""Spaces of Python environments: actions, observations and texts arrive as they are; unfit spaces are refused."""
import copy
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv
from hosting.environments import Trouble
from hosting.hosts import HERE, PROCESSES, THREADS, compare
from markers import slow
from receiving import started

import cypool


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


@pytest.mark.parametrize("action_space", [
    spaces.MultiDiscrete([[2, 3], [4, 5]]), spaces.Box(-2, 2, (2,), np.float32),
    *slow(spaces.Discrete(3, start=-1), spaces.MultiBinary(3), spaces.Discrete(4),
          spaces.Box(-np.inf, 3, (1, 2), np.float64), spaces.Box(-3, 3, (2,), np.int16)),
], ids=str)
def test_action_spaces_equal_gymnasium(action_space):
    seen = spaces.Tuple([spaces.Discrete(9), spaces.Box(-np.inf, np.inf, (3,), np.float64)])
    factories = [partial(Sampler, seen, action_space)] * 2
    for host in (HERE, PROCESSES, THREADS):
        env = cypool.from_factories(factories, **host)
        assert env.single_action_space == action_space and env.single_observation_space == seen
        compare(env, SyncVectorEnv(factories), 150)


@pytest.mark.parametrize("space", [
    spaces.Box(0, 1, (3,), np.bool_), spaces.Box(0, 1, (), np.bool_), spaces.Box(-1, 1, (2,), np.float16),
    spaces.Box(0, 2**64 - 1, (2,), np.uint64), spaces.Box(-2**63, 2**63 - 1, (2,), np.int64),
    spaces.MultiBinary([2, 3]), spaces.MultiDiscrete([[2, 3], [4, 5]], dtype=np.int32),
    spaces.MultiDiscrete([3, 4], start=[-1, 5]), spaces.Discrete(3, start=2**62), spaces.Discrete(5, dtype=np.uint8),
    spaces.Box(-1, 1, (1,) * 7 + (2,), np.float32), spaces.Box(-1, 1, (), np.float32),
], ids=lambda space: str(space).replace("\n", ""))
def test_spaces_of_all_kinds_equal_gymnasium(space):
    factories = [partial(Sampler, spaces.Dict(a=space, b=spaces.Tuple([space]).spaces[0]), space)] * 2
    compare(cypool.from_factories(factories, num_workers=0), SyncVectorEnv(factories), 60)


@pytest.mark.parametrize("space", [spaces.Box(-1, 1, (2, 0)), spaces.Box(-1, 1, (1,) * 9), spaces.Tuple([]),
                                   spaces.Tuple([spaces.Tuple([spaces.Discrete(2)])])], ids=str)
def test_unfit_spaces_are_refused(space):
    for kinds, name in [((space, spaces.Discrete(2)), "observation"), ((spaces.Discrete(2), space), "action")]:
        with pytest.raises(ValueError, match=rf"{name}_space.*: expected|{name}_space: shape: expected"):
            cypool.from_factories([partial(Sampler, *kinds)], num_workers=0)


@pytest.mark.parametrize("space", [spaces.Dict(a=spaces.Discrete(2)), spaces.Tuple([spaces.Discrete(2)])], ids=str)
def test_actions_of_parts_are_refused(space):
    with pytest.raises(ValueError, match=r"^action_space: .* or MultiBinary, got .*gymnasium\.ActionWrapper"):
        cypool.from_factories([partial(Sampler, spaces.Discrete(2), space)], num_workers=0)


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
def test_texts_equal_gymnasium_and_fit_their_box(kind, host, length):
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
    ({"text": "a\0"}, ValueError, "observation 'text': text: expected .* without a trailing zero byte"),
    ({"text": "\ud800"}, ValueError, "observation 'text': .*surrogates"),
    ({"text": b"abc"}, TypeError, "observation 'text': expected a str, as in the observation space, got b'abc'"),
    ({"text": None}, TypeError, "observation 'text': expected a str"),
])
def test_bad_texts_raise(said, error, message):
    with started(cypool.from_factories([partial(Speaker, **said)], num_workers=0)) as env:
        with pytest.raises(cypool.EnvError, match=message) as caught:
            env.step(env.action_space.sample())
        assert isinstance(caught.value.__cause__, error)


def test_text_actions_are_refused():
    with pytest.raises(ValueError, match="action_space: expected a Box"):
        cypool.from_factories([partial(Sampler, spaces.Discrete(2), spaces.Text(3))], num_workers=0)


def test_bool_actions_are_converted_and_checked():
    space = spaces.Box(0, 1, (2,), np.bool_)
    with started(cypool.from_factories([partial(Sampler, spaces.Discrete(2), space)] * 2, num_workers=0)) as env:
        for actions in ([[True, False], [False, False]], [[1, 0], [0, 0]], np.array([[1.0, 0], [0, 0]])):
            assert env.step(actions)[4]["given"][0] == "array([ True, False])"
            env.reset()
        with pytest.raises(ValueError, match=r"actions: expected values in \[False, True\], got 2 in row 1"):
            env.step([[0, 0], [0, 2]])
        with pytest.raises(TypeError, match="actions: expected bool, got array"):
            env.step([["a", "b"]] * 2)
