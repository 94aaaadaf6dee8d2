"""The three autoreset modes, and resets of some environments, as Gymnasium's own vector environment does them."""
import gymnasium
import numpy as np
import pytest
from comparing import assert_same
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pool_arguments import THREADS
from receiving import started

import cypool
import cypool.compat.envpool as envpool

pytestmark = pytest.mark.families("atari")
NUM = 5


def pair(mode, num_threads, seed):
    env = cypool.make("CartPole-v1", num_envs=NUM, num_threads=num_threads, seed=seed, autoreset_mode=mode)
    reference = SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * NUM, autoreset_mode=mode)
    assert env.metadata["autoreset_mode"] == reference.metadata["autoreset_mode"] == mode
    assert env.reset()[0].tobytes() == reference.reset(seed=seed)[0].tobytes()
    return env, reference


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("seed", [0, 5])
def test_same_step_equals_gymnasium(num_threads, seed):
    env, reference = pair(AutoresetMode.SAME_STEP, num_threads, seed)
    random = np.random.default_rng(seed)
    ends = 0
    for _ in range(600):
        actions = random.integers(0, 2, NUM)
        *got, info = env.step(actions)
        *want, expected = reference.step(actions)
        assert_same(got, want)
        ended = got[2] | got[3]
        assert ("final_obs" in info) == ("final_obs" in expected) == ended.any()
        if ended.any():
            ends += 1
            assert info["_final_obs"].tolist() == expected["_final_obs"].tolist() == ended.tolist()
            assert info["_final_info"].tolist() == expected["_final_info"].tolist()
            for a, b in zip(info["final_obs"], expected["final_obs"], strict=True):
                assert (a is None and b is None) or (a.tobytes() == b.tobytes() and a.dtype == b.dtype)
            assert (info["final_info"]["elapsed_step"][ended] > 0).all() and (info["elapsed_step"][ended] == 0).all()
            assert info["final_info"]["_elapsed_step"].tolist() == ended.tolist()
    assert ends > 100


@pytest.mark.parametrize("num_threads", THREADS)
def test_disabled_with_a_reset_mask_equals_gymnasium(num_threads):
    env, reference = pair(AutoresetMode.DISABLED, num_threads, 3)
    random = np.random.default_rng(0)
    for _ in range(1000):
        actions = random.integers(0, 2, NUM)
        got, want = env.step(actions), reference.step(actions)
        assert_same(got[:4], want[:4])
        ended = got[2] | got[3]
        if ended.any():
            with pytest.raises(RuntimeError, match="is over: reset it first"):
                env.step(actions)
            obs, info = env.reset(options={"reset_mask": ended})
            assert_same(obs, reference.reset(options={"reset_mask": ended})[0])
            assert (info["elapsed_step"][ended] == 0).all() and (info["elapsed_step"][~ended] > 0).all()


@pytest.mark.parametrize("num_threads", THREADS)
def test_a_reset_mask_under_next_step_equals_gymnasium(num_threads):
    env, reference = pair(AutoresetMode.NEXT_STEP, num_threads, 8)
    random = np.random.default_rng(1)
    for t in range(1000):
        actions = random.integers(0, 2, NUM)
        assert_same(env.step(actions)[:4], reference.step(actions)[:4])
        if t % 7 == 0:
            mask = random.random(NUM) < 0.5
            if mask.any():
                seed = None if t % 2 else t
                assert_same([env.reset(seed=seed, options={"reset_mask": mask})[0]],
                     [reference.reset(seed=seed, options={"reset_mask": mask})[0]])


@pytest.mark.parametrize("num_threads", THREADS)
def test_reset_of_some_ids(num_threads):
    env = cypool.make("CartPole-v1", num_envs=6, num_threads=num_threads, seed=0)
    whole, _ = env.reset()
    env.step([0] * 6)
    obs, info = env.reset([4, 1], seed=0)
    assert info["env_id"].tolist() == [4, 1] and obs.tobytes() == whole[[4, 1]].tobytes()
    assert env.reset([4, 1], seed=[1, 4])[0].tobytes() == whole[[1, 4]].tobytes()
    assert env.step([0] * 6)[4]["elapsed_step"].tolist() == [2, 1, 2, 2, 1, 2]


