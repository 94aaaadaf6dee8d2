"""Resets of Python environments: seeds and options arrive as Gymnasium passes them."""
import pickle

import gymnasium
import numpy as np
import pytest
from comparing import assert_same
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv
from hosting.environments import Bare, Trouble
from hosting.hosts import HERE, PROCESSES, THREADS, assert_equal_results
from markers import slow
from pool_arguments import MODES
from receiving import started

import cypool


class Seeder(Trouble):
    """Shows the seed of each reset, or -1; without one it takes its own."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=7 if seed is None else seed)
        return np.array([-1 if seed is None else seed, self.np_random.integers(1000)]), {}


@pytest.mark.parametrize("host", [*slow(HERE, PROCESSES), THREADS])
def test_first_reset_takes_the_seeds_of_make(host):
    factories = [Seeder] * 3
    reference = SyncVectorEnv(factories)
    for seed, shown in [(None, [-1] * 3), (5, [5, 6, 7]), ([3, None, 4], [3, -1, 4])]:
        with cypool.from_factories(factories, **host, seed=seed) as env:
            first = env.reset()[0]
            assert first[:, 0].tolist() == shown
            assert_same(first, reference.reset(seed=seed)[0])
            assert env.reset()[0][:, 0].tolist() == [-1] * 3
            with pickle.loads(pickle.dumps(env)) as copied:
                assert_same(copied.reset()[0], first)
    with cypool.from_factories(factories, **host, batch_size=2) as env:
        assert env.reset()[0][:, 0].tolist() == [-1] * 2


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

    options = {"easy": Counted()}
    Counted.pickled = 0
    assert_equal_results(env.reset(seed=3, options=options), reference.reset(seed=3, options={"easy": 5}))
    assert Counted.pickled == 1
    # each its own
    info = env.reset(seed=3, options=[{"easy": 5}, None, {}])[1]
    assert list(info["arguments"]) == [repr({"seed": 3, "options": {"easy": 5}}), repr({"seed": 4}),
                                       repr({"seed": 5, "options": {}})]
    env.reset(seed=3, options={"easy": 5})
    for _ in range(7):
        ours, theirs = env.step([0, 1, 0]), reference.step([0, 1, 0])
        assert_equal_results(ours, theirs)
        if mode == "Disabled" and ours[2].any():
            mask = np.array([True, False, True])
            assert_equal_results(env.reset(options={"reset_mask": mask, **options}),
                                 reference.reset(options={"reset_mask": mask, "easy": 5}))
            assert Counted.pickled == 2
            break
    assert_equal_results(env.reset(), reference.reset())
    env.close()
    reference.close()


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_options_that_cannot_be_pickled_change_nothing(host):
    env, twin = (started(cypool.from_factories([Asked] * 3, **host, seed=1)) for _ in "12")
    for bad, kind, message in (({"x": Unpicklable()}, TypeError, "^options: expected options that can be .*not today"),
                               ({"x": bytes(2**24)}, ValueError, "^options: expected at most [0-9]* bytes")):
        with pytest.raises(kind, match=message):
            env.reset(seed=7, options=bad)
        with pytest.raises(kind, match=message):
            env.reset([1], seed=7, options=bad)
        assert env.np_random_seed == (1, 2, 3)
        for _ in range(4):
            assert_same(env.step([0] * 3), twin.step([0] * 3))
    assert_same(env.reset(), twin.reset())
    env.close()
    twin.close()


@pytest.mark.parametrize("mode, num_workers", [
    *((mode, 0) for mode in MODES[1:]), (MODES[0], 1), *slow(*((mode, 1) for mode in MODES[1:]))])
def test_reset_without_options_raises_only_if_options_are_given(mode, num_workers):
    with cypool.from_factories([Bare] * 2, num_workers=num_workers, autoreset_mode=mode) as env:
        env.reset(seed=3)
        env.step([1, 0])
        assert env.reset()[0].tolist() == [0, 0]
        with pytest.raises(cypool.EnvError, match="unexpected keyword argument 'options'"):
            env.reset(options={"x": 1})
