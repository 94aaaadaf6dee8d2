"""Replay buffers: the results of calls, and their errors."""
import numpy as np
import pytest
from engine.threads import meanwhile

import cypool
from cypool.spec import Array, Group

pytestmark = pytest.mark.families("atari", "dm_control", "mujoco")


def filled(num_steps=40, *, id="CartPole-v1", num_envs=4, capacity=1000, options=None, **kwargs):
    env = cypool.make(id, num_envs=num_envs, seed=0, **(options or {}))
    env.action_space.seed(0)
    buffer = cypool.ReplayBuffer(env, capacity, **kwargs)
    buffer.reset()
    for _ in range(num_steps):
        buffer.step(env.action_space.sample())
    return buffer


def test_a_frame_is_stored_once():
    buffer = filled(30, id="Pong-v5", num_envs=2, capacity=100)
    assert len(buffer) == 60 and buffer.nbytes < 100 * (84 * 84 + 100)
    sample = buffer.sample(16)
    assert sample.obs.shape == sample.next_obs.shape == (16, 4, 84, 84)
    assert (sample.next_obs[:, :3] == sample.obs[:, 1:]).all()


@pytest.mark.parametrize("id, options", [
    ("Breakout-v5", {"max_episode_steps": 11}), ("Pong-v5", {"preset": "ale", "max_episode_steps": 9}),
    ("Pong-v5", {"stack_num": 1}), ("Pong-v5", {"gray_scale": False, "channels_last": True, "stack_num": 2}),
    ("Breakout-v5", {"obs_type": "ram", "episodic_life": True}), ("HalfCheetah-v5", {"frame_stack": 3}),
    ("dm_control/cartpole-balance-v0", {"frame_stack": 2})])
def test_stacks_of_families_are_stacks(id, options):
    env = cypool.make(id, num_envs=2, seed=3, autoreset_mode="SameStep", **options)
    buffer = cypool.ReplayBuffer(env, 400)
    obs, _ = buffer.reset()
    before, wanted, spec = env.env_spec.unpack(obs), {}, env.env_spec
    rows = [buffer._layout.padding] * 2
    for _ in range(60):
        actions = env.action_space.sample()
        obs, reward, terminated, truncated, info = buffer.step(actions)
        ended = terminated | truncated
        for i in range(2):
            last = info["final_obs"][i] if ended[i] else spec.pack([part[i] for part in spec.unpack(obs)])
            wanted[rows[i] * 2 + i] = [part[i] for part in before], spec.unpack(last), actions[i], reward[i], ended[i]
            rows[i] += 2 + buffer._layout.padding if ended[i] else 1
        before = spec.unpack(obs)
    sample = buffer.gather(list(wanted))
    for k, (obs, last, action, reward, ended) in enumerate(wanted.values()):
        for got, part in zip(spec.unpack(sample.obs), obs, strict=True):
            np.testing.assert_array_equal(got[k], part)
        for got, part in zip(spec.unpack(sample.next_obs), last, strict=True):
            np.testing.assert_array_equal(got[k], part)
        assert np.array_equal(sample.action[k], action) and sample.reward[k] == np.float32(reward)
        assert (sample.terminated[k] or sample.truncated[k]) == ended


def test_priorities():
    buffer = filled(alpha=1.0, seed=1)
    index = buffer.indices()
    assert (buffer.sample(8).weight == 1).all()
    buffer.update_priorities(index, np.where(index % 4 == 2, 9, 0))
    sample = buffer.sample(1000, beta=1.0)
    # with a chance of 1e-6
    assert (sample.index % 4 == 2).mean() > 0.995
    buffer.update_priorities(index, np.where(index % 4 == 2, 9 - 1e-6, 1 - 1e-6))
    sample = buffer.sample(1000, beta=1.0)
    often = sample.index % 4 == 2
    chosen = index % 4 == 2
    assert abs(often.mean() - 9 * chosen.sum() / (9 * chosen.sum() + (~chosen).sum())) < 0.01
    np.testing.assert_allclose(sample.weight, np.where(often, 1 / 9, 1), 1e-5)
    # a new row is as likely as the most likely one
    buffer.step(np.zeros(4, np.int64))
    newest = np.setdiff1d(buffer.indices(), index)
    drawn = np.bincount(buffer.sample(10_000).index, minlength=index.max() + 10)
    assert abs(drawn[newest].mean() / drawn[index[chosen]].mean() - 1) < 0.1


