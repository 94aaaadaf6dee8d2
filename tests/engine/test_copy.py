"""`copy` has the result of `save` of one environment and `load` of another one, bit for bit."""
import re

import dm_env
import numpy as np
import pytest
from cases import CASES, contract_options_of
from markers import exhaustive, often_slow, slow
from pool_arguments import MODES
from receiving import receive_pending
from saving import NUM, Player, actions_for, make, started

import cypool
import cypool.compat.envpool as envpool
from cypool.envs import FAMILIES

pytestmark = pytest.mark.families("atari", "box2d", "dm_control", "metaworld", "minigrid", "mujoco", "vizdoom")
SOURCES, TARGETS = np.arange(NUM), np.arange(NUM, 2 * NUM)


def rows_of(env, ids):
    """Rows that `save` returns of environments, without the one number that the clock changes."""
    return [repr({**row, "episode_ns": 0}) for row in env.save(ids).rows]


def play(env, mode, needs_reset, actions):
    player = Player(env, mode)
    player.needs_reset = needs_reset
    return player.play(actions)


def assert_copies(id, mode="NextStep", num_threads=0, before=8, after=12, batch_size=None, **options):
    """Plays on with the originals, with copies of them, and with environments that loaded the same states."""
    env = started(make(id, mode, num_threads, batch_size, num_envs=2 * NUM, **options))
    player = Player(env, mode)
    player.needs_reset[:] = False
    player.play(actions_for(env, before))
    state, needs_reset = env.save(SOURCES), player.needs_reset
    want = rows_of(env, SOURCES)
    env.copy(SOURCES, TARGETS)
    assert rows_of(env, TARGETS) == want == rows_of(env, SOURCES)
    needs_reset[TARGETS] = needs_reset[SOURCES]
    # the pool that was loaded has another past
    twin = started(make(id, mode, num_threads, batch_size, **{"num_envs": 2 * NUM, "seed": 71, **options}))
    twin.load(state, SOURCES)
    twin.load(state, TARGETS)
    actions = actions_for(env, after, seed=1)
    actions[TARGETS] = actions[SOURCES]
    played, loaded = play(env, mode, needs_reset.copy(), actions), play(twin, mode, needs_reset.copy(), actions)
    for source, target in zip(SOURCES, TARGETS, strict=True):
        assert played[target] == played[source] == loaded[source]
    assert rows_of(env, TARGETS) == rows_of(env, SOURCES) == rows_of(twin, SOURCES)
    ends = sum("episode" in row for rows in played for row in rows)
    env.close()
    twin.close()
    return ends


# those without a native library, of which the first of each family is looked at by default
SMALL = [id for family in FAMILIES if CASES[family.name].is_small and family.is_installed
         for id in often_slow([entry.id for entry in family.entries(CASES[family.name].quick_ids)], 1000)]


@pytest.mark.parametrize("id", SMALL)
def test_copies_of_small_environments_continue_equally(id):
    assert assert_copies(id, "NextStep", 2, 23, 30, max_episode_steps=20, **contract_options_of(id)) > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("num_threads, batch_size", [(0, None), (1, None), (2, None), (7, None), (0, 3), (2, 3)])
@pytest.mark.parametrize("id, options", [("CartPole-v1", {}), ("LunarLander-v3", {"max_episode_steps": 20}),
                                         ("walker/Walk-v0", {}), ("walker/Walk-v0", {"debug": True})], ids=str)
def test_copies_continue_equally_in_each_mode(walker, id, options, num_threads, batch_size, mode):
    assert assert_copies(id, mode, num_threads, 23, 30, batch_size, **options) > 0


@pytest.mark.parametrize("id, options", [
    ("BabyAI-GoTo-v0", {}), *slow(("MiniGrid-DoorKey-8x8-v0", {}), ("MiniGrid-Dynamic-Obstacles-6x6-v0", {})),
    ("LunarLander-v3", {"enable_wind": True}), *slow(("BipedalWalker-v3", {}), ("CarRacing-v3", {})),
    ("Pong-v5", {}), ("MontezumaRevenge-v5", {"repeat_action_probability": 0.25}),
    ("Pitfall2-v5", {"obs_type": "ram", "ram": True}), ("Breakout-v5", {"preset": "gymnasium", "frame_skip": (2, 5)}),
    *slow(("DemonAttack-v5", {"preset": "ale", "reward_clip": True}), ("VideoCheckers-v5", {}), ("Hangman-v5", {}),
          ("Atlantis2-v5", {}), ("Pong-v5", {"gray_scale": False, "continuous": True})),
    ("Hopper-v5", {"randomize": {"body_mass": (0.5, 2.0), "geom_friction": ("scale", 0.5, 2.0)}}),
    *slow(("Ant-v5", {}), ("Humanoid-v5", {})), *exhaustive(("Walker2d-v5", {"from_pixels": True, "frame_stack": 2})),
    ("dm_control/humanoid-walk-v0", {}), *slow(*((f"dm_control/{task}-v0", {}) for task in (
        "cartpole-balance", "ball_in_cup-catch", "lqr-lqr_2_1", "quadruped-escape", "manipulator-bring_ball",
        "finger-turn_hard", "fish-swim"))),
], ids=str)
@pytest.mark.parametrize("num_threads", [2, *slow(0)])
def test_families(id, options, num_threads):
    assert_copies(id, "NextStep", num_threads, 7, 9, **options)


