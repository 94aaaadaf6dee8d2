"""Environments on a real Ray with several workers."""
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from actor_critic import ActorCritic
from counting import Counting
from gated import Gated, Uniform, blackjack
from waiting import run_program, wait_until

import cypool
from cypool.cluster import (
    APS,
    Always,
    Categorical,
    ClusterEnv,
    DiagonalGaussian,
    Every,
    MLPPolicy,
    Never,
    TorchPolicy,
    session,
)
from cypool.features.normalize import Moments

pytestmark = [pytest.mark.large_packages, pytest.mark.usefixtures("leave_checkout", "limit"),
              pytest.mark.families("atari")]

MODES = ["NextStep", "SameStep"]
NUM = 6


def policy(id="CartPole-v1", seed=0, sharpness=1):
    """Returns a policy; a sharper one is further from uniform, and so from others."""
    policy = MLPPolicy(id, seed=seed)
    weights = policy.get_weights()
    policy.set_weights({**weights, "w2": weights["w2"] * sharpness})
    return policy


def same(a, b):
    """Whether nested dicts of arrays are equal, but for the seconds that episodes took."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a if key != "t")
    if a.dtype == object:
        return all(x is y is None or (x == y).all() for x, y in zip(a, b, strict=True))
    return a.dtype == b.dtype and a.shape == b.shape and (a == b).all()


def barrier(env):
    """Waits until the workers have done all calls so far."""
    import ray

    ray.get([worker.__ray_ready__.remote() for worker in env._topology.workers], timeout=300)


def kill(env, worker, signal=signal.SIGKILL):
    pid = env.stats()["pids"][worker]
    os.kill(pid, signal)
    return pid


def gone(pid):
    return not Path("/proc", str(pid)).exists()


# the same as a pool


@pytest.mark.parametrize("mode", MODES)
def test_steps_with_the_learners_actions_are_those_of_a_pool(cluster, mode):
    env = cluster(num_workers=3, envs_per_worker=2, autoreset_mode=mode, episode_statistics=True)
    pool = cypool.make("CartPole-v1", num_envs=NUM, seed=7, autoreset_mode=mode, episode_statistics=True)
    assert env.observation_space == pool.observation_space and env.action_space == pool.action_space
    assert env.metadata["autoreset_mode"] == pool.metadata["autoreset_mode"]
    rng, ends = np.random.default_rng(0), 0
    for seed in (None, 3, [5, 4, 3, 2, 1, 0]):
        (obs, info), want = env.reset(seed=seed), pool.reset(seed=seed)
        assert (obs == want[0]).all() and same(info, want[1])
        for _ in range(40):
            actions = rng.integers(0, 2, NUM)
            *got, info = env.step(actions)
            *want, want_info = pool.step(actions)
            assert all(same(a, b) for a, b in zip(got, want, strict=True)) and same(info, want_info)
            ends += got[2].sum()
    assert ends > 5


@pytest.mark.parametrize(("id", "mode", "steps"), [
    ("CartPole-v1", "NextStep", 60), ("CartPole-v1", "SameStep", 60), ("Pendulum-v1", "NextStep", 120),
    ("Blackjack-v1", "SameStep", 10), ("Pong-v5", "NextStep", 4)])
def test_rollouts_are_ordered_by_worker_and_env(cluster, id, mode, steps):
    """A pool of all rows that is given a rollout's actions says the same."""
    chooser = Uniform(cypool.make_spec(id).action)
    env = cluster(id, 3, 2, policy=chooser, autoreset_mode=mode, infos=("elapsed_step",))
    pool = cypool.make(id, num_envs=NUM, seed=7, autoreset_mode=mode)
    env.reset()
    unpack = pool.env_spec.unpack
    obs, out = unpack(pool.reset()[0]), None
    for _ in range(3):
        rollout = out = env.rollout(steps, out=out)
        for t in range(steps):
            assert all((got[t] == want).all() for got, want in zip(unpack(rollout.obs), obs, strict=True))
            obs, reward, terminated, truncated, info = pool.step(rollout.action[t])
            obs = unpack(obs)
            assert all((got[t] == want).all() for got, want in zip(unpack(rollout.next_obs), obs, strict=True))
            assert (rollout.reward[t] == reward).all()
            assert (rollout.info["elapsed_step"][t] == info["elapsed_step"]).all()
            assert (rollout.terminated[t] == terminated).all() and (rollout.truncated[t] == truncated).all()
        assert all((got == want).all() for got, want in zip(unpack(rollout.last_obs), obs, strict=True))
    # step continues where the rollout ended
    *got, info = env.step()
    *want, _ = pool.step(info["action"])
    assert id != "Pendulum-v1" or (info["action"] == np.clip(info["raw_action"], -2, 2)).all()
    assert all((a == b).all() for a, b in zip(unpack(got[0]), unpack(want[0]), strict=True))
    assert info["policy_version"].tolist() == [0] * NUM and info["log_prob"].shape == (NUM,)