def test_added_steps_that_do_not_go_on():
    env = cypool.make("Pong-v5", num_envs=2, seed=0)
    buffer = cypool.ReplayBuffer(env, 200)
    obs, _ = env.reset()
    wanted = {}
    for t in range(12):
        if t == 7:
            # a reset of an environment in the middle of its episode
            obs[1] = env.reset([1])[0][0]
        after, reward, terminated, truncated, _ = env.step([2, 3])
        index = np.concatenate([
            buffer.add(obs[i], [[2], [3]][i[0]], reward[i], after[i], terminated[i], truncated[i], i)
            for i in ([0], [1])])
        wanted.update(zip(index.tolist(), zip(obs.copy(), after.copy(), strict=True), strict=True))
        obs = after.copy()
    sample = buffer.gather(list(wanted))
    np.testing.assert_array_equal(sample.obs, [one for one, _ in wanted.values()])
    np.testing.assert_array_equal(sample.next_obs, [two for _, two in wanted.values()])
    assert sample.index[sample.is_first].tolist() == [6, 7, 29]


def test_all_rows_are_drawn_evenly():
    env = cypool.make("CartPole-v1", num_envs=4, seed=0)
    buffer = cypool.ReplayBuffer(env, 1000, seed=0)
    buffer.reset()
    # one environment has few rows
    for _ in range(50):
        buffer.step(np.zeros(3, np.int64), [0, 1, 2])
    buffer.step(np.zeros(4, np.int64))
    count = len(buffer)
    drawn = np.bincount(np.searchsorted(np.sort(buffer.indices()), buffer.sample(200 * count).index), minlength=count)
    assert drawn.min() > 130 and drawn.max() < 280


def test_equal_seeds_draw_equal_rows():
    one, two = (filled(seed=7) for _ in "12")
    assert (one.sample(50).index == two.sample(50).index).all()


def test_indices_of_lost_rows():
    buffer = filled(capacity=100, alpha=1.0)
    old = buffer.indices()
    for _ in range(40):
        buffer.step(np.zeros(4, np.int64))
    lost = np.setdiff1d(old, buffer.indices())
    assert len(lost) > 0
    with pytest.raises(ValueError, match="index: expected existing rows, got"):
        buffer.gather(lost)
    # the rows that took their places keep their priorities
    buffer.update_priorities(lost, np.full(len(lost), 1e9))
    assert (buffer.sample(20).weight == 1).all()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_relabelled_goals(walker, mode):
    env = cypool.make("walker/Frames-v0", num_envs=3, seed=0, autoreset_mode=mode)
    buffer = cypool.ReplayBuffer(env, 600, n_sampled_goal=4, seed=2, gamma=0.5)
    buffer.reset()
    for _ in range(60):
        actions = env.action_space.sample()
        actions["what"][:] = 0
        *_, terminated, truncated, _ = buffer.step(actions)
        if mode == "Disabled" and (terminated | truncated).any():
            buffer.reset(np.flatnonzero(terminated | truncated))
    sample = buffer.sample(4000)
    own = buffer.gather(sample.index)
    goal, reached = sample.next_obs["desired_goal"][:, 0], sample.next_obs["achieved_goal"][:, 0]
    changed = goal != own.obs["desired_goal"][:, 0]
    assert 0.77 < changed.mean() < 0.83
    assert (sample.obs["desired_goal"][:, 0] == goal).all() and (sample.reward[~changed] == own.reward[~changed]).all()
    # of the same episode, which has nine steps, and not before the step
    ahead = (goal - reached)[changed]
    assert ahead.min() == 0 and ahead.max() <= 8 and (sample.reward[changed] == -ahead).all()
    assert (sample.terminated[changed] == (ahead < 3)).all()
    assert (sample.discount[changed] == np.where(ahead < 3, 0, 0.5)).all()
    for name in ("plain", "outer", "inner", "achieved_goal"):
        np.testing.assert_array_equal(sample.obs[name], own.obs[name])


