"""`normalize_obs=True` and `normalize_reward=True` give the results of Gymnasium's wrappers."""
import pickle

import numpy as np
import pytest
from gymnasium.wrappers.vector import NormalizeObservation, NormalizeReward
from receiving import started

import cypool

pytestmark = pytest.mark.families("atari")
NUM = 5
BOTH = {"normalize_obs": True, "normalize_reward": True}


def make(id="Pendulum-v1", **kwargs):
    return cypool.make(id, num_envs=NUM, **{"seed": 0, "max_episode_steps": 20, **kwargs})


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("id", ["Pendulum-v1", "CartPole-v1"])
def test_equal_to_gymnasiums_wrappers(id, num_threads):
    env, twin = make(id, num_threads=num_threads, **BOTH), NormalizeReward(NormalizeObservation(make(id)))
    assert env.observation_space == twin.observation_space
    env.action_space.seed(0)
    np.testing.assert_allclose(env.reset()[0], twin.reset()[0], 1e-4, 1e-4)
    for _ in range(100):
        actions = env.action_space.sample()
        obs, reward, *flags, _ = env.step(actions)
        want, expected, *others, _ = twin.step(actions)
        assert obs.dtype == np.float32
        np.testing.assert_allclose(obs, want, 1e-4, 1e-4)
        np.testing.assert_allclose(reward, expected, 1e-4, 1e-4)
        assert all((a == b).all() for a, b in zip(flags, others, strict=True))
    np.testing.assert_allclose(env.normalization()["obs"]["mean"], twin.env.obs_rms.mean, 1e-4, 1e-5)
    np.testing.assert_allclose(env.normalization()["reward"]["var"], twin.return_rms.var, 1e-4)


def test_rewards_within_the_step_as_gymnasiums():
    env, twin = make(normalize_reward=True, autoreset_mode="SameStep"), NormalizeReward(make(autoreset_mode="SameStep"))
    env.reset()
    twin.reset()
    for t in range(100):
        actions = np.full((NUM, 1), np.sin(t), np.float32)
        np.testing.assert_allclose(env.step(actions)[1], twin.step(actions)[1], 1e-4)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_asynchronous_pools_see_the_same(mode):
    # every env by itself gets the same returns, in whatever order rows come
    envs = [make(normalize_reward=True, autoreset_mode=mode),
            make(normalize_reward=True, autoreset_mode=mode, batch_size=2, num_threads=2)]
    envs[0].reset()
    for _ in range(59):
        envs[0].step(np.zeros((NUM, 1)))
    envs[1].async_reset()
    steps = np.zeros(NUM, int)
    while (steps < 60).any():
        info = envs[1].recv()[4]
        steps[info["env_id"]] += 1
        ids = info["env_id"][steps[info["env_id"]] < 60]
        if len(ids):
            envs[1].send(np.zeros((len(ids), 1)), ids)
    np.testing.assert_allclose(envs[0]._returns, envs[1]._returns, 1e-12)
    for key in ("mean", "var", "count"):
        np.testing.assert_allclose(*(env.normalization()["reward"][key] for env in envs), 1e-9)


def test_last_observations_are_normalized():
    env, twin = (started(make(autoreset_mode="SameStep", normalize_obs=normal)) for normal in (True, False))
    for _ in range(20):
        info, want = (each.step(np.zeros((NUM, 1)))[4] for each in (env, twin))
    statistics = env.normalization()["obs"]
    for row in range(NUM):
        normal = (want["final_obs"][row] - statistics["mean"]) / np.sqrt(statistics["var"] + 1e-8)
        np.testing.assert_allclose(info["final_obs"][row], normal, 1e-5)


def test_statistics_save_load_and_freeze():
    env, other = make(**BOTH), make(**BOTH, seed=9)
    env.reset()
    for _ in range(50):
        env.step(env.action_space.sample())
    other.load_normalization(pickle.loads(pickle.dumps(env.normalization())))
    other.frozen = True
    before = other.normalization()
    obs, _ = other.reset()
    raw = make(seed=9).reset()[0]
    np.testing.assert_allclose(
        obs, (raw - before["obs"]["mean"]) / np.sqrt(before["obs"]["var"] + 1e-8), 1e-5, 1e-6)
    other.step(other.action_space.sample())
    after = other.normalization()
    assert all(np.array_equal(before[name][key], after[name][key]) for name in before for key in before[name])
    with pytest.raises(ValueError, match="^statistics: expected"):
        make(normalize_obs=True).load_normalization(before)
    with pytest.raises(ValueError, match="^statistics: expected"):
        make("CartPole-v1", **BOTH).load_normalization(before)


def test_resets_of_some_and_loads_count_no_rewards():
    env = started(make(**BOTH))
    for _ in range(5):
        env.step(np.ones((NUM, 1)))
    returns, count = env._returns.copy(), env.normalization()["reward"]["count"]
    mask = np.array([True, False, False, True, False])
    env.reset(options={"reset_mask": mask})
    assert (env._returns == np.where(mask, 0, returns)).all()
    observed = env.normalization()["obs"]["count"]
    env.load(env.save())
    assert env.normalization()["obs"]["count"] == observed and not env.frozen
    # returns are no part of a state, and its observations were counted before
    assert env.normalization()["reward"]["count"] == count and (env._returns == 0).all()
    copy = pickle.loads(pickle.dumps(env))
    assert copy.normalization()["reward"]["count"] == 1e-4