def test_reset_of_some_ids_while_others_are_in_flight():
    env = cypool.make("CartPole-v1", num_envs=6, batch_size=2, num_threads=2)
    env.async_reset()
    ids = env.recv()[4]["env_id"]
    env.async_reset(ids)
    with pytest.raises(RuntimeError, match="in flight"):
        env.async_reset(ids)
    seen = [i for _ in range(3) for i in env.recv()[4]["env_id"]]
    assert sorted(seen) == list(range(6))


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("batch_size", [4, 2])
def test_same_step_with_dicts_errors_and_batches(trouble, num_threads, batch_size):
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, num_threads=num_threads, batch_size=batch_size,
                              autoreset_mode="SameStep"))
    env.send([trouble.GO, trouble.TERMINATE], [0, 1])
    obs, reward, terminated, _, info = env.recv()
    row = info["env_id"].tolist().index(1)
    assert terminated[row] and reward[row] == 1 and obs["count"][row, 0] == 0
    assert info["final_obs"][row]["count"].tolist() == [1, -1] and info["final_obs"][1 - row] is None
    assert info["final_info"]["bytes"][row].tolist() == [1, 2, 1]
    # one whose next episode cannot start, and one that fails itself
    env.send([trouble.RAISE_STEP, trouble.FAIL_NEXT_RESET], [0, 1])
    with pytest.raises(cypool.EnvError) as caught:
        env.recv()
    assert set(caught.value.causes) == {0, 1} and caught.value.batch[3].all()
    env.send([trouble.GO] * 2, [0, 1])
    assert env.recv()[0]["count"][:, 0].tolist() == [0, 0]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_breakout_lives_under_each_mode(mode):
    env = started(cypool.make("Breakout-v5", num_envs=2, seed=0, episodic_life=True, autoreset_mode=mode))
    lives = []
    for t in range(400):
        *_, terminated, truncated, info = env.step([t % 4, 2])
        lives.append(info["lives"][0])
        if mode == "SameStep" and terminated[0]:
            assert info["elapsed_step"][0] == info["final_info"]["elapsed_step"][0] > 0 or lives[-1] == 5
        if mode == "Disabled" and terminated.any():
            env.reset(options={"reset_mask": terminated})
            if terminated[0]:
                lives.append(5)
    # an explicit reset starts a new game, the others continue it
    assert (min(lives) < 4) == (mode != "Disabled")


@pytest.mark.parametrize("id", ["CartPole-v1", "Breakout-v5", "gymnasium:CartPole-v1"])
@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_reset_mask_without_environments_resets_none(id, mode):
    options = {"num_workers": 0} if id.startswith("gymnasium") else {}
    env, twin = (cypool.make(id, num_envs=3, seed=1, autoreset_mode=mode, **options) for _ in "12")
    none = {"reset_mask": np.zeros(3, np.bool_)}
    with pytest.raises(RuntimeError, match="never reset"):
        env.reset(options=none)
    obs, info = env.reset()
    twin.reset()
    for t in range(6):
        again, now = env.reset(seed=[5, 6, 7], options=none)
        assert again.tobytes() == obs.tobytes() and now["elapsed_step"].tolist() == [t] * 3
        obs = env.step([t % 2] * 3)[0]
        assert obs.tobytes() == twin.step([t % 2] * 3)[0].tobytes()


def test_bad_arguments_of_resets_are_named():
    with pytest.raises(ValueError, match="^autoreset_mode: expected one of 'NextStep'"):
        cypool.make("CartPole-v1", autoreset_mode="Sometimes")
    env = cypool.make("CartPole-v1", num_envs=3)
    mask = np.array([True, False, False])
    with pytest.raises(RuntimeError, match="first reset"):
        env.reset(options={"reset_mask": mask})
    env.reset()
    for bad, kind in (([True, False, False], TypeError), (mask[:2], ValueError), (mask.astype(int), TypeError)):
        with pytest.raises(kind, match="^reset_mask"):
            env.reset(options={"reset_mask": bad})
    with pytest.raises(ValueError, match="^reset_mask"):
        env.reset([0], options={"reset_mask": mask})
    for bad in (5, "reset_mask", [("reset_mask", mask)]):
        with pytest.raises(TypeError, match="^options: expected a dict, None or a list of these"):
            env.reset(options=bad)
        with pytest.raises(TypeError, match="^options: expected a dict or None"):
            envpool.make_gymnasium("CartPole-v1").reset(options=bad)
    for bad, kind, message in (([{}], ValueError, "options: expected a dict or None for each of 3 environments, got 1"),
                               ([{}] * 4, ValueError, "options: expected a dict or None for each of 3"),
                               ([{}, {}, 5], TypeError, "options: expected a dict, None or a list"),
                               ([{}, None, {"x": 1}], ValueError, "options: expected only reset_mask .Cart"),
                               ([{"reset_mask": mask}] * 3, ValueError, "options: reset_mask is only valid in a dict")):
        with pytest.raises(kind, match=f"^{message}"):
            env.reset(options=bad)
    with pytest.raises(ValueError, match="^options: expected a dict or None for each of 2 environments, got 3"):
        env.reset([0, 2], options=[None] * 3)
    for bad in ([3], [-1], [1, 1], []):
        with pytest.raises(ValueError, match="^env_id"):
            env.reset(bad)
    with pytest.raises(ValueError, match="^seed"):
        env.reset([0, 1], seed=[1, 2, 3])
    with pytest.raises(TypeError, match="^seed: expected an int or a sequence of ints"):
        env.reset(seed=np.array(3))
    env = cypool.make("CartPole-v1", num_envs=3, batch_size=2)
    env.reset()
    with pytest.raises(ValueError, match="^reset_mask"):
        env.reset(options={"reset_mask": mask})
