"""`rollout` equals as many calls of `step`, bit for bit, and `search` equals `load` and `rollout`."""
import copy
import pickle
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from comparing import assert_same
from gymnasium.vector import AutoresetMode
from interrupting import alarms
from markers import exhaustive, slow
from pool_arguments import THREADS
from receiving import started
from waiting import run_program

import cypool
from cypool.features.rollouts import RolloutBuffers

pytestmark = pytest.mark.families("atari", "box2d", "mujoco", "vizdoom")
NUM = 7
IDS = [("CartPole-v1", {}), ("LunarLander-v3", {"max_episode_steps": 20, "episode_statistics": True}), ("Taxi-v4", {}),
       ("Blackjack-v1", {}), ("walker/Walk-v0", {}),
       *slow(("Pong-v5", {"max_episode_steps": 20}), ("Hopper-v5", {}), ("Pendulum-v1", {"max_episode_steps": 9}))]


# one worker for this pool, whatever threads others have
PYTHON = "gymnasium:CartPole-v1", {"num_workers": 1}


def pools(id, count=2, **options):
    made = [cypool.make(id, **{"num_envs": NUM, "seed": 3, **options}) for _ in range(count)]
    for env in made:
        env.reset()
    return made


def sample(env, steps):
    env.action_space.seed(5)
    return np.stack([env.action_space.sample() for _ in range(steps)])


