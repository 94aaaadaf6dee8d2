"""Saved states: episodes continue from one as they did when it was saved, bit for bit."""
import copy
import hashlib
import pickle
import time

import dm_env
import numpy as np
import pytest
from cases import CASES, contract_options_of
from markers import often_slow
from pool_arguments import MODES
from saving import NUM, Player, actions_for, assert_goes_on, make, started

import cypool
import cypool.compat.envpool as envpool
from cypool.envs import FAMILIES
from cypool.state import State

pytestmark = pytest.mark.families("atari")

# num_threads, batch_size of NUM environments
CREWS = [(0, 5), (1, 5), (2, 5), (5, 5), (0, 2), (1, 2), (2, 2), (5, 3)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("num_threads", "batch_size"), CREWS)
@pytest.mark.parametrize(("id", "options"), [
    ("CartPole-v1", {"max_episode_steps": 30}), ("walker/Walk-v0", {}), ("walker/Trouble-v0", {"max_episode_steps": 4}),
])
def test_loaded_state_continues_equally(walker, id, options, num_threads, batch_size, mode):
    if id == "walker/Trouble-v0":
        # its actions raise, wait and so on: only some are to be used
        actions = np.random.default_rng(2).choice([0, 0, 0, 6, 7], (NUM, 60))
        env = started(make(id, mode, num_threads, batch_size, **options))
        player = Player(env, mode)
        player.needs_reset[:] = False
        player.play(actions[:, :20])
        state = env.save()
        want = player.play(actions[:, 20:])
        env.load(state)
        player.needs_reset = state.needs_reset
        assert player.play(actions[:, 20:]) == want
        return
    ends = [assert_goes_on(id, mode, num_threads, batch_size, before, 50, **options) for before in (1, 18)]
    assert min(ends) >= 5


@pytest.mark.parametrize("id", [
    # families have tests of their own states
    id for family in FAMILIES if CASES[family.name].is_small and family.is_installed
    for id in often_slow([entry.id for entry in family.entries(CASES[family.name].quick_ids)], 1000)])
def test_every_small_environment_goes_on_exactly(id):
    for mode in MODES:
        assert_goes_on(id, mode, 2, 5, 13, 30, max_episode_steps=20, **contract_options_of(id))


def test_options_that_are_arrays():
    env = started(cypool.make("FrozenLake-v1", num_envs=2, seed=0, desc=np.array(["SFF", "FHF", "FFG"])))
    state = pickle.loads(pickle.dumps(env.save()))
    want = [env.step([1, 2])[0].tolist() for _ in range(20)]
    other = cypool.make("FrozenLake-v1", num_envs=2, desc=["SFF", "FHF", "FFG"])
    other.load(state)
    assert [other.step([1, 2])[0].tolist() for _ in range(20)] == want