@pytest.mark.parametrize(("source", "num_threads"), [("gymnasium:CartPole-v1", None), ("functions", 2)])
def test_environments_of_gymnasium(cluster, source, num_threads):
    """Stepped by the workers themselves, or by processes of theirs."""
    mode = {"autoreset_mode": "SameStep", "episode_statistics": True}
    if source == "functions":
        source = [blackjack] * NUM
        pool = cypool.from_factories(source, num_workers=0, seed=7, **mode)
    else:
        pool = cypool.make(source, num_envs=NUM, num_workers=0, seed=7, sutton_barto_reward=True, **mode)
        mode["sutton_barto_reward"] = True
    chooser = MLPPolicy(source, hidden=(3,)) if isinstance(source, str) else Uniform(pool.env_spec.action)
    env = cluster(source, policy=chooser, num_threads=num_threads, **mode)
    assert env.single_observation_space == pool.single_observation_space and env.action_space == pool.action_space
    unpack = pool.env_spec.unpack
    obs, want = env.reset()[0], pool.reset()[0]
    assert all((a == b).all() for a, b in zip(unpack(obs), unpack(want), strict=True))
    rollout, ends = env.rollout(40), 0
    for t in range(40):
        want, reward, terminated, truncated, info = pool.step(rollout.action[t])
        assert all((a[t] == b).all() for a, b in zip(unpack(rollout.next_obs), unpack(want), strict=True))
        assert (rollout.reward[t] == reward).all() and (rollout.terminated[t] == terminated).all()
        ends += (terminated | truncated).sum()
    assert ends == len(rollout.episodes["r"]) > 0
    pid = kill(env, 0)
    rollout = env.rollout(5)
    assert rollout.truncated[0, :3].all() and not rollout.valid[0, :3].any() and rollout.valid[1:, :3].all()
    assert env.stats()["pids"][0] != pid
    pool.close()


# normalization


BOTH = {"normalize_obs": True, "normalize_reward": True}


def statistics_of(env):
    return {name: {key: np.array(value).tolist() for key, value in each.items()}
            for name, each in env.normalization().items() if each}


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_normalized_steps_are_those_of_one_pool(cluster, mode):
    env = cluster("Pendulum-v1", 3, 2, autoreset_mode=mode, max_episode_steps=9, **BOTH)
    pool = cypool.make("Pendulum-v1", num_envs=NUM, seed=7, autoreset_mode=mode, max_episode_steps=9, **BOTH)
    assert env.observation_space == pool.observation_space
    assert same(env.reset()[0], pool.reset()[0])
    pool.action_space.seed(0)
    for _ in range(30):
        actions = pool.action_space.sample()
        *got, info = env.step(actions)
        *want, wanted = pool.step(actions)
        assert all(same(a, b) for a, b in zip(got, want, strict=True))
        for row in np.flatnonzero(wanted.get("_final_obs", ())):
            assert same(info["final_obs"][row], wanted["final_obs"][row])
    assert statistics_of(env) == statistics_of(pool)
    pool.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_normalized_rollouts_are_merged_in_the_order_of_workers(cluster, mode):
    options = {"autoreset_mode": mode, "max_episode_steps": 9}
    spec = cypool.make_spec("Pendulum-v1")
    chooser = MLPPolicy(spec)
    env = cluster("Pendulum-v1", 3, 2, policy=chooser, **options, **BOTH)
    raw, rewards = (cypool.make("Pendulum-v1", num_envs=NUM, seed=7, normalize_reward=normal, **options)
                    for normal in (False, True))
    env.reset(), rewards.reset()
    seen, _ = raw.reset()
    out, wanted = None, Moments((3,))
    wanted.update(seen)
    for _ in range(3):
        rollout = out = env.rollout(20, out=out)
        assert rollout.obs.dtype == np.float32 and same(rollout.obs[1:], rollout.next_obs[:-1])
        std, rows, finals = np.sqrt(wanted.var + 1e-8), [], 0
        for t in range(20):
            assert same(rollout.obs[t], ((seen - wanted.mean) / std).astype(np.float32))
            # two rows at a time are rounded as those of a worker, or almost
            np.testing.assert_allclose(rollout.params[t], chooser(rollout.obs[t])["params"], 1e-4, 1e-7)
            seen, *_, info = raw.step(rollout.action[t])
            rows.append(seen)
            assert same(rollout.reward[t], rewards.step(rollout.action[t])[1])
            for row in np.flatnonzero(info.get("_final_obs", ())):
                last = ((info["final_obs"][row] - wanted.mean) / std).astype(np.float32)
                assert same(rollout.final_obs[finals], last) and rollout.final_env[finals] == row
                finals += 1
        everything = np.stack(rows)
        for w in range(3):
            wanted.update(np.ascontiguousarray(everything[:, 2 * w:2 * w + 2]).reshape(-1, 3))
        found = env.normalization()
        assert same(found["obs"]["mean"], wanted.mean) and same(found["obs"]["var"], wanted.var)
        assert statistics_of(env)["reward"] == statistics_of(rewards)["reward"]
    # a step by the policy continues from there
    obs, *_, info = env.step()
    seen = ((seen - wanted.mean) / np.sqrt(wanted.var + 1e-8)).astype(np.float32)
    np.testing.assert_allclose(info["params"], chooser(seen)["params"], 1e-4, 1e-7)
    # a worker that is lost continues from what its environments showed
    kill(env, 0)
    before = env._topology.records[0].seen[0].copy()
    mean, var = (env.normalization()["obs"][name] for name in ("mean", "var"))
    rollout = env.rollout(3)
    assert same(rollout.obs[0, :2], ((before - mean) / np.sqrt(var + 1e-8)).astype(np.float32))
    assert not rollout.valid[0, :2].any()
    env.frozen, before = True, statistics_of(env)
    env.rollout(2)
    assert statistics_of(env) == before
    raw.close(), rewards.close()