def test_copies_of_python_environments_continue_equally():
    env = started(cypool.make("gymnasium:CartPole-v1", num_envs=4, num_workers=2, seed=3))
    for _ in range(5):
        env.step([0, 1, 1, 0])
    env.copy(0, [1, 3])
    results = [env.step([1, 1, 0, 1]) for _ in range(30)]
    for obs, reward, terminated, truncated, info in results:
        for values in (obs, reward, terminated, truncated, info["elapsed_step"]):
            assert (values[[1, 3]] == values[0]).all()
    assert any(terminated[0] for _, _, terminated, _, _ in results)


def test_copies_have_equal_rewards_of_hooks():
    env = started(cypool.make("CartPole-v1", num_envs=3, seed=3, reward_hook=lambda batch: batch.observation[:, 0]))
    env.step([0, 1, 1])
    env.copy([2], [0])
    obs, reward, *_ = env.step([1, 1, 1])
    assert (obs[0] == obs[2]).all() and reward[0] == reward[2] != reward[1]


def test_statistics_and_random_streams():
    env = started(cypool.make("CartPole-v1", num_envs=3, seed=3, episode_statistics=True))
    for _ in range(6):
        env.step([0, 1, 1])
    env.copy(0, [1, 2])
    episodes = [info["episode"] for *_, info in (env.step([1, 1, 1]) for _ in range(60)) if "episode" in info]
    assert len(episodes) >= 3
    for episode in episodes:
        for key in "rl":
            assert len(set(episode[key])) == 1


def test_errors_of_rows_that_nobody_has_received_stay(walker):
    env = cypool.make("walker/Trouble-v0", num_envs=3, batch_size=1, num_threads=0)
    env.async_reset()
    for _ in range(3):
        env.recv()
    env.send([1], [0])
    env.copy([1], [2])
    with pytest.raises(cypool.EnvError, match="raised in step"):
        env.recv()


def test_targets_that_were_never_reset_are_filled():
    env = cypool.make("CartPole-v1", num_envs=3, seed=3)
    env.async_reset([1])
    env.recv()
    with pytest.raises(RuntimeError, match="env 0 was never reset"):
        env.copy(0, 2)
    env.copy(1, [0, 2])
    obs = env.step([1, 1, 1])[0]
    assert (obs == obs[0]).all()


@pytest.mark.parametrize("num_threads", [0, 2])
def test_bad_ids_copy_nothing(num_threads):
    env = started(cypool.make("CartPole-v1", num_envs=4, seed=3, num_threads=num_threads))
    before = rows_of(env, None)
    for source, target, error, message in [
        (0, [], ValueError, "target: expected at least one id"), (0, [4], ValueError, "target: expected ids in [0, 4)"),
        (0, [-1], ValueError, "target: expected ids in [0, 4)"),
        (0, [1, 1], ValueError, "target: expected each id once"),
        (9, [1], ValueError, "source: expected ids in [0, 4), got 9"),
        (-1, [1], ValueError, "source: expected ids in [0, 4)"), (2**40, 1, ValueError, "source: expected ids"),
        (0, [0, 1], ValueError, "source: expected ids that are not in target, got 0 in both"),
        ([0, 1], [2, 1], ValueError, "source: expected ids that are not in target, got 1"),
        ([0, 1], [2], ValueError, "source: expected a single id, or one for each of 1 targets, got 2"),
        ([], [2], ValueError, "source: expected a single id"), (0.5, 1, TypeError, "source: expected integers"),
        (True, 1, TypeError, "source"), (0, "1", TypeError, "target"), (None, 1, TypeError, "source"),
        (0, None, TypeError, "target"), ([[0]], 1, ValueError, "source: expected shape (k,)"),
    ]:
        with pytest.raises(error, match=re.escape(message)):
            env.copy(source, target)
    assert rows_of(env, None) == before
    env.send(np.zeros(4, np.int64))
    with pytest.raises(RuntimeError, match="in flight"):
        env.copy(0, 1)
    env.recv()
    env.copy(0, 1)
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.copy(0, 1)


