"""Hooks and policies that Numba compiles."""
import numba
import numpy as np
import pytest

import cypool
from cypool.numba import POLICY_SIGNATURE, SIGNATURE, array, decision, part, transition
from cypool.spec import Array, Discrete

pytestmark = pytest.mark.large_packages


@numba.cfunc(SIGNATURE)
def reward(pointer):
    t = transition(pointer)
    obs, before = part(t.obs, 0, (4,), np.float32), part(t.before, 0, (4,), np.float32)
    action = array(t.action, (1,), np.int64)
    t.reward += np.float64(obs[0] - before[0]) + 10 * action[0] + 100 * t.elapsed_step + 1000 * t.env_id
    if obs[0] > 0.1:
        t.terminated = 1


@numba.cfunc(SIGNATURE)
def halves(pointer):
    t = transition(pointer)
    obs = part(t.obs, 0, (4,), np.float32)
    positions, speeds = part(t.out, 0, (2,), np.float32), part(t.out, 1, (1, 2), np.float64)
    positions[0], positions[1] = obs[0], obs[2]
    speeds[0, 0], speeds[0, 1] = obs[1], obs[3]


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_reward_and_observation(num_threads):
    described = {"positions": Array((2,), np.float32), "speeds": Array((1, 2), np.float64)}
    env = cypool.make("CartPole-v1", num_envs=4, seed=1, num_threads=num_threads, reward_hook=reward,
                      observation_hook=(halves, described), debug=num_threads == 2)
    plain = cypool.make("CartPole-v1", num_envs=4, seed=1, num_threads=num_threads)
    before, _ = plain.reset()
    mine, _ = env.reset()
    for action in np.random.default_rng(0).integers(0, 2, (9, 4)):
        assert (mine["positions"] == before[:, [0, 2]]).all() and (mine["speeds"][:, 0] == before[:, [1, 3]]).all()
        obs, one, *_, info = plain.step(action)
        mine, made, terminated, *_ = env.step(action)
        moved = (obs[:, 0] - before[:, 0]).astype(np.float64)
        assert (made == one + (moved + 10 * action + 100 * info["elapsed_step"] + 1000 * np.arange(4))).all()
        before = obs


@pytest.mark.parametrize("signature", ["float64(float64)", "void()", "int32(voidptr)"])
def test_another_signature(signature):
    arguments = {"float64(float64)": "x", "void()": "", "int32(voidptr)": "x"}[signature]
    hook = numba.cfunc(signature)(eval(f"lambda {arguments}: {'None' if signature[0] == 'v' else 1}"))
    for name in ("reward_hook", "observation_hook"):
        with pytest.raises(TypeError, match=f"{name}: expected a Numba cfunc with cypool.numba.SIGNATURE, .* got one"):
            cypool.make("CartPole-v1", **{name: hook})


def test_a_python_function_is_meant_for_batches():
    # njit makes no C function of this signature
    env = cypool.make("CartPole-v1", num_envs=4, observation_hook=(numba.njit(lambda obs: len(obs)), Discrete(9)))
    with pytest.raises(ValueError, match=r"expected an array of int64, shape \(4,\), got int64, \(\)"):
        env.reset()


@numba.cfunc(POLICY_SIGNATURE)
def lean(pointer):
    d = decision(pointer)
    obs = part(d.obs, 0, (4,), np.float32)
    array(d.action, (1,), np.int64)[0] = (obs[2] + obs[3] > 0) != (d.step % 5 > 1)
    return 0


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_policy(num_threads):
    env, twin = (cypool.make("CartPole-v1", num_envs=4, seed=1, num_threads=num_threads) for _ in range(2))
    (obs, _), _ = env.reset(), twin.reset()
    rollout = env.rollout(60, policy=lean)
    for t in range(60):
        actions = ((obs[:, 2] + obs[:, 3] > 0) != (t % 5 > 1)).astype(np.int64)
        obs, reward, *_ = twin.step(actions)
        assert (rollout.action[t] == actions).all() and (rollout.next_obs[t] == obs).all()
        assert (rollout.reward[t] == reward).all()
    with pytest.raises(TypeError, match="policy: expected a Numba cfunc with cypool.numba.POLICY_SIGNATURE"):
        env.rollout(4, policy=halves)