def test_samples_after_the_pool_is_closed():
    buffer = filled(options={"num_threads": 2})
    buffer.sample(3)
    buffer.env.close()
    assert buffer.sample(100).obs.shape == (100, 4)
    with pytest.raises(cypool.ClosedError):
        buffer.step(np.zeros(4, np.int64))


def test_threads_of_several_pools():
    with cypool.ThreadPool(2) as threads:
        buffer = filled(options={"thread_pool": threads})
        buffer.sample(300)
        buffer.env.close()
    assert buffer.sample(300).obs.shape == (300, 4)


@pytest.mark.parametrize("batch_size", [4, 2])
def test_a_learner_in_another_thread(walker, batch_size):
    env = cypool.make("walker/Frames-v0", num_envs=4, batch_size=batch_size, num_threads=2, seed=0)
    buffer = cypool.ReplayBuffer(env, 400, seed=0)
    buffer.async_reset()

    def learn():
        sample = buffer.sample(64)
        assert (sample.next_obs["outer"][:, :2] == sample.obs["outer"][:, 1:]).all()

    def play(num_steps):
        for _ in range(num_steps):
            _, _, _, _, info = buffer.recv()
            buffer.send({"what": np.zeros(batch_size, np.int64), "push": np.zeros((batch_size, 2), np.float32)},
                        info["env_id"])

    play(20)
    with meanwhile(learn):
        play(480)


def test_a_call_that_fails_stores_nothing():
    buffer = filled(5)
    count = len(buffer)
    with pytest.raises(ValueError, match="expected"):
        buffer.step(np.full(4, 9))
    with pytest.raises(RuntimeError, match="nothing is pending"):
        buffer.recv()
    assert len(buffer) == count


def test_a_hook_whose_observation_is_no_stack(walker):
    spec = cypool.make_spec("Pong-v5")
    env = cypool.make("Pong-v5", num_envs=2, seed=0, observation_hook=(lambda obs: 255 - obs, spec.observation))
    buffer = cypool.ReplayBuffer(env, 50)
    first, _ = buffer.reset()
    obs, *_ = buffer.step([0, 0])
    sample = buffer.gather(np.sort(buffer.indices()))
    np.testing.assert_array_equal(sample.obs, first)
    np.testing.assert_array_equal(sample.next_obs, obs)


def test_memory_of_samples_is_used_again():
    buffer = filled()
    assert len({buffer.sample(32).obs.ctypes.data for _ in range(20)}) == 1
    one = buffer.sample(32)
    before = one.obs.copy()
    for _ in range(20):
        buffer.sample(32)
    np.testing.assert_array_equal(one.obs, before)


@pytest.mark.parametrize("kwargs, message", [
    ({"capacity": 7}, "capacity: expected 8 to"), ({"capacity": 1.5}, "capacity: expected an int"),
    ({"capacity": 2**47}, "capacity: expected a buffer that fits in memory"),
    ({"n_step": 0}, "n_step: expected 1 to"),
    ({"gamma": 1.5}, "gamma: expected 0"), ({"gamma": np.nan}, "gamma: expected 0"), ({"alpha": -1}, "alpha: expected"),
    ({"sequence_length": 0}, "sequence_length: expected 1 to"), ({"seed": -1}, "seed: expected"),
    ({"sequence_length": 300}, "capacity: expected 1204 to"),
    ({"sequence_length": 3, "n_step": 2}, "n_step: expected 1 with sequences"),
    ({"n_sampled_goal": 4}, "n_sampled_goal: expected 0 for CartPole-v1, which has no goals")])
def test_arguments_are_checked(kwargs, message):
    env = cypool.make("CartPole-v1", num_envs=4)
    with pytest.raises((TypeError, ValueError), match=message):
        cypool.ReplayBuffer(env, **{"capacity": 1000, **kwargs})


def test_wrong_pools():
    with pytest.raises(TypeError, match="env: expected a pool, got None"):
        cypool.ReplayBuffer(None, 10)
    env = cypool.make("CartPole-v1", normalize_obs=True)
    obs, buffer = env.reset()[0], cypool.ReplayBuffer(env, 10)
    with pytest.raises(ValueError, match="^add: expected a pool without normalization"):
        buffer.add(obs, [0], [1.0], obs, [False], [False])