def test_environments_with_other_options():
    env = started(cypool.make("FrozenLake-v1", num_envs=3, seed=3, env_options=[{}, {"is_slippery": False}, {}]))
    before = rows_of(env, None)
    with pytest.raises(ValueError, match="source: expected an environment with the id and options of env 1, got env 0"):
        env.copy(0, [2, 1])
    assert rows_of(env, None) == before
    env.copy(0, 2)


def test_copy_refuses_only_ids_in_flight():
    env = cypool.make("CartPole-v1", num_envs=4, batch_size=2, num_threads=1, seed=3)
    env.async_reset()
    with pytest.raises(RuntimeError, match="in flight"):
        env.copy(0, [1, 2])
    receive_pending(env)
    env.send([1], [3])
    with pytest.raises(RuntimeError, match="env 3 is in flight"):
        env.copy(3, [1, 2])
    # the others are free
    env.copy(0, [1, 2])
    env.recv()
    assert len(set(rows_of(env, [0, 1, 2]))) == 1


@pytest.mark.parametrize("num_threads", [0, 1, 2])
def test_environment_whose_copy_raises_starts_an_episode(trouble, num_threads):
    env = started(cypool.make("walker/Trouble-v0", num_envs=5, num_threads=num_threads))
    env.step([0] * 5)
    for name, error in (("save", LookupError), ("load", OSError)):
        trouble.broken.add(name)
        try:
            with pytest.raises(error, match=f"raised in {name}"):
                env.copy(0, [1, 2, 3])
        finally:
            trouble.broken.clear()
        obs, reward, _, _, info = env.step([0] * 5)
        # those that failed start an episode, the others continue
        assert info["elapsed_step"].tolist()[1:4] == [0, 0, 0] and reward.tolist()[1:4] == [0, 0, 0]
        assert obs["count"][0, 0] == obs["count"][4, 0] == info["elapsed_step"][0]
        env.copy(0, [1, 2, 3])
        assert len(set(rows_of(env, [0, 1, 2, 3]))) == 1


@pytest.mark.parametrize("num_threads", [0, 2])
def test_copy_without_save_is_refused(walker, num_threads):
    env = started(cypool.make("walker/Bare-v0", num_envs=3, num_threads=num_threads))
    env.step([0, 0, 0])
    with pytest.raises(NotImplementedError, match="Bare does not implement save"):
        env.copy(0, [1, 2])
    # nothing has changed
    assert env.step([0, 0, 0])[4]["elapsed_step"].tolist() == [2, 2, 2]


def test_copy_of_doom_is_refused_with_the_reason():
    pytest.importorskip("vizdoom")
    env = started(cypool.make("VizdoomBasic-v1", num_envs=2, seed=0))
    with pytest.raises(NotImplementedError, match="copy: ViZDoom's engine is a separate process"):
        env.copy(0, 1)
    assert env.step([0, 0])[4]["elapsed_step"].tolist() == [1, 1]


def test_copies_in_other_apis_continue_equally():
    env = started(cypool.make("CartPole-v1", "dm", num_envs=3, seed=0))
    for _ in range(4):
        env.step(np.array([1, 0, 1]))
    env.copy(0, 2)
    step = env.step(np.array([1, 0, 1]))
    obs = step.observation[0]
    assert (obs[0] == obs[2]).all() and step.step_type[2] == dm_env.StepType.MID
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=0)
    pool.reset()
    pool.copy([0], [1, 2])
    assert len(set(pool.step(np.array([1, 1, 1]))[0][:, 1])) == 1


def test_seeds_of_copies_are_not_known():
    env = cypool.make("CartPole-v1", num_envs=3)
    env.reset(seed=5)
    env.copy(0, 1)
    assert env.np_random_seed == (5, -1, 7)


def test_streams_that_are_copied(walker):
    from walker import functions

    for kind, known in ((np.random.PCG64, True), (np.random.MT19937, True), (np.random.SFC64, False)):
        source, target = kind(1), kind(2)
        before = str(target.state)
        assert functions.copy_streams(target, source) == known
        assert str(target.state) == (str(source.state) if known else before)
    assert not functions.copy_streams(np.random.PCG64(1), np.random.MT19937(1))


def test_messages_about_other_options_are_short():
    with started(cypool.make("Meta-World/MT10", seed=0)) as env:
        with pytest.raises(ValueError, match="^source: expected an environment with the id and options") as copied:
            env.copy(0, 1)
        with pytest.raises(ValueError, match="^state: expected a state of ") as loaded:
            env.load(env.save([0]), [1])
        assert len(str(copied.value)) < 700 and len(str(loaded.value)) < 700
