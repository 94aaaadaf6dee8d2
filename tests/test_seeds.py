"""Seeds: one per environment, all checked before any takes effect."""
import pytest

import cypool


def test_a_refused_reset_changes_nothing():
    env = cypool.make("Breakout-v5", num_envs=2, seed=0)
    env.reset()
    twin = cypool.make("Breakout-v5", num_envs=2, seed=0)
    twin.reset()
    with pytest.raises(ValueError, match="^seed: expected at least 0, at most 2147483647"):
        env.reset(seed=[5, 2**31])
    assert env.reset()[0].tobytes() == twin.reset()[0].tobytes()


def test_adjacent_seeds():
    one = cypool.make("CartPole-v1", num_envs=3, seed=4).reset()[0]
    two = cypool.make("CartPole-v1", num_envs=3, seed=5).reset()[0]
    each = cypool.make("CartPole-v1", num_envs=3, seed=[4, 5, 6]).reset()[0]
    assert (one[1:] == two[:2]).all() and (one == each).all()


def test_without_a_seed_no_two_pools_are_alike():
    assert (cypool.make("CartPole-v1").reset()[0] != cypool.make("CartPole-v1").reset()[0]).any()