def compare(env, rollout, twin, actions, every=1):
    """Asserts that a rollout equals the steps of `twin`."""
    unpack, spec = twin.env_spec.unpack, twin.env_spec
    steps, ended = len(actions), 0
    observed = [t for t in range(steps) if t % every == every - 1 or t == steps - 1]
    assert len(rollout) == steps and all(len(part) == len(observed) for part in unpack(rollout.next_obs))
    # it resets none, and shows all as they are
    seen, _ = twin.reset(options={"reset_mask": np.zeros(twin.num_envs, bool)})
    over = np.zeros(twin.num_envs, bool)
    for t in range(steps):
        if t % every == 0:
            for got, want in zip(unpack(rollout.obs), unpack(seen), strict=True):
                assert_same(got[t // every], want)
        obs, reward, terminated, truncated, info = twin.step(actions[t])
        for got, want in ((rollout.reward, reward), (rollout.terminated, terminated), (rollout.truncated, truncated)):
            assert_same(got[t], want)
        # what starts an episode is no transition
        assert_same(rollout.valid[t], ~over if twin.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
                    else np.ones(twin.num_envs, bool)) if t else None
        seen, over = obs, terminated | truncated
        ended += over.sum()
        row = observed.index(t) if t in observed else None
        if row is not None:
            for got, want in zip(unpack(rollout.next_obs), unpack(obs), strict=True):
                assert_same(got[row], want)
        for key in ("env_id", "elapsed_step", *spec.info):
            where = row if key in spec.info else t
            if where is not None:
                assert_same(rollout.info[key][where], info[key])
        if "episode" in info:
            assert_same(rollout.info["episode"]["r"][t], info["episode"]["r"])
            assert_same(rollout.info["_episode"][t], info["_episode"])
        if "final_obs" in info and every == 1:
            for i in np.flatnonzero(over):
                for got, want in zip(unpack(rollout.info["final_obs"]), unpack(info["final_obs"][i]), strict=True):
                    assert (got[t, i] == want).all()
                assert_same(rollout.info["final_info"]["elapsed_step"][t, i], info["final_info"]["elapsed_step"][i])
    for got, want in zip(unpack(rollout.last_obs), unpack(seen), strict=True):
        assert_same(got, want)
    return ended


@pytest.mark.parametrize("id, options, num_threads", [
    *(pytest.param(*each.values, num_threads, marks=each.marks) if hasattr(each, "marks") else (*each, num_threads)
      for each in IDS for num_threads in THREADS),
    (*PYTHON, 0), *slow(*((*PYTHON, num_threads) for num_threads in THREADS[1:]))], ids=str)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_rollout_equals_steps(walker, id, options, mode, num_threads):
    if "num_workers" not in options:
        options = {**options, "num_threads": num_threads}
    env, twin = pools(id, autoreset_mode=mode, **options)
    actions = sample(env, 90)
    ended = compare(env, env.rollout(actions[:40]), twin, actions[:40])
    buffers = env.rollout_buffers(40)
    assert env.rollout(actions[40:80], buffers) is buffers
    ended += compare(env, buffers, twin, actions[40:80])
    compare(env, env.rollout(actions[80:], observe=4), twin, actions[80:], 4)
    compare(env, env.rollout(actions[:11], observe="last"), twin, actions[:11], 11)
    compare(env, env.rollout(actions[:1]), twin, actions[:1])
    assert ended > 0 or "Taxi" in id
    # the environments are where the twin's are
    for got, want in zip(env.step(actions[0])[1:4], twin.step(actions[0])[1:4], strict=True):
        assert_same(got, want)
    env.close(), twin.close()


@pytest.mark.parametrize("id, num_threads", [
    *((id, num_threads) for id in ("CartPole-v1", "walker/Walk-v0") for num_threads in THREADS), (PYTHON[0], 0),
    *slow(*((PYTHON[0], num_threads) for num_threads in THREADS[1:]))])
def test_an_environment_stays_where_its_episode_ends(walker, id, num_threads):
    options = {"num_workers": 1} if id.startswith("gymnasium:") else {"num_threads": num_threads}
    env, twin = pools(id, autoreset_mode="Disabled", **options)
    actions = sample(env, 120)
    rollout = env.rollout(actions)
    ended = rollout.terminated | rollout.truncated
    assert (ended.sum(axis=0) == 1).all()
    last = ended.argmax(axis=0)
    for i in range(NUM):
        ids = [i]
        for t in range(last[i] + 1):
            obs, reward, *_ = twin.step(actions[t, ids], ids)
            assert_same(rollout.next_obs[t, ids], obs)
            assert_same(rollout.reward[t, ids], reward)
        assert (rollout.next_obs[last[i]:, i] == obs).all() and not rollout.reward[last[i] + 1:, i].any()
    with pytest.raises(RuntimeError, match="the episode of env 0 is over: reset it first"):
        env.rollout(actions)
    env.reset()
    env.rollout(actions[:3])


def test_with_a_hook_in_python():
    options = {"reward_hook": lambda batch: batch.reward * 2 + batch.observation[:, 0]}
    env, twin = pools("CartPole-v1", **options)
    actions = sample(env, 60)
    assert not env.engine_rollouts
    assert compare(env, env.rollout(actions), twin, actions) > 0


def test_actions_that_are_dicts():
    env, twin = pools("VizdoomMyWayHome-v1", num_envs=2, num_threads=2,
                      config={"available_buttons": ["MOVE_FORWARD", "TURN_LEFT_RIGHT_DELTA"]})
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(5)]
    rollout = env.rollout({key: np.stack([each[key] for each in actions]) for key in actions[0]})
    for t, each in enumerate(actions):
        obs, reward, *_ = twin.step(each)
        assert_same(rollout.next_obs["screen"][t], obs["screen"])
        assert_same(rollout.reward[t], reward)
    with pytest.raises(TypeError, match="actions: expected a dict with keys .*, got array"):
        env.rollout(np.zeros((3, 2)))


@pytest.mark.parametrize("num_threads", THREADS)
def test_errors_name_the_env_and_its_first_step(trouble, num_threads):
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, num_threads=num_threads, seed=0))
    actions = np.full((6, 4), trouble.GO)
    actions[2, 1] = actions[3, 3] = actions[5, 1] = trouble.RAISE_STEP
    with pytest.raises(cypool.EnvError, match="env 1, step 2: ") as caught:
        env.rollout(actions)
    rollout = caught.value.batch
    assert isinstance(rollout, RolloutBuffers) and caught.value.steps == {1: 2, 3: 3}
    assert rollout.truncated[2].tolist() == [False, True, False, False] and rollout.truncated[3, 3]
    # the next step started an episode
    assert rollout.info["elapsed_step"][3, 1] == 0 and rollout.info["elapsed_step"][3, 0] == 4
    assert not env.rollout(actions[:2]).truncated.any()


@pytest.mark.parametrize("num_threads", THREADS)
def test_rollout_out_of_time_raises(num_threads):
    (env,) = pools("CartPole-v1", 1, num_threads=num_threads)
    actions = sample(env, 500)
    with pytest.raises(TimeoutError, match="rollout: did not finish within 0"):
        env.rollout(actions, timeout=0)
    (twin,) = pools("CartPole-v1", 1)
    env.reset(seed=3), twin.reset(seed=3)
    compare(env, env.rollout(actions, timeout=1e6), twin, actions)


@pytest.mark.parametrize("num_threads", [0, 2])
def test_ctrl_c_ends_a_rollout(num_threads):
    (env,) = pools("Pong-v5", 1, num_envs=2, num_threads=num_threads)
    actions = np.zeros((2000, 2), int)
    with alarms(signal.default_int_handler, 0.1), pytest.raises(KeyboardInterrupt):
        for _ in range(10_000):
            env.rollout(actions, observe="last")
    env.reset(seed=1)
    twin = cypool.make("Pong-v5", num_envs=2)
    twin.reset(seed=1)
    compare(env, env.rollout(actions[:5]), twin, actions[:5])