def test_a_normalized_stream_takes_rollouts_in_as_they_come(cluster):
    chooser = Uniform(cypool.make_spec("Pendulum-v1").action)
    env = cluster("Pendulum-v1", 2, 3, policy=chooser, **BOTH)
    env.reset()
    counts = []
    for k, rollout in enumerate(env.stream(10)):
        assert rollout.obs.dtype == np.float32 and np.isfinite(rollout.reward).all() and abs(rollout.reward).max() < 20
        counts.append(env.normalization()["obs"]["count"])
        if k == 5:
            break
    np.testing.assert_allclose(counts, NUM + 30 * np.arange(1, 7), atol=1e-3)


# when weights go


def history(env, steps=12):
    """Publishes and rolls out in turn; returns all rollouts."""
    env.reset()
    rollouts = []
    for version in range(1, 7):
        rollouts.append(env.rollout(steps))
        assert env.publish(policy(env.env_spec.id, version, 30)) == version
    return [*rollouts, env.rollout(steps)]


@pytest.mark.parametrize(("id", "threshold", "baseline", "versions"), [
    ("CartPole-v1", 0, Always(), range(7)), ("Pendulum-v1", np.inf, Never(), [0] * 7)], ids=["Always", "Never"])
def test_threshold_0_is_always_and_infinity_is_never(cluster, id, threshold, baseline, versions):
    plain = cluster(id, policy=policy(id), sync=baseline)
    wanted = history(plain)
    for where in ("learner", "worker"):
        aps = cluster(id, policy=policy(id), sync=APS(threshold, where))
        for got, want, version in zip(history(aps), wanted, versions, strict=True):
            assert (got.version == version).all() and (want.version == version).all()
            for name in ("obs", "last_obs", "action", "params", "log_prob", "reward", "terminated", "truncated",
                         "valid"):
                assert same(getattr(got, name), getattr(want, name)), name
        assert aps.stats()["syncs"] == plain.stats()["syncs"] == 2 * max(versions)
        assert aps.stats()["lag"] == plain.stats()["lag"]


def test_every_k(cluster):
    env = cluster(policy=policy(), sync=Every(3))
    assert [rollout.version.tolist() for rollout in history(env)] == [[v] * NUM for v in (0, 0, 0, 3, 3, 3, 6)]
    stats = env.stats()
    assert stats["syncs"] == 4 and stats["lag"] == {0: 6, 1: 4, 2: 4} and stats["worker_versions"] == [6, 6]
    # both workers are on one node, which gets weights once
    size = sum(array.nbytes for array in policy().get_weights().values())
    assert stats["bytes_published"] == 6 * size and stats["bytes_pulled"] == 2 * size
    assert stats["calls"] == 14 and stats["steps"] == 7 * 12 * NUM and stats["kl"]["counts"].sum() == 0


@pytest.mark.parametrize("id", ["CartPole-v1", "Pendulum-v1"])
def test_the_learner_compares_both_policies_on_the_same_observations(cluster, id):
    threshold = 0.005
    env = cluster(id, policy=policy(id), sync=APS(threshold, sample=10**6))
    env.reset()
    rollout, newest, used, syncs = env.rollout(9), None, np.zeros(NUM, int), 0
    for version, sharpness in enumerate((1, 2, 60, 60, 61, 300, 1, 1), 1):
        newest = policy(id, version, sharpness)
        env.publish(newest)
        kls = []
        for rows in (slice(0, 3), slice(3, 6)):
            old = rollout.params[:, rows].reshape(27, -1)
            new = newest(rollout.obs[:, rows].reshape(27, -1))["params"]
            kls.append(newest.distribution.kl(old, new).mean())
            if kls[-1] >= threshold:
                used[rows], syncs = version, syncs + 1
        rollout = env.rollout(9)
        assert rollout.version.tolist() == used.tolist()
        np.testing.assert_allclose(rollout.kl, np.repeat(kls, 3), rtol=1e-4, atol=1e-9)
    assert 0 < syncs < 16 and env.stats()["syncs"] == syncs and env.stats()["kl"]["counts"].sum() == 16