def test_images():
    env = cypool.make("Pong-v5", num_envs=2, seed=0, normalize_obs=True)
    obs, _ = env.reset()
    assert obs.dtype == np.float32 and obs in env.observation_space and abs(obs.mean()) < 0.1


def test_bad_arguments():
    for name in BOTH:
        with pytest.raises(TypeError, match=f"^{name}: expected True or False, got 1"):
            make(**{name: 1})
        with pytest.raises(ValueError, match=f"^{name}: expected False for env_type 'dm'"):
            make(env_type="dm", **{name: True})
    with pytest.raises(ValueError, match="^normalize_obs: expected False for Blackjack-v1"):
        make("Blackjack-v1", normalize_obs=True)
    env = started(make(**BOTH))
    with pytest.raises(ValueError, match="^out: expected None"):
        env.step(np.zeros((NUM, 1)), out=())
    buffers = env.rollout_buffers(2)
    buffers.reward = buffers.reward.astype(np.float32)
    before = env.normalization()
    with pytest.raises(ValueError, match="^out: expected a writeable C-contiguous array of float64"):
        env.rollout(np.zeros((2, NUM, 1)), buffers)
    with pytest.raises(ValueError, match="^out: expected a writeable C-contiguous array of float32"):
        env.rollout(np.zeros((2, NUM, 1)), cypool.make("Hopper-v5", num_envs=NUM).rollout_buffers(2))
    with pytest.raises(ValueError, match="^policy: expected an MLP for"):
        # of the observations that are not normalized
        env.rollout(2, policy=mlp_for(make("CartPole-v1")))
    assert env.normalization()["obs"]["count"] == before["obs"]["count"]


def mlp_for(env):
    rng = np.random.default_rng(1)
    count, (size,) = int(np.prod(env.single_action_space.shape)), env.single_observation_space.shape
    if not env.single_action_space.shape:
        return cypool.MLP(env.env_spec, [rng.normal(size=(2, size))], [np.zeros(2)], output="categorical", seed=3)
    return cypool.MLP(env.env_spec, [rng.normal(size=(count, size))], [np.zeros(count)], output="gaussian",
                      log_std=np.zeros(count), seed=3)


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("id, how, given", [
    ("CartPole-v1", "mlp", BOTH), ("CartPole-v1", "random", BOTH), ("Hopper-v5", "mlp", BOTH),
    ("Hopper-v5", "python", {"normalize_obs": True}), ("Hopper-v5", "actions", BOTH),
    ("CartPole-v1", "mlp", {"normalize_reward": True})])
def test_rollouts_equal_steps_with_statistics_that_are_held(id, how, given, mode, num_threads):
    env, twin = (make(id, autoreset_mode=mode, num_threads=num_threads, max_episode_steps=30, **given) for _ in "12")
    choose, other = (cypool.RandomPolicy(each.env_spec) if how == "random" else mlp_for(each) for each in (env, twin))
    out = env.rollout_buffers(25)
    for turn in range(3):
        if turn == 0 or mode == "Disabled":
            shown, _ = twin.reset()
            assert np.array_equal(env.reset()[0], shown)
        plan = np.stack([twin.action_space.sample() for _ in range(25)])
        if how == "actions":
            rollout = env.rollout(plan, out if turn == 1 else None)
        else:
            policy = choose if how != "python" else lambda seen: choose(seen)
            rollout = env.rollout(25, out if turn == 1 else None, policy=policy)
        assert (rollout is out) == (turn == 1) and rollout.obs.dtype == env.env_spec.observation.dtype
        over = np.zeros(NUM, bool)
        with twin.hold_statistics():
            for t in range(25):
                ids = np.flatnonzero(~over)
                if not len(ids):
                    # a policy in C has taken the random numbers of all steps
                    len([other(shown) for _ in range(t, 25) if how in ("mlp", "random")])
                    break
                assert rollout.obs[t].tobytes() == shown.tobytes()
                actions = plan[t] if how == "actions" else other(shown)
                if how != "actions":
                    assert np.array_equal(rollout.action[t][ids], actions[ids])
                now, reward, terminated, truncated, info = twin.step(actions[ids], ids)
                assert rollout.next_obs[t][ids].tobytes() == now.tobytes()
                assert rollout.reward[t][ids].tobytes() == reward.tobytes()
                for k in np.flatnonzero(info.get("_final_obs", ())):
                    assert rollout.info["final_obs"][t, ids[k]].tobytes() == info["final_obs"][k].tobytes()
                shown = shown.copy()
                shown[ids] = now
                if mode == "Disabled":
                    over[ids] = terminated | truncated
        for name, found in env.normalization().items():
            assert found is None or all(np.array_equal(found[key], twin.normalization()[name][key]) for key in found)
        assert np.array_equal(env._returns, twin._returns)
        assert rollout.last_obs.tobytes() == shown.tobytes()
    assert env.normalization()["obs" if "normalize_obs" in given else "reward"]["count"] > 100