def test_earlier_rollouts_do_not_change():
    (env,) = pools("CartPole-v1", 1)
    actions = sample(env, 20)
    first = env.rollout(actions)
    kept = first.next_obs.copy(), first.reward.copy(), first.info["elapsed_step"].copy()
    for _ in range(4):
        env.rollout(actions)
    assert_same((first.next_obs, first.reward, first.info["elapsed_step"]), kept)
    buffers = env.rollout_buffers(20)
    assert buffers.info == {}
    seen = env.rollout(actions, buffers).info["elapsed_step"].copy()
    assert (env.rollout(actions, buffers).info["elapsed_step"] != seen).any()


def test_bad_input_of_rollout_steps_nothing():
    (env,) = pools("CartPole-v1", 1)
    actions = sample(env, 4)
    for bad, error, message in [
            (np.zeros((0, NUM), int), ValueError, r"actions: expected shape \(T, 7\) for T >= 1 .*, got"),
            (np.zeros(NUM, int), ValueError, "actions: expected shape"),
            (3, ValueError, "actions: expected shape .* or just T with policy=, got 3$"),
            (np.zeros((4, NUM + 1), int), ValueError, "actions: expected shape"),
            (np.full((4, NUM), 2), ValueError, r"actions: expected integers in \[0, 2\), got 2"),
            (np.zeros((4, NUM)), TypeError, "actions: expected integers"),
            (np.broadcast_to(np.zeros(1, int), (2**31, NUM)), ValueError, r"actions: expected fewer than 2\*\*31 rows"),
            (object(), ValueError, "actions: expected"), ({"a": actions}, TypeError, "actions: expected")]:
        with pytest.raises(error, match=message):
            env.rollout(bad)
    for bad in (0, -1, 1.5, "first", None):
        with pytest.raises((TypeError, ValueError), match="^observe: expected"):
            env.rollout(actions, observe=bad)
    for bad in (-1, float("nan"), "soon"):
        with pytest.raises((TypeError, ValueError), match="^timeout: expected"):
            env.rollout(actions, timeout=bad)
    other = cypool.make("Pendulum-v1", num_envs=NUM).rollout_buffers(4)
    for bad in (env.rollout_buffers(3), other, 5):
        with pytest.raises((TypeError, ValueError), match="^out: expected"):
            env.rollout(actions, bad)
    buffers = env.rollout_buffers(4)
    buffers.reward = buffers.reward.astype(np.float32)
    with pytest.raises(ValueError, match="out: expected a writeable C-contiguous array of float64"):
        env.rollout(actions, buffers)
    with pytest.raises(ValueError, match="out: expected None with observe='last'"):
        env.rollout(actions, env.rollout_buffers(4), observe="last")
    buffers = env.rollout_buffers(4)
    buffers.terminated = buffers.truncated
    with pytest.raises(ValueError, match="out: expected arrays .*do not overlap in memory"):
        env.rollout(actions, buffers)
    with pytest.raises(ValueError, match="rollout: expected a synchronous pool"):
        cypool.make("CartPole-v1", num_envs=4, batch_size=2).rollout(actions)
    with pytest.raises(RuntimeError, match="was never reset"):
        cypool.make("CartPole-v1", num_envs=NUM).rollout(actions)
    # nothing of this has stepped an environment
    assert (env.rollout(actions).info["elapsed_step"][0] == 1).all()
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.rollout(actions)


# ---- search


@pytest.mark.parametrize("num_envs", [1, 4, 10, 64])
@pytest.mark.parametrize("id", ["CartPole-v1", "FrozenLake-v1", "InvertedPendulum-v5", *slow("Pong-v5")])
def test_search_tries_every_sequence(id, num_envs):
    env = started(cypool.make(id, num_envs=2, seed=4))
    env.step(sample(env, 1)[0])
    state = env.save([1])
    planner = cypool.make(id, num_envs=num_envs, num_threads=2, seed=9, autoreset_mode="Disabled")
    actions = np.swapaxes(sample(cypool.make(id, num_envs=10), 25), 0, 1)
    futures = planner.search(state, actions)
    assert futures.reward.shape == (10,)
    for k in range(10):
        env.load(state)
        total = 0.0
        for t in range(25):
            obs, reward, terminated, truncated, _ = env.step(actions[k, t][None], [1])
            total += reward[0]
            if terminated[0] or truncated[0]:
                break
        assert futures.reward[k] == total and futures.length[k] == t + 1
        assert futures.terminated[k] == terminated[0] and futures.truncated[k] == truncated[0]
        assert (futures.obs[k] == obs[0]).all()


