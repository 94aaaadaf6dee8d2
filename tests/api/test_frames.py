"""Rollouts that store each frame of a stack once: they return the observations that they were given."""
import numpy as np
import pytest

import cypool

pytestmark = pytest.mark.families("atari", "mujoco")
CASES = [("Breakout-v5", {"max_episode_steps": 9}), ("Pong-v5", {"preset": "ale", "max_episode_steps": 2}),
         ("Breakout-v5", {"gray_scale": False, "channels_last": True, "stack_num": 2, "max_episode_steps": 7}),
         ("Pong-v5", {"stack_num": 1}), ("CartPole-v1", {}), ("HalfCheetah-v5", {"frame_stack": 3}),
         ("walker/Frames-v0", {})]


def check_equal(spec, got, wanted):
    for one, two in zip(spec.unpack(got), spec.unpack(wanted), strict=True):
        assert one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()


def play(env, buffers, num_steps, begin, state):
    """Steps and stores; returns copies of all observations, one behind the other for each part."""
    buffers.begin(begin)
    kept = [[part.copy()] for part in env.env_spec.unpack(begin)]
    for t in range(num_steps):
        actions = env.action_space.sample()
        if isinstance(actions, dict):
            # others raise
            actions["what"][:] = 0
        obs, _, terminated, truncated, _ = env.step(actions)
        over = terminated | truncated
        if env.stays_at_end and over.any():
            first, _ = env.reset(np.flatnonzero(over))
            for part, new in zip(env.env_spec.unpack(obs), env.env_spec.unpack(first), strict=True):
                part[over] = new
        buffers.add(obs)
        for rows, part in zip(kept, env.env_spec.unpack(obs), strict=True):
            rows.append(part.copy())
        if t == num_steps // 2 and state is not None:
            # the next frames do not continue the last ones
            env.load(state)
    return env.env_spec.pack([np.stack(rows) for rows in kept]), obs


@pytest.mark.parametrize("id, options, mode", [
    *((*case, "SameStep") for case in CASES), (*CASES[0], "NextStep"), (*CASES[0], "Disabled"),
    (*CASES[-1], "NextStep")])
def test_stacks_are_what_was_added(walker, id, options, mode):
    env = cypool.make(id, num_envs=3, seed=1, autoreset_mode=mode, **options)
    env.action_space.seed(0)
    buffers, spec = env.rollout_buffers(20, frames="once"), env.env_spec
    obs, _ = env.reset()
    # the plug-in's have none
    state = None if "walker" in id else env.save()
    for _ in range(2):
        kept, obs = play(env, buffers, 20, obs, state)
        assert len(buffers) == 21
        check_equal(spec, buffers.stacks(), kept)
        rows = np.random.default_rng(0).permutation(60)
        check_equal(spec, buffers.stacks(rows), spec.pack(
            [part.reshape(63, *part.shape[2:])[rows] for part in spec.unpack(kept)]))


def test_a_frame_is_stored_once():
    env = cypool.make("Pong-v5", num_envs=2, seed=0)
    buffers = env.rollout_buffers(30, frames="once")
    obs, _ = env.reset()
    play(env, buffers, 30, obs, None)
    assert buffers.nbytes == 2 * 34 * 84 * 84


def test_the_arrays_of_out_may_be_used_again():
    env, twin = (cypool.make("Pong-v5", num_envs=2, seed=0) for _ in "12")
    buffers, one = env.rollout_buffers(6, frames="once"), env.rollout_buffers(1)
    obs, _ = env.reset()
    buffers.begin(obs)
    wanted = [twin.reset()[0].copy()]
    for _ in range(6):
        obs, *_ = env.step([2, 3], out=one[0])
        buffers.add(obs)
        wanted.append(twin.step([2, 3])[0].copy())
    check_equal(env.env_spec, buffers.stacks(), np.stack(wanted))


def test_wrong_arguments():
    env = cypool.make("CartPole-v1", num_envs=2)
    with pytest.raises(ValueError, match="frames: expected 'stacked' or 'once', got 'twice'"):
        env.rollout_buffers(3, frames="twice")
    with pytest.raises(ValueError, match="synchronous pool"):
        cypool.make("CartPole-v1", num_envs=2, batch_size=1).rollout_buffers(3, frames="once")
    buffers = env.rollout_buffers(1, frames="once")
    with pytest.raises(ValueError, match="that fits in memory"):
        env.rollout_buffers(2**31 - 1, frames="once")
    obs, _ = env.reset()
    with pytest.raises(RuntimeError, match=r"add: expected begin\(\) first"):
        buffers.add(obs)
    buffers.begin(obs)
    for wrong, error in [(obs[:1], ValueError), (obs.astype(np.float64), ValueError), (None, (TypeError, ValueError)),
                         ("x", (TypeError, ValueError)), ({"a": obs}, (TypeError, ValueError))]:
        for call in (buffers.begin, buffers.add):
            with pytest.raises(error, match="obs: expected"):
                call(wrong)
    assert len(buffers) == 1
    buffers.add(obs)
    with pytest.raises(RuntimeError, match=r"add: expected at most 1 steps before the next begin\(\)"):
        buffers.add(obs)
    for wrong in ([4], [-1], [[0]], [0.5], "x", [2**70]):
        with pytest.raises((TypeError, ValueError), match="index: expected"):
            buffers.stacks(wrong)
    assert buffers.stacks(np.zeros(0, int)).shape == (0, 4)
    with pytest.raises(TypeError, match="out: expected"):
        env.rollout(np.zeros((1, 2), np.int64), out=buffers)