def test_max_lag(cluster):
    env = cluster(policy=policy(), sync=APS(1e9, max_lag=2))
    assert [rollout.version[0] for rollout in history(env)] == [0, 0, 2, 2, 4, 4, 6]


def test_steps_with_the_workers_policy_sync_too(cluster):
    env = cluster(policy=policy(), sync=APS(0.005))
    env.reset()
    assert np.isnan(env.step()[4]["kl"]).all()
    env.publish(policy(seed=1))
    info = env.step()[4]
    assert (info["kl"] < 0.005).all() and not info["policy_version"].any()
    env.publish(policy(seed=1, sharpness=300))
    info = env.step()[4]
    assert (info["kl"] >= 0.005).all() and (info["policy_version"] == 2).all()


def test_divergences_may_be_infinite(cluster):
    env = cluster(policy=policy(), sync=APS(0.005))
    env.reset()
    env.rollout(3)
    weights = policy().get_weights()
    env.publish({**weights, "b2": np.float32([0, -np.inf])})
    rollout = env.rollout(3)
    assert (rollout.kl == np.inf).all() and not rollout.action.any() and (rollout.version == 1).all()
    assert env.stats()["kl"]["counts"].tolist() == [0] * 22 + [2]


# streams


def test_a_stream_brings_every_rollout_of_each_worker_in_order(cluster):
    env = cluster(policy=policy(), num_workers=3, envs_per_worker=2, sync=Always(), autoreset_mode="SameStep")
    pool = cypool.make("CartPole-v1", num_envs=NUM, seed=7, autoreset_mode="SameStep")
    env.reset()
    last = np.array_split(pool.reset()[0], 3)
    came = []
    for rollout in env.stream(8, in_flight=2):
        assert (rollout.obs[0] == last[rollout.worker]).all()
        last[rollout.worker] = rollout.last_obs
        assert rollout.obs.shape == (8, 2, 4) and not rollout.obs.flags.writeable
        env.publish(policy(seed=len(came)))
        came.append((rollout.worker, rollout.version[0]))
        with pytest.raises(RuntimeError, match="a stream is active"):
            env.rollout(8)
        if min(sum(worker == w for worker, _ in came) for w in range(3)) == 4:
            break
    for w in range(3):
        versions = [version for worker, version in came if worker == w]
        # its fourth call was made after its second rollout had come, and with it a version
        assert versions == sorted(versions) and versions[3] >= 2
    # calls in flight are discarded, and everything continues
    assert len(env.rollout(8)) == 8 and (env.rollout(8).version == len(came)).all()


def test_a_slow_worker_holds_nobody_up(cluster, tmp_path):
    env = cluster(policy=Gated("CartPole-v1", tmp_path, slow=True), num_workers=3)
    env.reset()
    stream = env.stream(5)
    first = []
    while len(first) < 20 or len(set(first)) < 2:
        first.append(next(stream).worker)
    slow, = {0, 1, 2} - set(first)
    (tmp_path / "gate").touch()
    assert any(rollout.worker == slow for rollout in stream)
    stream.close()
    # a rollout waits for the slow one, and is in order
    assert env.rollout(5).reward.shape == (5, 9)


@pytest.mark.parametrize("in_flight", [1, 3])
def test_a_slow_learner_stops_the_workers(cluster, tmp_path, in_flight):
    env = cluster(policy=Gated("CartPole-v1", tmp_path, calls=True))
    env.reset()
    stream = env.stream(10, in_flight=in_flight)
    for taken in range(1, 6):
        next(stream)
        barrier(env)
        assert (tmp_path / "calls").stat().st_size == 10 * (2 * in_flight + taken - 1)
    stream.close()
    barrier(env)
    assert (tmp_path / "calls").stat().st_size == 10 * (2 * in_flight + 4)


def test_memory_of_the_object_store_is_given_back(cluster, ray_here):
    """More goes through it than it has room for; a loop that does not hold rollouts does not fill it."""
    env = cluster("Pong-v5", policy=Uniform(cypool.make_spec("Pong-v5").action), envs_per_worker=8)
    env.reset()
    for k, part in enumerate(env.stream(32)):
        assert part.obs.nbytes == 8 * 28224 * 32
        if k == 30:
            break
    rollout = None
    for _ in range(12):
        rollout = env.rollout(32, out=rollout)
    assert env.stats()["bytes_received"] > ray_here.cluster_resources()["object_store_memory"]
    assert not list(Path(ray_here._private.worker._global_node.get_session_dir_path()).glob("ray_spilled_objects*"))


# workers that die