@pytest.mark.slow
def test_the_example_plans_better_than_chance(tmp_path):
    example = Path(__file__).parents[2] / "examples" / "mpc_robots.py"
    done = run_program(sys.executable, example, "--num-steps", "60", "--num-threads", "2", check=True, cwd=tmp_path)
    # random actions have less than zero
    assert float(re.search(r"^return (\S+) in 60 steps", done.stdout, re.MULTILINE)[1]) > 20


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["--env-id Taxi-v4", *exhaustive(
    "--env-id Boxing-v5 --num-steps 50 --hold 2 --horizon 20 --rounds 2")])
def test_the_tree_search_beats_chance(tmp_path, arguments):
    example = Path(__file__).parents[2] / "examples" / "mcts.py"
    done = run_program(sys.executable, example, "--num-threads", "2", *arguments.split(), check=True, cwd=tmp_path)
    found = re.search(r"return (\S+) in .* (\S+) on average, (\S+) at best", done.stdout)
    mine, mean, best = map(float, found.groups())
    assert mine > best and mine > mean + (500 if "Taxi-v4" in arguments else 4)


def test_bad_input_of_search():
    (env,) = pools("CartPole-v1", 1)
    planner = cypool.make("CartPole-v1", num_envs=3, autoreset_mode="Disabled")
    actions = np.zeros((5, 4), int)
    with pytest.raises(ValueError, match="search: expected a synchronous pool with autoreset_mode='Disabled'"):
        env.search(env.save([0]), actions)
    with pytest.raises(ValueError, match="search: expected a synchronous pool with autoreset_mode='Disabled'"):
        cypool.make("CartPole-v1", num_envs=3, batch_size=2, autoreset_mode="Disabled").search(env.save([0]), actions)
    with pytest.raises(TypeError, match="state: expected a state returned by save"):
        planner.search(3, actions)
    with pytest.raises(ValueError, match="state: expected the state of one environment, got 7"):
        planner.search(env.save(), actions)
    with pytest.raises(ValueError, match="state: expected a state of CartPole-v1"):
        planner.search(started(cypool.make("Acrobot-v1")).save(), actions)
    for bad in (np.zeros(5, int), np.zeros((0, 4), int), np.zeros((5, 0), int), np.zeros((5, 4, 1), int), 3):
        with pytest.raises((TypeError, ValueError), match="actions: expected"):
            planner.search(env.save([0]), bad)
    assert planner.search(env.save([0]), actions).length.tolist() == [4] * 5


def test_rollout_calls_few_functions():
    """Twenty: with a hundred, 128 steps of one CartPole took 53 us, of which the engine had 9."""
    env, = pools("CartPole-v1", 1, num_envs=1)
    actions, events = sample(env, 128), []
    env.rollout(actions)
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, arg: events.append(event))
    try:
        env.rollout(actions)
    finally:
        sys.setprofile(before)
    assert sum(event in ("call", "c_call") for event in events) < 40


def test_messages_of_search_name_both_axes():
    with started(cypool.make("Pendulum-v1", num_envs=4, autoreset_mode="Disabled", seed=0)) as env:
        state = env.save([0])
        with pytest.raises(ValueError, match=r"expected shape \(K, T, 1\) for K >= 1 sequences .* got \(256, 30\)"):
            env.search(state, np.zeros((256, 30), np.float32))
        found = env.search(state, np.zeros((256, 3, 1), np.float32))
        assert repr(found).startswith("SearchResult(256 sequences, best reward ") and len(repr(found)) < 100
        with pytest.raises(ValueError, match=r"expected shape \(T, 4, 1\) for T >= 1 steps of 4 envs"):
            env.rollout(np.zeros((4, 1), np.float32))


@pytest.mark.parametrize("options", [{"autoreset_mode": "SameStep"}, {"reward_hook": lambda batch: batch.reward}])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_a_copy_of_buffers_has_the_infos(options, copied):
    env = started(cypool.make("CartPole-v1", num_envs=2, max_episode_steps=3, **options))
    actions = np.ones((4, 2), int)
    made, want = env.rollout(actions), env.rollout(actions)
    again = copied(made)
    assert made.info.keys() == again.info.keys() == want.info.keys() >= {"env_id", "elapsed_step"}
    assert again.obs.tobytes() == made.obs.tobytes()
    # another rollout has others
    assert env.rollout(actions, out=again).info["elapsed_step"].shape == (4, 2)