@pytest.mark.parametrize("kwargs", [{}, {"n_step": 3}, {"sequence_length": 5}], ids=str)
@pytest.mark.parametrize("id, given", [
    ("HalfCheetah-v5", {"normalize_obs": True, "normalize_reward": True}), ("Pong-v5", {"normalize_obs": True}),
    ("CartPole-v1", {"normalize_reward": True})])
def test_samples_of_a_pool_that_normalizes_are_normalized_by_its_statistics(id, given, kwargs):
    options = {"max_episode_steps": 12, "autoreset_mode": "SameStep"}
    raw = filled(30, id=id, num_envs=2, seed=5, options=options, **kwargs)
    buffer = filled(30, id=id, num_envs=2, seed=5, options=options | given, **kwargs)
    env = buffer.env
    for turn in range(2):
        sample, wanted = buffer.sample(40), raw.sample(40)
        statistics = env.normalization()
        assert (sample.index == wanted.index).all() and (sample.discount == wanted.discount).all()
        for name in ("obs", "next_obs"):
            got, want = getattr(sample, name), getattr(wanted, name)
            if want is not None and statistics["obs"] is not None:
                want = (want - statistics["obs"]["mean"]) / np.sqrt(statistics["obs"]["var"] + env.epsilon)
                want = want.astype(np.float32)
            assert (got is None and want is None) or np.array_equal(got, want)
        scale = np.sqrt(statistics["reward"]["var"] + env.epsilon) if statistics["reward"] else 1
        assert np.array_equal(sample.reward, (wanted.reward / scale).astype(np.float32))
        # the same rows, by later statistics
        for _ in range(3 * (turn == 0)):
            actions = env.action_space.sample()
            buffer.step(actions), raw.step(actions)
    index = buffer.indices()[:3]
    assert np.array_equal(buffer.gather(index).action, raw.gather(index).action)
    if not kwargs.get("sequence_length"):
        for got, want in zip(buffer.episodes(), raw.episodes(), strict=True):
            assert np.array_equal(got.obs, want.obs) and np.array_equal(got.reward, want.reward)


@pytest.mark.parametrize("call, message", [
    (lambda b: b.sample(0), "n: expected 1 to"), (lambda b: b.sample(True), "n: expected an int"),
    (lambda b: b.sample(2**40), "n: expected 1 to"), (lambda b: b.sample(4, beta=2), "beta: expected 0"),
    (lambda b: b.gather([]), "index: expected 1 to"), (lambda b: b.gather([-1]), "index: expected existing rows"),
    (lambda b: b.gather([2**62]), "index: expected existing rows"),
    (lambda b: b.gather(np.array([2**64 - 1], np.uint64)), "index: expected existing rows"),
    (lambda b: b.gather([0.5]), "index: expected 1 to"), (lambda b: b.gather([[0]]), "index: expected 1 to"),
    (lambda b: b.gather(None), "index: expected"),
    (lambda b: b.update_priorities([0], [1, 2]), "priority: expected 1 numbers"),
    (lambda b: b.update_priorities([0], [-1]), "priority: expected numbers from 0"),
    (lambda b: b.update_priorities([0], [np.nan]), "priority: expected numbers from 0"),
    (lambda b: b.update_priorities([0], [np.inf]), "priority: expected numbers from 0"),
    (lambda b: b.update_priorities([0], "x"), "priority: expected")])
def test_arguments_of_calls_are_checked(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(filled(5, alpha=0.5))


def test_priorities_without_any():
    with pytest.raises(ValueError, match="expected a buffer with priorities"):
        filled(5).update_priorities([0], [1])


@pytest.mark.parametrize("stack", [(1, 3), (-1, 2), (0, 0), (0, 5)])
def test_stacks_are_checked(stack):
    with pytest.raises(ValueError, match="stack: expected"):
        Array((4,), np.uint8, stack=stack)


def test_stacks_of_agents():
    group = Group(2, Array((4, 3), np.uint8, stack=(0, 4)), Array((1,), np.float32))
    assert group.of_all("observation").stack == (1, 4)
    assert Array((4,), np.uint8, stack=(0, 1)).stack is None
