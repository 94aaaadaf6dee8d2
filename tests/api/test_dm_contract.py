"""dm_env's own tests of its contract, on one row of pools with the dm api."""
import unittest

import dm_env
import numpy as np
import pytest
import tree
from dm_env.test_utils import EnvironmentTestMixin

import cypool
from cypool.compat import envpool

pytestmark = pytest.mark.families("atari")


class Row(dm_env.Environment):
    """The only environment of a pool, with None where dm_env has it and a batch has numbers."""

    def __init__(self, env):
        self.env = env
        self.observation_spec, self.action_spec = env.observation_spec, env.action_spec
        self.reward_spec, self.discount_spec, self.close = env.reward_spec, env.discount_spec, env.close

    observation_spec = action_spec = None

    def reset(self):
        return self.row(self.env.reset())

    def step(self, action):
        return self.row(self.env.step(tree.map_structure(lambda part: np.asarray(part)[None], action)))

    def row(self, batch):
        kind, reward, discount, observation = tree.map_structure(lambda part: part[0], batch)
        numbers = (None, None) if kind == dm_env.StepType.FIRST else (reward, discount)
        return dm_env.TimeStep(dm_env.StepType(kind), *numbers, observation)


class Contract(EnvironmentTestMixin):
    """The tests; its subclasses say what they make."""

    def make_object_under_test(self):
        return Row(self.make("dm", max_episode_steps=7))


class TestNumbers(Contract, unittest.TestCase):
    def make(self, *args, **kwargs):
        return cypool.make("CartPole-v1", *args, **kwargs)


class TestImages(Contract, unittest.TestCase):
    def make(self, *args, **kwargs):
        return cypool.make("Breakout-v5", *args, num_threads=2, episodic_life=True, **kwargs)


class TestTuples(Contract, unittest.TestCase):
    def make(self, *args, **kwargs):
        return cypool.make("Blackjack-v1", *args, **kwargs)


class TestPython(Contract, unittest.TestCase):
    def make(self, *args, **kwargs):
        return cypool.make("gymnasium:Pendulum-v1", *args, num_workers=0, **kwargs)


class TestEnvPool(Contract, unittest.TestCase):
    def make(self, *args, **kwargs):
        return envpool.make("Pendulum-v1", *args, **kwargs)