@pytest.mark.parametrize("mode", MODES)
def test_a_worker_that_dies_in_a_rollout(cluster, tmp_path, mode):
    env = cluster(policy=Gated("CartPole-v1", tmp_path, kill=17), num_workers=3, envs_per_worker=2, autoreset_mode=mode)
    env.reset()
    env.publish(policy(seed=3))
    before = env.rollout(10)
    rollout = env.rollout(10)
    dead = env.stats()["restarts"].index(1)
    assert sum(env.stats()["restarts"]) == 1
    rows = np.zeros(NUM, bool)
    rows[2 * dead:2 * dead + 2] = True
    lost = 2 if mode == "NextStep" else 1
    assert rollout.reward.shape == (10, NUM) and (rollout.obs[0] == before.last_obs).all()
    assert rollout.truncated[0].tolist() == rows.tolist() and not rollout.terminated[0][rows].any()
    assert not rollout.valid[:lost, rows].any() and rollout.valid[lost:lost + 3, rows].all()
    assert not rollout.reward[:lost, rows].any() and (rollout.reward[lost:lost + 3, rows] == 1).all()
    assert (np.abs(rollout.obs[lost][rows]) <= 0.05).all()
    if mode == "SameStep":
        ended = (rollout.final_step == 0) & rows[rollout.final_env]
        assert (rollout.final_obs[ended] == before.last_obs[rows]).all()
    # with the weights of the others
    assert (rollout.version == 1).all() and env.stats()["worker_versions"] == [1, 1, 1]
    assert env.rollout(10).valid[0].sum() >= NUM - 2 and sum(env.stats()["restarts"]) == 1


def test_a_worker_that_dies_between_calls(cluster):
    env = cluster(policy=policy(), sync=Never())
    pids = env.stats()["pids"]
    began, _ = env.reset()
    first, _ = env.reset(seed=1)
    kill(env, 0)
    obs, reward, terminated, truncated, _ = env.step([0] * NUM)
    assert truncated.tolist() == [True] * 3 + [False] * 3 and not terminated.any()
    assert (obs[:3] == first[:3]).all() and reward.tolist() == [0] * 3 + [1] * 3
    obs, reward, _, truncated, info = env.step([0] * NUM)
    # new seeds, not the same episodes again
    assert not truncated.any() and reward.tolist() == [0] * 3 + [1] * 3 and not (obs[:3] == first[:3]).any()
    assert info["elapsed_step"].tolist() == [0] * 3 + [2] * 3
    kill(env, 1)
    again, _ = env.reset(seed=1)
    assert (again == first).all() and not env.step([0] * NUM)[3].any()
    # and a reset without seeds is no return to the first episodes
    kill(env, 0)
    again, _ = env.reset(seed=[None, None, 99, None, None, None])
    assert not any((again == start).all(1).any() for start in (began, first))
    assert (again[2] == cypool.make("CartPole-v1", seed=99).reset()[0]).all()
    assert env.stats()["restarts"] == [2, 1] and not set(env.stats()["pids"]) & set(pids)


def test_a_worker_that_dies_in_a_stream(cluster, tmp_path):
    env = cluster(policy=Gated("CartPole-v1", tmp_path, kill=25, held=True), num_workers=3)
    env.reset()
    stream, came, killed = env.stream(10), {0: [], 1: [], 2: []}, tmp_path / "killed"

    def take():
        rollout = next(stream)
        came[rollout.worker].append(rollout)

    while not (killed.exists() and killed.read_text()):
        take()
    dead = env.stats()["pids"].index(int(killed.read_text()))
    while len(came[dead]) < 2:
        take()
    (tmp_path / "gate").touch()
    while len(came[dead]) < 3:
        take()
    assert env.stats()["restarts"] == [worker == dead for worker in range(3)]
    rollout = came[dead][2]
    assert rollout.truncated[0].all() and not rollout.valid[:2].any() and rollout.valid[2:5].all()
    others = {0, 1, 2}
    while others:
        others.discard(next(stream).worker)


@pytest.mark.parametrize(("trouble", "timeout", "error", "message"), [
    ({"kill": 3}, None, RuntimeError, "worker 0 died 2 times in the same call"),
    ({"slow": True}, 0.5, TimeoutError, r"worker 0 died or did not answer within 0\.5 s, 2 "),
])
def test_a_worker_that_always_dies_or_hangs(cluster, tmp_path, monkeypatch, trouble, timeout, error, message):
    monkeypatch.setattr("cypool.cluster.streams.ATTEMPTS", 1)
    env = cluster(policy=Gated("CartPole-v1", tmp_path, every=True, **trouble), num_workers=1)
    env.reset()
    with pytest.raises(error, match=f"^{message}"):
        env.rollout(10, timeout=timeout)


# workers that do not answer. Limits are small; that other workers keep them is not said, for this machine may be busy


def test_workers_that_are_stopped_are_replaced(cluster):
    env = cluster(policy=policy(), timeout=2)
    calls = [env.reset, lambda: env.step([0] * NUM), lambda: env.rollout(5)]
    for k, call in enumerate(calls):
        pid = kill(env, 0, signal.SIGSTOP)
        took = call()
        assert env.stats()["timeouts"][0] > k and env.stats()["pids"][0] != pid
        # stopped processes do not stay
        wait_until(lambda pid=pid: gone(pid))
    assert took.truncated[0, :3].all() and not took.valid[:2, :3].any() and took.valid[2, :3].all()
    pid = kill(env, 1, signal.SIGSTOP)
    # a slow learner and a fast worker: there is always something that is ready
    stream = env.stream(5, in_flight=2)
    while env.stats()["pids"][1] == pid:
        next(stream)
    stream.close()
    # and a stopped worker that gets no more requests delays no call
    pid = kill(env, 1, signal.SIGSTOP)
    env.close()
    wait_until(lambda: gone(pid))


