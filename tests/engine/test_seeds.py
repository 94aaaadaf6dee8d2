"""Seeds: one per environment, all checked before any takes effect."""
import collections
import functools

import gymnasium
import numpy as np
import pytest
from receiving import started

import cypool
import cypool.compat.envpool as envpool

pytestmark = pytest.mark.families("atari", "mujoco")


def test_a_refused_reset_changes_nothing():
    env = started(cypool.make("Breakout-v5", num_envs=2, seed=0))
    twin = started(cypool.make("Breakout-v5", num_envs=2, seed=0))
    with pytest.raises(ValueError, match="^seed: expected at least 0 and at most 2147483647"):
        env.reset(seed=[5, 2**31])
    assert env.reset()[0].tobytes() == twin.reset()[0].tobytes()


def test_seeds_may_be_any_sequence():
    with cypool.make("CartPole-v1", num_envs=3, seed=range(4, 7)) as env:
        one = env.reset()[0]
        assert env.np_random_seed == (4, 5, 6)
        assert (env.reset(seed=range(4, 7))[0] == one).all()
        assert (env.reset([2, 0], seed=range(6, 3, -2))[0] == one[[2, 0]]).all()
        assert (env.reset(seed=collections.deque([4, 5, 6]))[0] == one).all()
        for bad in (range(4), range(10**30), collections.deque([4, 5])):
            with pytest.raises(ValueError, match="^seed: expected one seed for each of 3 envs"):
                env.reset(seed=bad)
        for bad in (b"123", bytearray(3), {4, 5, 6}):
            with pytest.raises(TypeError, match="^seed: expected an int or a sequence of ints"):
                env.reset(seed=bad)


def test_adjacent_seeds():
    one = cypool.make("CartPole-v1", num_envs=3, seed=4).reset()[0]
    two = cypool.make("CartPole-v1", num_envs=3, seed=5).reset()[0]
    each = cypool.make("CartPole-v1", num_envs=3, seed=[4, 5, 6]).reset()[0]
    assert (one[1:] == two[:2]).all() and (one == each).all()


def test_without_a_seed_no_two_pools_are_alike():
    assert (cypool.make("CartPole-v1").reset()[0] != cypool.make("CartPole-v1").reset()[0]).any()


def vectors(id, num_envs, **kwargs):
    make = functools.partial(gymnasium.make, id, **kwargs)
    return gymnasium.vector.SyncVectorEnv([make] * num_envs)


# steps that draw, resets that draw, draws of normal deviates
@pytest.mark.parametrize("id", ["FrozenLake-v1", "CartPole-v1", "Blackjack-v1", "Ant-v5"])
def test_np_random_is_that_of_gymnasiums_vectors(id):
    ours, theirs = cypool.make(id, num_envs=3, num_threads=2), vectors(id, 3)
    for seed in (42, [7, None, 9], None):
        obs = ours.reset(seed=seed)[0]
        assert np.array_equal(obs, theirs.reset(seed=seed)[0])
        if seed is not None:
            theirs.action_space.seed(0)
        for _ in range(3):
            assert ours.np_random_seed == theirs.np_random_seed
            own, want = ours.np_random, theirs.np_random
            assert isinstance(own, tuple) and [g.bit_generator.state for g in own] == [
                g.bit_generator.state for g in want]
            # a copy: drawing from it changes nothing
            own[0].random(5)
            actions = theirs.action_space.sample()
            assert np.array_equal(ours.step(actions)[0], theirs.step(actions)[0])
    with pytest.raises(AttributeError):
        ours.np_random = np.random.default_rng()


def test_seeds_of_pools():
    env = cypool.make("CartPole-v1", num_envs=3, seed=4)
    assert env.np_random_seed == (4, 5, 6)
    drawn = cypool.make("CartPole-v1", num_envs=2)
    assert drawn.np_random_seed == tuple(drawn.recipe["seed"])
    env.reset()
    env.reset(env_id=[2, 0], seed=20)
    assert env.np_random_seed == (20, 5, 22)
    with pytest.raises(ValueError):
        env.reset(seed=[1, 2, -3])
    env.reset(seed=[1, 2, 3], options={"reset_mask": np.array([False, True, True])})
    assert env.np_random_seed == (20, 2, 3)
    # a state has no seed
    env.load(env.save([0, 1]), [1, 2])
    assert env.np_random_seed == (20, -1, -1)
    env.reset(seed=7)
    assert env.np_random_seed == (7, 8, 9)
    assert envpool.make_gymnasium("CartPole-v1", num_envs=2).np_random_seed == (42, 43)


def test_np_random_of_what_draws_otherwise_and_of_what_is_in_flight():
    assert not hasattr(cypool.make("Pong-v5"), "np_random") and cypool.make("Pong-v5", seed=1).np_random_seed == (1,)
    env = started(cypool.make("CartPole-v1", num_envs=2))
    env.send([0, 1])
    with pytest.raises(RuntimeError, match="in flight"):
        env.np_random  # noqa: B018
    env.recv()
    assert len(env.np_random) == 2
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.np_random  # noqa: B018


@pytest.mark.parametrize("num_workers", [0, 1])
def test_np_random_of_hosted_environments(num_workers):
    ours, theirs = cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=num_workers), vectors("CartPole-v1", 2)
    for env in (ours, theirs):
        env.reset(seed=42)
    assert ours.np_random_seed == theirs.np_random_seed == (42, 43)
    states = [[g.bit_generator.state for g in env.np_random] for env in (ours, theirs)]
    assert states[0] == states[1]
    # a copy, too
    ours.np_random[0].random()
    assert [g.bit_generator.state for g in ours.np_random] == states[0]
    ours.close()