IN_ANOTHER_PROCESS = """
import hashlib, pickle
import numpy as np
import walker, cypool

state, actions = pickle.load(open({path!r}, "rb"))
env = cypool.make({id!r}, num_envs=len(actions[0]), num_threads=2, **{options!r})
env.load(state)
digest = hashlib.sha256()
for row in actions:
    batch = env.step(row)
    for array in batch[:4]:
        digest.update(array.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.parametrize(("id", "options"), [
    ("CartPole-v1", {"max_episode_steps": 30}), ("walker/Walk-v0", {}),
    ("Pong-v5", {"max_episode_steps": 60, "repeat_action_probability": 0.25}),
])
def test_state_continues_equally_in_another_process(walker, run_forked, tmp_path, id, options):
    env = started(cypool.make(id, num_envs=NUM, num_threads=2, seed=8, **options))
    actions = actions_for(env, 100)
    for t in range(40):
        env.step(actions[:, t])
    state = env.save()
    with open(tmp_path / "state", "wb") as file:
        pickle.dump((state, actions.T[40:]), file)
    digest = hashlib.sha256()
    for row in actions.T[40:]:
        for array in env.step(row)[:4]:
            digest.update(array.tobytes())
    done = run_forked(IN_ANOTHER_PROCESS.format(path=str(tmp_path / "state"), id=id, options=options))
    assert done.stdout.split() == [digest.hexdigest()], done.stderr


@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
def test_a_saved_state_stays(id):
    env = started(cypool.make(id, num_envs=2, seed=0))
    env.step([0, 1])
    state = env.save()
    packed = pickle.dumps(state)
    for _ in range(50):
        env.step([1, 0])
    env.reset(seed=4)
    assert pickle.dumps(state) == packed
    want, _ = env.load(state)
    env.close()
    del env
    assert pickle.dumps(state) == packed
    assert cypool.make(id, num_envs=2, seed=9).load(state)[0].tobytes() == want.tobytes()
    assert cypool.make(id, num_envs=2, seed=9).load(copy.deepcopy(state))[0].tobytes() == want.tobytes()


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("id", ["CartPole-v1", "Breakout-v5"])
def test_branches_of_one_state(id, num_threads):
    env = started(cypool.make(id, num_envs=2, seed=1))
    for _ in range(5):
        env.step([1, 0])
    state = env.save()
    many = cypool.make(id, num_envs=8, num_threads=num_threads, seed=6)
    obs, info = many.load(state[[1] * 8], range(8))
    assert info["env_id"].tolist() == list(range(8)) and info["elapsed_step"].tolist() == [5] * 8
    assert {row.tobytes() for row in obs} == {env.load(state)[0][1].tobytes()}
    # four that go left, four that go right
    n = many.single_action_space.n
    left, right = n - 2, n - 1
    for _ in range(6):
        obs, reward, *_ = many.step([left, right] * 4)
    for rows in obs[::2], obs[1::2]:
        assert len({row.tobytes() for row in rows}) == 1
    assert obs[0].tobytes() != obs[1].tobytes()


def test_rows_of_a_state(walker):
    env = started(cypool.make("walker/Trouble-v0", num_envs=4))
    env.step([0, 6, 0, 7])
    env.step([0, 0, 6, 0], [0, 1, 2, 3])
    state = env.save()
    assert isinstance(state, State) and len(state) == 4 and repr(state) == "State(env_id=[0, 1, 2, 3])"
    assert state.env_id.dtype == np.int32 and state.env_id.tolist() == [0, 1, 2, 3]
    assert state.needs_reset.dtype == np.bool_ and state.needs_reset.tolist() == [False, False, True, False]
    for rows, ids in (([2, 0], [2, 0]), (slice(1, 3), [1, 2]), (3, [3]), (-1, [3]), (np.array([1, 1, 2]), [1, 1, 2]),
                      (np.array([True, False, False, True]), [0, 3]), (slice(0, 0), [])):
        chosen = state[rows]
        assert chosen.env_id.tolist() == ids and len(chosen) == len(ids)
        assert chosen.rows == [state.rows[i] for i in ids] and chosen.needs_reset.tolist() == [i == 2 for i in ids]
    for bad in (4, -5, [0, 4]):
        with pytest.raises(IndexError):
            state[bad]
    del chosen.rows[:], state[1].rows[0]["needs_reset"]
    with pytest.raises(ValueError, match="^rows: expected dicts with a bool needs_reset, got"):
        _ = state.needs_reset
    part = env.save([3, 1])
    assert part.env_id.tolist() == [3, 1]
    env.step([0] * 4)
    obs, info = env.load(part)
    assert info["env_id"].tolist() == [3, 1] and obs["count"][:, 0].tolist() == [0, 0]
    # the others are where they were
    assert env.save().needs_reset.tolist() == [False] * 4
    assert env.step([0] * 4)[0]["count"][:, 0].tolist() == [4, 1, 1, 1]
    obs, info = env.load(part, [0, 2])
    assert info["env_id"].tolist() == [0, 2]


@pytest.mark.parametrize("batch_size", [4, 2])
@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_envs_that_were_never_reset(walker, num_threads, batch_size):
    source = started(cypool.make("walker/Trouble-v0", num_envs=4))
    source.step([0, 0, 0, 0])
    state = source.save()
    env = cypool.make("walker/Trouble-v0", num_envs=4, num_threads=num_threads, batch_size=batch_size)
    assert len(env.load(state[[0, 2]])[0]["count"]) == 2
    with pytest.raises(RuntimeError, match="env 1 was never reset"):
        env.send([0] * 4, range(4))
    with pytest.raises(RuntimeError, match="env 3 was never reset"):
        env.save([0, 3])
    assert [int(env.step([0, 0], [0, 2])[0]["count"][k, 0]) for k in range(2)] == [2, 3]
    assert env.load(state)[1]["env_id"].tolist() == [0, 1, 2, 3]
    env.send([0] * 4, range(4))
    counts = np.concatenate([env.recv()[0]["count"][:, 0] for _ in range(4 // batch_size)])
    assert counts.tolist() == [2] * 4


def test_options_of_each_env():
    env = started(cypool.make("CartPole-v1", num_envs=3, seed=0,
                              env_options=[{"sutton_barto_reward": k == 1} for k in range(3)]))
    state = env.save()
    env.load(state[[2, 1, 0]], [0, 1, 2])
    with pytest.raises(ValueError, match="^state: expected a state of .*False.* for env 0, got .*True"):
        env.load(state[[1, 0]], [0, 1])


def test_only_options_that_differ_are_in_the_message():
    env = started(cypool.make("CartPole-v1", num_envs=2, env_options=[{}, {"sutton_barto_reward": True}]))
    own, other = "{'sutton_barto_reward': False}", "{'sutton_barto_reward': True}"
    with pytest.raises(ValueError, match=f"^state: expected a state of CartPole-v1 with {own} for env 0, got "
                                         f"CartPole-v1 with {other}$"):
        env.load(env.save([1]), [0])
    with pytest.raises(ValueError, match=f"^source: .* of env 1, got env 0: CartPole-v1 with {own}$"):
        env.copy(0, 1)


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("batch_size", [4, 2])
def test_loaded_state_has_its_dm_step_types(trouble, num_threads, batch_size):
    env = started(cypool.make("walker/Trouble-v0", "dm", num_envs=4, batch_size=batch_size, num_threads=num_threads))
    first, mid, last = dm_env.StepType.FIRST, dm_env.StepType.MID, dm_env.StepType.LAST

    def step(actions):
        """Step types and counts of all four, in the order of their ids."""
        env.send(actions, range(4))
        steps = [env.recv() for _ in range(4 // batch_size)]
        ids = np.concatenate([step.observation.env_id for step in steps])
        kinds = np.concatenate([step.step_type for step in steps])[np.argsort(ids)].tolist()
        counts = np.concatenate([step.observation.obs["count"] for step in steps])[np.argsort(ids), 0]
        return kinds, counts.tolist()

    fresh = env.save()
    assert step([trouble.GO, trouble.TERMINATE, trouble.TRUNCATE, trouble.GO]) == ([mid, last, last, mid], [1] * 4)
    ended = env.save()
    assert step([0] * 4) == ([mid, first, first, mid], [2, 0, 0, 2])
    for _ in range(2):
        shown = env.load(ended)
        assert isinstance(shown, dm_env.TimeStep) and shown.mid().all() and shown.step_type.dtype == np.int32
        assert shown.observation.obs["count"][:, 0].tolist() == [1] * 4
        assert (shown.reward == 0).all() and (shown.discount == 1).all()
        assert step([0] * 4) == ([mid, first, first, mid], [2, 0, 0, 2])
    # over or not goes with the state
    env.load(ended, [3, 2, 1, 0])
    assert step([0] * 4) == ([mid, first, first, mid], [2, 0, 0, 2])
    env.load(ended[[0, 1]], [1, 0])
    assert step([0] * 4) == ([first, mid, mid, mid], [0, 2, 1, 3])
    env.load(fresh)
    assert step([0] * 4) == ([mid] * 4, [1] * 4)
    # into a pool that has done nothing
    other = cypool.make("walker/Trouble-v0", "dm", num_envs=4)
    assert other.load(ended).mid().all()
    assert other.step([0] * 4).step_type.tolist() == [mid, first, first, mid]


@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
def test_loaded_state_continues_equally_in_gym(id):
    env = started(cypool.make(id, "gym", num_envs=3, seed=2))
    for _ in range(5):
        last = env.step([0, 1, 0])[0]
    state = env.save()
    want = [env.step([0, 1, 1]) for _ in range(30)]
    assert env.load(state).tobytes() == last.tobytes()
    for batch in want:
        for a, b in zip(batch[:3], env.step([0, 1, 1])[:3], strict=True):
            assert a.tobytes() == b.tobytes()
    # states know no apis
    assert cypool.make(id, num_envs=3).load(state)[0].tobytes() == last.tobytes()


@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
@pytest.mark.parametrize("kind", ["gymnasium", "legacy", "dm"])
def test_loaded_state_continues_equally_in_envpools_apis(id, kind):
    def make():
        return envpool.make(id, "dm" if kind == "dm" else "gym", legacy=kind == "legacy", num_envs=3, seed=2)

    def flat(part):
        if isinstance(part, dict):
            return [flat(part[key]) for key in sorted(part)]
        return [flat(each) for each in part] if isinstance(part, tuple) else part.tobytes()

    env = make()
    first = env.reset()
    for _ in range(5):
        batch = env.step(np.array([0, 1, 0]))
    state = env.save()
    want = [flat(env.step(np.array([0, 1, 1]))) for _ in range(20)]
    # also where no environment was ever reset: their next step is not one
    for pool in env, make():
        got = pool.load(state)
        if kind == "gymnasium":
            assert flat(got) == flat((batch[0], batch[4])) and got[1].keys() == first[1].keys()
        elif kind == "legacy":
            assert flat(got) == flat(batch[0])
        else:
            assert flat(got.observation) == flat(batch.observation) and got.reward.dtype == np.float32
        assert [flat(pool.step(np.array([0, 1, 1]))) for _ in range(20)] == want


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_a_state_without_statistics_where_there_are_some(num_threads):
    env = started(cypool.make("CartPole-v1", num_envs=NUM, num_threads=num_threads, max_episode_steps=8, seed=0))
    for _ in range(5):
        env.step([0, 1] * 2 + [0])
    state = env.save()
    assert all(row["episode_ns"] == 0 for row in state.rows)
    began = time.perf_counter()
    env = cypool.make("CartPole-v1", num_envs=NUM, num_threads=num_threads, max_episode_steps=8,
                      episode_statistics=True)
    env.load(state)
    for _ in range(3):
        *_, info = env.step([0, 1] * 2 + [0])
    # they begin where it was loaded
    assert info["elapsed_step"].tolist() == [8] * NUM and info["episode"]["l"].tolist() == [3] * NUM
    assert info["episode"]["t"].max() <= time.perf_counter() - began