def test_a_policy_that_hangs_is_replaced_with_its_worker(cluster, tmp_path):
    env = cluster(policy=Gated("CartPole-v1", tmp_path, slow=True))
    env.reset()
    pids = env.stats()["pids"]
    rollout = env.rollout(5, timeout=2)
    late = pids.index(int((tmp_path / "slow").read_text()))
    assert rollout.truncated[0].reshape(2, 3)[late].all() and env.stats()["timeouts"][late]
    assert env.stats()["restarts"] == env.stats()["timeouts"]


def test_calls_that_nobody_waits_for_any_more_have_their_time_too(cluster, tmp_path):
    env = cluster(policy=Gated("CartPole-v1", tmp_path, slow=True))
    env.reset()
    stream = env.stream(5, in_flight=64)
    next(stream)
    stream.close()
    opening = threading.Timer(3, (tmp_path / "gate").touch)
    opening.start()
    # the slow one has 64 other calls to answer first
    env.rollout(5, timeout=2)
    opening.join()
    assert env.stats()["timeouts"] == env.stats()["restarts"] == [0, 0]


def test_what_a_worker_sees_is_not_known_while_it_does_what_nobody_waits_for(cluster):
    env = cluster(policy=policy(sharpness=30), sync=APS(1e9))
    env.reset()
    stream, came = env.stream(5, in_flight=3), set()
    while len(came) < 2:
        came.add(next(stream).worker)
    stream.close()
    env.step()
    env.publish(policy(sharpness=30))
    # the same weights again: they differ nowhere, unless the observation of one is paired with the output for another
    np.testing.assert_allclose(env.step()[4]["kl"], 0, atol=1e-6)


def test_errors_of_policies_and_environments_name_the_worker(cluster, tmp_path):
    env = cluster(policy=Gated("CartPole-v1", tmp_path, fail=3), num_workers=1)
    env.reset()
    with pytest.raises(RuntimeError, match=r"^worker 0: OSError\('no choice today'\)"):
        env.rollout(10)
    assert len(env.rollout(10)) == 10
    env = cluster([Counting] * NUM)
    _, info = env.reset()
    assert info["note"]["name"].tolist() == ["began"] * NUM
    with pytest.raises(RuntimeError, match=r"^worker 1: EnvError.*env 1: ValueError: raised in step"):
        env.step([0, 0, 0, 0, 1, 0])
    obs, _, _, _, info = env.step([0] * NUM)
    assert obs["count"].tolist() == [[n, n] for n in (2, 2, 2, 2, 0, 2)]
    assert info["bytes"].shape == (NUM, 3) and info["_bytes"].tolist() == [True] * 4 + [False, True]
    # an unknown value of a row has no key, or a blank
    kill(env, 1)
    obs, _, _, truncated, info = env.step([0] * NUM)
    assert truncated.tolist() == [False] * 3 + [True] * 3
    assert obs["half"].tolist() == [1.5, 1.5, 1.5, 1, 0, 1]
    assert info["bytes"].shape == (NUM, 3) and info["_bytes"].tolist() == [True] * 3 + [False] * 3
    assert info["note"]["name"].tolist() == [None] * NUM and not info["note"]["_name"].any()


def test_modules_that_workers_import_first(cluster):
    env = cluster("counting/Pole-v0", num_workers=1, imports=("counting",))
    env.reset()
    assert [env.step([0] * 3)[3].all() for _ in range(3)] == [False, False, True]


LEARNER = """
import sys, time
from cypool.cluster import ClusterEnv, MLPPolicy
env = ClusterEnv("CartPole-v1", 2, 3, policy=MLPPolicy("CartPole-v1"), address=sys.argv[1], seed=7)
env.reset()
env.rollout(5)
print(*env.stats()["pids"], flush=True)
if sys.argv[2:]:
    time.sleep(1000)
"""


def test_a_learner_that_is_killed_leaves_no_workers(ray_here, tmp_path):
    """Learners in separate processes connect to this Ray by its address."""
    address = ray_here.get_runtime_context().gcs_address
    with subprocess.Popen([sys.executable, "-c", LEARNER, address, "stay"], stdout=subprocess.PIPE, text=True,
                          cwd=tmp_path) as learner:
        workers = [int(pid) for pid in learner.stdout.readline().split()]
        learner.kill()
    assert len(workers) == 2
    wait_until(lambda: all(map(gone, workers)))
    done = run_program(sys.executable, "-c", LEARNER, address, check=True, cwd=tmp_path)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2 and not set(pids) & set(workers)
    # the CPUs that they had reserved are free again
    wait_until(lambda: ray_here.available_resources().get("CPU") == ray_here.cluster_resources()["CPU"])


