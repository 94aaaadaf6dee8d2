"""Single precision: the same game on any thread, and with any number of environments at once."""
import numpy as np
import pytest
from family_tests import continues, refuses
from receiving import started

import cypool

IDS = ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v0", "Pendulum-v1", "Acrobot-v1"]


def actions_of(env, rng, num_envs):
    space = env.single_action_space
    if hasattr(space, "n"):
        return rng.integers(0, space.n, num_envs)
    return rng.uniform(space.low, space.high, (num_envs, *space.shape)).astype(np.float32)


def play(id, num_steps, num_envs=37, seed=0, reset_ended=False, **options):
    env = cypool.make(id, num_envs=num_envs, seed=seed, **options)
    rng = np.random.default_rng(1)
    rows = [env.reset()[0]]
    for _ in range(num_steps):
        obs, reward, terminated, truncated, info = env.step(actions_of(env, rng, num_envs))
        rows += [obs, reward, terminated, truncated, info["elapsed_step"]]
        if reset_ended and (terminated | truncated).any():
            rows.append(env.reset(options={"reset_mask": terminated | truncated})[0])
    env.close()
    return rows


def equal(a, b):
    return len(a) == len(b) and all((x == y).all() for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("id", IDS)
def test_steps_are_close_to_the_exact_ones(id):
    # a few steps: the error by rounding grows from step to step
    exact, fast = play(id, 10), play(id, 10, precision="fast")
    for a, b in zip(exact, fast, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-4)
    assert not equal(exact, fast), "precision='fast' is to be something else"


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("id", IDS)
def test_results_do_not_depend_on_threads(id, mode):
    kwargs = {"precision": "fast", "autoreset_mode": mode, "max_episode_steps": 23, "reset_ended": mode == "Disabled"}
    one = play(id, 120, num_threads=0, **kwargs)
    for num_threads in (1, 2, 5):
        assert equal(one, play(id, 120, num_threads=num_threads, **kwargs))


@pytest.mark.parametrize("id", IDS)
def test_an_environment_alone_steps_as_among_others(id):
    pool = cypool.make(id, num_envs=19, seed=5, precision="fast")
    alone = [cypool.make(id, num_envs=1, seed=5 + i, precision="fast") for i in range(19)]
    subset = cypool.make(id, num_envs=19, seed=5, precision="fast")
    rng = np.random.default_rng(0)
    pool.reset()
    subset.reset()
    for env in alone:
        env.reset()
    order = rng.permutation(19)
    for _ in range(60):
        actions = actions_of(pool, rng, 19)
        obs, reward, terminated, truncated, _ = pool.step(actions)
        for i, env in enumerate(alone):
            own = env.step(actions[i:i + 1])
            assert equal(own[:4], [obs[i:i + 1], reward[i:i + 1], terminated[i:i + 1], truncated[i:i + 1]])
        for ids in (order[:7], order[7:]):
            rows = subset.step(actions[ids], ids)
            assert equal(rows[:4], [obs[ids], reward[ids], terminated[ids], truncated[ids]])


@pytest.mark.parametrize("id", IDS)
def test_asynchronous_results_are_the_same(id):
    pool = cypool.make(id, num_envs=8, seed=5, precision="fast")
    later = cypool.make(id, num_envs=8, batch_size=3, num_threads=2, seed=5, precision="fast")
    rng = np.random.default_rng(0)
    table = np.stack([actions_of(pool, rng, 8) for _ in range(200)])
    seen = [[pool.reset()[0]]]
    seen += [pool.step(actions)[:4] for actions in table]
    later.async_reset()
    steps = np.zeros(8, int)
    for _ in range(400):
        obs, reward, terminated, truncated, info = later.recv()
        ids = info["env_id"]
        for row, i in enumerate(ids):
            assert (obs[row] == seen[steps[i]][0][i]).all()
            if steps[i]:
                assert reward[row] == seen[steps[i]][1][i] and terminated[row] == seen[steps[i]][2][i]
        later.send(table[steps[ids], ids], ids)
        steps[ids] += 1


@pytest.mark.parametrize("id", IDS)
def test_statistics_are_those_of_the_exact_one(id):
    returns, lengths = {}, {}
    for precision in ("exact", "fast"):
        env = started(cypool.make(id, num_envs=1000, seed=0, precision=precision, episode_statistics=True,
                                  max_episode_steps=120))
        rng = np.random.default_rng(2)
        returns[precision], lengths[precision] = [], []
        for _ in range(400):
            info = env.step(actions_of(env, rng, 1000))[4]
            if "episode" in info:
                returns[precision] += info["episode"]["r"][info["_episode"]].tolist()
                lengths[precision] += info["episode"]["l"][info["_episode"]].tolist()
    for values in (returns, lengths):
        exact, fast = np.array(values["exact"]), np.array(values["fast"])
        assert len(exact) > 2000
        # the same starts and actions: they differ by less than two samples would
        error = exact.std() / np.sqrt(len(exact))
        assert abs(exact.mean() - fast.mean()) <= error and abs(exact.std() - fast.std()) <= max(error, 1e-9)


test_save_and_load = continues([(id, "NextStep", {}) for id in IDS], before=15, after=40, precision="fast",
                             max_episode_steps=30)


def test_a_state_of_the_other_precision_is_refused():
    env = started(cypool.make("CartPole-v1", num_envs=9, precision="fast"))
    with pytest.raises(ValueError, match="^state"):
        cypool.make("CartPole-v1", num_envs=9).load(env.save())


def test_both_precisions_in_one_pool():
    mixed = cypool.make("CartPole-v1", num_envs=4, seed=0,
                        env_options=[{"precision": p} for p in ("exact", "fast", "exact", "fast")])
    pools = {p: cypool.make("CartPole-v1", num_envs=4, seed=0, precision=p) for p in ("exact", "fast")}
    for env in (mixed, *pools.values()):
        env.reset()
    rng = np.random.default_rng(0)
    for _ in range(50):
        actions = rng.integers(0, 2, 4)
        obs = mixed.step(actions)[0]
        exact, fast = (pool.step(actions)[0] for pool in pools.values())
        assert (obs[::2] == exact[::2]).all() and (obs[1::2] == fast[1::2]).all()


test_wrong_precision = refuses(
    [({"precision": value}, ValueError, "^precision: expected one of 'exact', 'fast'")
     for value in ("double", 1, None, True)], "CartPole-v1")
