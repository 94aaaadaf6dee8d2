"""Observations, rewards, flags and infos that do not fit: each costs its own row, and is named."""
import collections
import threading
import types
from functools import partial

import numpy as np
import pytest
from comparing import assert_same
from gymnasium import spaces
from hosting.environments import GO, TELL_NONSENSE, Trouble
from hosting.hosts import THREADS, of_hosts
from receiving import started

import cypool


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
def test_bad_reward_or_flag_is_named(given, message):
    with started(cypool.from_factories([partial(OddStep, 0, *given)], num_workers=0)) as env:
        with pytest.raises(cypool.EnvError, match=f"env 0: .*{message}"):
            env.step([0])


def itself():
    info = {}
    info["itself"] = info
    return info


@pytest.mark.parametrize("info, message", [
    (lambda: {"x": threading.Lock()}, "TypeError: info: expected values that can be pickled: cannot pickle '_thread"),
    (lambda: {"x": bytes(1 << 24)}, "ValueError: info: expected at most .* bytes when pickled")])
def test_info_that_does_not_pickle_costs_its_own_row(info, message):
    with started(cypool.from_factories([partial(Oddity, i, None, info) for i in range(3)], num_workers=2)) as env:
        with pytest.raises(cypool.EnvError, match=f"env 1: .*({message})") as caught:
            env.step([GO] * 3)
        assert caught.value.batch[4]["x"].tolist() == [0, 0, 2]


@pytest.mark.parametrize("observation, info, message, host", of_hosts([
    (None, list, r"TypeError: info: expected a dict, got \[\]"),
    (None, lambda: 5, "TypeError: info: expected a dict, got 5"),
    (None, itself, "ValueError: info: expected dicts nested at most 100 levels deep"),
    ({"small": np.array([300, 1])}, None, "ValueError: observation 'small': expected values that fit .*uint8"),
    ({"small": [-1, 1]}, None, "ValueError: observation 'small': expected values that fit .*uint8"),
    ({"small": [0.5, 1]}, None, "ValueError: observation 'small': expected values that fit .*uint8"),
    ({"real": None}, None, "ValueError: observation 'real': expected values that fit .*float32"),
    ({"small": [[1, 1]]}, None, r"ValueError: observation 'small': expected shape \(2,\)"),
    ({"real": 1j}, None, "ComplexWarning|ValueError: observation 'real': expected values that fit .*float32"),
    ({"real": "1"}, None, "ValueError: observation 'real': expected values that fit .*float32"),
], [0, 6], [THREADS]))
def test_bad_observation_or_info_costs_its_own_row(observation, info, message, host):
    factories = [partial(Oddity, i, observation, info) for i in range(3)]
    with started(cypool.from_factories(factories, **host)) as env:
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
def test_infos_of_several_types_become_objects(info, expected, mode):
    factories = [partial(Oddity, i, None, info) for i in range(3)]
    with started(cypool.from_factories(factories, num_workers=0, autoreset_mode=mode)) as env:
        for action in (GO, TELL_NONSENSE):
            infos = env.step([action] * 3)[4]
            if action == TELL_NONSENSE and mode == "SameStep":
                infos = infos["final_info"]
            assert_same([x.item() if isinstance(x, np.generic) else x for x in infos["x"]], expected)
            assert infos["_x"].all()