NODES = """
from ray.cluster_utils import Cluster
from cypool.cluster import ClusterEnv, MLPPolicy
nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 2**27})
others = [nodes.add_node(wait=False, num_cpus=4, object_store_memory=2**27) for _ in range(2)]
nodes.wait_for_nodes(timeout=300)
with ClusterEnv("CartPole-v1", 3, 2, policy=MLPPolicy("CartPole-v1"), address=nodes.address, cpus_per_worker=1) as env:
    env.reset()
    env.publish(MLPPolicy("CartPole-v1", seed=1))
    env.rollout(5)
    stats = env.stats()
    where = [record.node for record in env._topology.records]
    # three workers, two nodes: each fetches weights once
    assert len(set(where)) == 2 and stats["bytes_pulled"] == 2 * stats["bytes_published"] > 0, stats
    nodes.remove_node(next(node for node in others if node.node_id == where[0]), allow_graceful=False)
    moved, before = [node == where[0] for node in where], [0] * 3
    # processes whose node is gone may answer for a moment
    while before != moved:
        rollout, now = env.rollout(5), env.stats()["restarts"]
        cut = [[b > a] * 2 for a, b in zip(before, now)]
        assert rollout.truncated[0].reshape(3, 2).tolist() == cut, (rollout.truncated[0], cut)
        assert (rollout.version == 1).all()
        before = now
    assert env.rollout(5).reward.shape == (5, 6)
nodes.shutdown()
"""


def test_several_nodes_one_of_which_dies(tmp_path):
    """On one machine, but with an object store each."""
    run_program(sys.executable, "-c", NODES, check=True, timeout=500, cwd=tmp_path)


def test_ray_is_started_and_ended_where_there_is_none(tmp_path):
    code = """
import ray, socket
from cypool.cluster import ClusterEnv, MLPPolicy
with socket.socket() as nobody:
    # bound, but nobody listens
    nobody.bind(("127.0.0.1", 0))
    try:
        ClusterEnv("CartPole-v1", 1, 1, address=f"127.0.0.1:{nobody.getsockname()[1]}", start_timeout=0.5)
    except TimeoutError as error:
        assert str(error).startswith("address: expected a Ray cluster that answers at 127.0.0.1:"), error
    else:
        raise AssertionError
with ClusterEnv("CartPole-v1", num_workers=3, envs_per_worker=2, policy=MLPPolicy("CartPole-v1")) as env:
    other = ClusterEnv("CartPole-v1", 1, 1)
    env.reset()
    print(env.rollout(5).obs.shape)
assert ray.is_initialized()
other.close()
other.close()
assert not ray.is_initialized()
left_open = ClusterEnv("CartPole-v1", 1, 1)
left_open.reset()
"""
    done = run_program(sys.executable, "-W", "error", "-c", code, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "(5, 6, 4)\n", "") and not list(tmp_path.iterdir())


# torch


@pytest.mark.parametrize(("id", "inputs", "distribution", "where"), [
    ("CartPole-v1", 4, Categorical(2), "learner"), ("Pendulum-v1", 3, DiagonalGaussian((1,)), "worker")])
def test_torch_policies(cluster, id, inputs, distribution, where):
    torch.manual_seed(0)
    module = ActorCritic(inputs, 2)
    env = cluster(id, policy=TorchPolicy(module, distribution), sync=APS(0.01, where))
    env.reset()

    first = ActorCritic(inputs, 2)
    first.load_state_dict(module.state_dict())
    began = env.rollout(6)
    with torch.no_grad():
        # trained in place: workers have the published weights, not those that were changed since
        module.actor.bias += 1e-3
        env.publish(module)
        kept = env.rollout(6)
        module.actor.bias += torch.tensor([2.0, -2.0])
        env.publish(module.state_dict())
        newest = ActorCritic(inputs, 2)
        newest.load_state_dict(module.state_dict())
        module.actor.bias += 5
    taken = env.rollout(6)
    for rollout, module, version in ((began, first, 0), (kept, first, 0), (taken, newest, 2)):
        assert (rollout.version == version).all()
        flat = rollout.obs.reshape(-1, inputs)
        with torch.no_grad():
            said = module(torch.from_numpy(flat))
        np.testing.assert_allclose(rollout.params.reshape(-1, 2), said["params"], rtol=1e-4, atol=1e-5)
        assert rollout.value is rollout.extras["value"]
        np.testing.assert_allclose(rollout.value.ravel(), said["value"], rtol=1e-4, atol=1e-5)
        drawn = rollout.action if rollout.raw_action is None else rollout.raw_action
        log_prob = distribution.logp(rollout.params.reshape(-1, 2), drawn.reshape(len(flat), -1).squeeze(-1))
        np.testing.assert_allclose(rollout.log_prob.ravel(), log_prob, rtol=1e-5)


# bad calls


def test_bad_calls(cluster):
    env = cluster(policy=policy())
    for call in (env.step, lambda: env.step([0] * NUM), lambda: env.rollout(3), lambda: env.stream(3)):
        with pytest.raises(RuntimeError, match=r"^call reset\(\) first"):
            call()
    env.reset()
    stream = env.stream(3)
    other = next(stream)
    stream.close()
    shorter = env.rollout(2)
    bad = [(lambda: env.rollout(0), "num_steps"), (lambda: env.rollout(2.5), "num_steps"),
           (lambda: env.stream(0), "num_steps"), (lambda: env.stream(3, in_flight=0), "in_flight"),
           (lambda: env.stream(3, in_flight=65), "in_flight"), (lambda: env.step([0] * 5), "actions"),
           (lambda: env.step([2] * NUM), "actions"), (lambda: env.step([0.5] * NUM), "actions"),
           (lambda: env.rollout(3, out=shorter), "out"), (lambda: env.rollout(3, out=other), "out"),
           *((lambda call=call, limit=limit: call(timeout=limit), "timeout") for limit in (0, -1, np.nan, "1")
             for call in (env.reset, lambda timeout: env.step([0] * NUM, timeout=timeout),
                          lambda timeout: env.rollout(3, timeout=timeout),
                          lambda timeout: env.stream(3, timeout=timeout))),
           (lambda: env.rollout(3, out={}), "out"), (lambda: env.reset(seed=-1), "seed"),
           (lambda: env.reset(seed=[1]), "seed"), (lambda: env.reset(options={"reset_mask": 1}), "options"),
           (lambda: env.publish({}), "weights"), (lambda: env.publish(3), "weights"),
           (lambda: env.publish(policy("Acrobot-v1")), "weights")]
    for call, name in bad:
        with pytest.raises((TypeError, ValueError), match=f"^{name}: expected"):
            call()
    assert env.publish(policy()) == 1 and len(env.rollout(3)) == 3
    bare = cluster()
    bare.reset()
    for call in (bare.step, lambda: bare.rollout(3), lambda: bare.stream(3), lambda: bare.publish(policy())):
        with pytest.raises(ValueError, match="^policy: expected a ClusterEnv created with .* without a policy$"):
            call()
    bare.close()
    bare.close()
    for call in (bare.reset, lambda: bare.step([0] * NUM), lambda: bare.publish(policy())):
        with pytest.raises(cypool.ClosedError):
            call()


def test_workers_whose_policies_say_different_things(cluster, tmp_path):
    env = cluster(policy=Gated("CartPole-v1", tmp_path, odd=True))
    env.reset()
    with pytest.raises(ValueError, match=r"^policy: expected the same arrays from all workers.*odd of float32"):
        env.rollout(3)


def test_a_head_that_does_not_answer_when_all_is_closed(cluster, ray_here, monkeypatch):
    env, users, remove = cluster(num_workers=1), session._users, ray_here.util.remove_placement_group

    def late(group):
        remove(group)
        raise ray_here.exceptions.GetTimeoutError

    monkeypatch.setattr(ray_here.util, "remove_placement_group", late)
    with pytest.raises(ray_here.exceptions.GetTimeoutError):
        env.close()
    env.close()
    assert session._users == users - 1


def test_a_cluster_that_has_no_place(cluster):
    with pytest.raises(TimeoutError, match="^num_workers: expected a cluster with 9 free CPUs for each of 2 workers"):
        cluster(cpus_per_worker=9, start_timeout=1)
    # and nothing is left of it
    assert cluster(cpus_per_worker=8).reset()[0].shape == (NUM, 4)


def test_workers_that_cannot_be_started(cluster, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "only_here.py").write_text("")
    import only_here  # noqa: F401

    (tmp_path / "only_here.py").unlink()
    with pytest.raises(RuntimeError, match="(?s)^worker 0 could not be started.*only_here"):
        cluster(imports=("only_here",))
    assert isinstance(cluster(), ClusterEnv)


def test_actions_that_are_dicts(cluster, walker):
    id = "walker/Levers-v0"
    env, pool = cluster(id, imports=["walker"]), cypool.make(id, num_envs=NUM, seed=7)
    assert env.action_space == pool.action_space and same(env.reset()[0], pool.reset()[0])
    for _ in range(5):
        actions = pool.action_space.sample()
        for got, want in zip(env.step(actions)[:4], pool.step(actions)[:4], strict=True):
            assert same(got, want)
    with pytest.raises(TypeError, match="^actions: expected a dict with keys push, lever"):
        env.step(np.zeros(NUM, int))
    with pytest.raises(ValueError, match="^actions: expected 6 rows, got 5"):
        env.step({name: part[:5] for name, part in actions.items()})
    with pytest.raises(ValueError, match=f"^policy: expected None, got .*: no distribution can draw {id}'s dict"):
        cluster(id, imports=["walker"], policy=policy())
