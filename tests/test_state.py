"""Saved states: what goes on from one is what went on when it was saved, bit for bit."""
import copy
import hashlib
import pickle
import shutil
import time
from types import SimpleNamespace

import dm_env
import numpy as np
import pytest
from gymnasium.spaces import Discrete

import cypool
import cypool.compat.envpool as envpool
from cypool.state import State

MODES = ["NextStep", "SameStep", "Disabled"]
# num_threads, batch_size of NUM environments
CREWS = [(0, 5), (1, 5), (2, 5), (5, 5), (0, 2), (1, 2), (2, 2), (5, 3)]
NUM = 5


class Player:
    """Plays on with a pool: each environment takes the actions of its own, whichever comes first."""

    def __init__(self, env, mode):
        self.env, self.mode = env, mode
        self.over = np.ones(env.num_envs, bool)

    def begin(self, actions, ids):
        """Sends one action each; a reset where the pool leaves that to its user."""
        back = [i for i in ids if self.mode == "Disabled" and self.over[i]]
        go = [i for i in ids if i not in back]
        if go:
            self.env.send([actions[i] for i in go], go)
            if back and not self.env.is_async:
                yield self.env.recv()
        if back:
            self.env.async_reset(back)
        yield self.env.recv()

    def play(self, actions):
        """Returns for each environment the rows that its actions, (num_envs, steps), lead to."""
        rows = [[] for _ in actions]
        num_steps = actions.shape[1]
        ready = range(len(actions))
        while ready or self.env._pool.num_pending:
            came = []
            batches = self.begin({i: actions[i, len(rows[i])] for i in ready}, ready) if ready else [self.env.recv()]
            for batch in batches:
                for i, row, ended in rows_of(batch):
                    rows[i].append(row)
                    self.over[i] = ended
                    came.append(i)
            ready = [i for i in came if len(rows[i]) < num_steps]
        return rows


def bits(part):
    """The bytes of a row; of all parts of it."""
    if isinstance(part, dict):
        return {key: bits(value) for key, value in part.items()}
    if isinstance(part, tuple):
        return tuple(bits(value) for value in part)
    return np.asarray(part).tobytes()


def rows_of(batch):
    """Yields env id, all that a batch says of it, and whether its episode has ended."""
    obs, reward, terminated, truncated, info = batch
    own = {key: values for key, values in info.items() if isinstance(values, np.ndarray) and values.dtype != object
           and not key.startswith("_") and key != "env_id"}
    for k, i in enumerate(info["env_id"].tolist()):
        ended = bool(terminated[k] or truncated[k])
        row = {"obs": bits(parts(obs, k)), "reward": reward[k], "terminated": bool(terminated[k]),
               "truncated": bool(truncated[k]), "info": bits({key: values[k] for key, values in own.items()})}
        if ended:
            row["episode"] = info["episode"]["r"][k], info["episode"]["l"][k]
            if "final_obs" in info:
                row["final"] = bits(info["final_obs"][k]), bits({
                    key: values[k] for key, values in info["final_info"].items() if not key.startswith("_")})
        yield i, row, ended


def parts(obs, k):
    """Row k of an observation."""
    if isinstance(obs, tuple):
        return tuple(part[k] for part in obs)
    return {key: part[k] for key, part in obs.items()} if isinstance(obs, dict) else obs[k]


def seen(obs, info):
    """What `load` or `reset` returned, as the obs and info of `rows_of`; by env id."""
    return {int(i): (bits(parts(obs, k)), bits({key: values[k] for key, values in info.items() if key != "env_id"}))
            for k, i in enumerate(info["env_id"])}


def make(id, mode="NextStep", num_threads=0, batch_size=None, num_envs=NUM, seed=3, **options):
    return cypool.make(id, num_envs=num_envs, num_threads=num_threads, batch_size=batch_size, seed=seed,
                       autoreset_mode=mode, episode_statistics=True, **options)


def started(env):
    env.async_reset()
    while env._pool.num_pending:
        env.recv()
    return env


def actions_for(env, num_steps, seed=0):
    space, random, shape = env.single_action_space, np.random.default_rng(seed), (env.num_envs, num_steps)
    if isinstance(space, Discrete):
        return random.integers(0, space.n, shape)
    return random.uniform(space.low, space.high, (*shape, *space.shape)).astype(space.dtype)


def assert_goes_on(id, mode, num_threads, batch_size, before, after, **options):
    """Saves in mid-game, goes on, and does so again: in the same pool, and in another one from a pickle."""
    env = started(make(id, mode, num_threads, batch_size, **options))
    player = Player(env, mode)
    player.over[:] = False
    last = [rows[-1] for rows in player.play(actions_for(env, before))]
    state = env.save()
    assert state.over.tolist() == (player.over & (mode != "SameStep")).tolist()
    packed = pickle.dumps(state)
    actions = actions_for(env, after, seed=1)
    want = player.play(actions)
    ends = sum("episode" in row for rows in want for row in rows)
    # the pool itself; one that has done something else; one that was never reset
    other = started(make(id, mode, num_threads, batch_size, **{**options, "seed": 99}))
    busy = Player(other, mode)
    busy.over[:] = False
    busy.play(actions_for(other, 3, seed=5))
    for pool in env, other, make(id, mode, 2, NUM, **options):
        saved = pickle.loads(packed)
        shown = seen(*pool.load(saved))
        assert shown == {i: (row["obs"], row["info"]) for i, row in enumerate(last)}
        again = Player(pool, mode)
        again.over = saved.over
        got = again.play(actions)
        for i in range(NUM):
            assert got[i] == want[i], (i, [a == b for a, b in zip(got[i], want[i], strict=True)].index(False))
        # nothing of the saved state has changed meanwhile
        assert pickle.dumps(saved) == packed
        pool.close()
    assert pickle.dumps(state) == packed
    return ends


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("num_threads", "batch_size"), CREWS)
@pytest.mark.parametrize(("id", "options"), [
    ("CartPole-v1", {"max_episode_steps": 30}), ("walker/Walk-v0", {}), ("walker/Trouble-v0", {"max_episode_steps": 4}),
])
def test_it_goes_on_exactly(walker, id, options, num_threads, batch_size, mode):
    if id == "walker/Trouble-v0":
        # its actions raise, wait and so on: only some are to be used
        actions = np.random.default_rng(2).choice([0, 0, 0, 6, 7], (NUM, 60))
        env = started(make(id, mode, num_threads, batch_size, **options))
        player = Player(env, mode)
        player.over[:] = False
        player.play(actions[:, :20])
        state = env.save()
        want = player.play(actions[:, 20:])
        env.load(state)
        player.over = state.over
        assert player.play(actions[:, 20:]) == want
        return
    ends = [assert_goes_on(id, mode, num_threads, batch_size, before, 80, **options) for before in (1, 18)]
    assert min(ends) >= 5


@pytest.mark.parametrize("id", [
    id for id in cypool.list_all_envs() if not (id.endswith("-v5") or "NoFrameskip" in id)])
def test_every_small_environment_goes_on_exactly(id):
    for mode in MODES:
        assert_goes_on(id, mode, 2, 5, 23, 60, max_episode_steps=30)


def test_options_that_are_arrays():
    env = cypool.make("FrozenLake-v1", num_envs=2, seed=0, desc=np.array(["SFF", "FHF", "FFG"]))
    env.reset()
    state = pickle.loads(pickle.dumps(env.save()))
    want = [env.step([1, 2])[0].tolist() for _ in range(20)]
    other = cypool.make("FrozenLake-v1", num_envs=2, desc=["SFF", "FHF", "FFG"])
    other.load(state)
    assert [other.step([1, 2])[0].tolist() for _ in range(20)] == want


WHOLE = {"stack_num": 1, "img_height": 210, "img_width": 160}
# each of these needs something that ALE's own cloneState leaves out
GAMES = {
    # the last action
    "Breakout-v5": {"frame_skip": 1, "repeat_action_probability": 0.25, "noop_max": 3},
    "Freeway-v5": {"frame_skip": 1, "repeat_action_probability": 0.25, "gray_scale": False},
    # whether the last frame is complete
    "Qbert-v5": {"frame_skip": 1, **WHOLE},
    # where in its tables the video chip is
    "YarsRevenge-v5": {"frame_skip": 1, **WHOLE},
}


@pytest.mark.parametrize(("mode", "num_threads", "batch_size"), [("NextStep", 2, 5), ("SameStep", 5, 2),
                                                                  ("Disabled", 0, 5)])
@pytest.mark.parametrize("id", GAMES)
def test_atari_goes_on_exactly(id, mode, num_threads, batch_size):
    ends = assert_goes_on(id, mode, num_threads, batch_size, 97, 45, max_episode_steps=100, **GAMES[id])
    # a reset with no-ops belongs to it
    assert ends >= NUM


def test_atari_goes_on_exactly_from_any_frame():
    # while it thinks it draws no picture, then one over the other
    env, other = (cypool.make("TicTacToe3d-v5", frame_skip=1, gray_scale=False, seed=3, **WHOLE) for _ in range(2))
    env.reset()
    other.reset()
    begin = other.save()
    random = np.random.default_rng(0)
    for _ in range(180):
        env.step(random.integers(0, 10, 1))
        state, actions = env.save(), random.integers(0, 10, (3, 1))

        def play(pool, actions=actions):
            yield pool.render()[0]
            for action in actions:
                yield pool.step(action)[0]
                yield pool.render()[0]

        want = [picture.tobytes() for picture in play(env)]
        other.load(begin)
        other.load(state)
        assert [picture.tobytes() for picture in play(other)] == want
        env.load(state)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("num_threads", "batch_size"), [(0, 5), (5, 2)])
@pytest.mark.parametrize("sticky", [0.0, 0.25])
def test_atari_goes_on_exactly_over_lives(mode, num_threads, batch_size, sticky):
    ends = assert_goes_on("Breakout-v5", mode, num_threads, batch_size, 60, 70, max_episode_steps=200,
                          episodic_life=True, repeat_action_probability=sticky)
    assert ends >= NUM


@pytest.fixture
def pong(monkeypatch, tmp_path):
    """The true ROM of Pong, and a copy that cypool plays with and that may be taken away."""
    from cypool.envs.atari import atari, roms

    true_rom = roms.rom_path("pong")
    rom = tmp_path / "roms" / "pong.bin"
    rom.parent.mkdir()
    shutil.copy(true_rom, rom)
    package = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr("cypool.envs.atari.roms.find_spec", lambda name: package)
    atari.game_facts.cache_clear()
    yield true_rom, rom
    atari.game_facts.cache_clear()


def test_a_seed_that_waits_for_a_reset_is_saved_too(pong):
    true_rom, rom = pong
    env = started(make("Pong-v5", num_envs=2))
    env.step([0, 0])
    rom.unlink()
    with pytest.raises(cypool.EnvError, match="ROM"):
        env.reset([1], seed=[70])
    assert env.render([1]).shape == (1, 210, 160, 3)
    state = env.save()
    assert state.over.tolist() == [False, True]
    shutil.copy(true_rom, rom)
    want = env.step([0, 0])[0]
    assert want[1].tobytes() == make("Pong-v5", num_envs=1, seed=70).reset()[0].tobytes()
    # the picture does not tell: Pong begins the same way always
    after = [row["own"] for row in env.save().rows]
    env.load(state)
    assert env.step([0, 0])[0].tobytes() == want.tobytes()
    assert [row["own"] for row in env.save().rows] == after


def test_an_environment_that_was_never_made_shows_nothing(pong):
    true_rom, rom = pong
    env = cypool.make("Pong-v5", num_envs=2, seed=0, ram=True, frame_numbers=True)
    rom.unlink()
    with pytest.raises(cypool.EnvError, match="ROM"):
        env.reset()
    for call in (env.save, env.render):
        with pytest.raises(RuntimeError, match="reset it first"):
            call()
    shutil.copy(true_rom, rom)
    obs, info = env.reset(options={"reset_mask": np.array([True, False])})
    assert obs[0].any() and not obs[1].any()
    assert info["ram"][0].any() and not info["ram"][1].any()
    assert info["frame_number"][0] > 0 == info["frame_number"][1] == info["episode_frame_number"][1]
    env.step([0, 0])
    assert env.step([0, 0])[4]["ram"].any(axis=1).all()


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
def test_it_goes_on_in_another_process(walker, run_python, tmp_path, id, options):
    env = cypool.make(id, num_envs=NUM, num_threads=2, seed=8, **options)
    env.reset()
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
    done = run_python(IN_ANOTHER_PROCESS.format(path=str(tmp_path / "state"), id=id, options=options))
    assert done.stdout.split() == [digest.hexdigest()], done.stderr


@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
def test_a_saved_state_stays(id):
    env = cypool.make(id, num_envs=2, seed=0)
    env.reset()
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
    env = cypool.make(id, num_envs=2, seed=1)
    env.reset()
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
    env = cypool.make("walker/Trouble-v0", num_envs=4)
    env.reset()
    env.step([0, 6, 0, 7])
    env.step([0, 0, 6, 0], [0, 1, 2, 3])
    state = env.save()
    assert isinstance(state, State) and len(state) == 4 and repr(state) == "State(env_id=[0, 1, 2, 3])"
    assert state.env_id.dtype == np.int32 and state.env_id.tolist() == [0, 1, 2, 3]
    assert state.over.dtype == np.bool_ and state.over.tolist() == [False, False, True, False]
    for rows, ids in (([2, 0], [2, 0]), (slice(1, 3), [1, 2]), (3, [3]), (-1, [3]), (np.array([1, 1, 2]), [1, 1, 2]),
                      (np.array([True, False, False, True]), [0, 3]), (slice(0, 0), [])):
        chosen = state[rows]
        assert chosen.env_id.tolist() == ids and len(chosen) == len(ids)
        assert chosen.rows == [state.rows[i] for i in ids] and chosen.over.tolist() == [i == 2 for i in ids]
    for bad in (4, -5, [0, 4]):
        with pytest.raises(IndexError):
            state[bad]
    part = env.save([3, 1])
    assert part.env_id.tolist() == [3, 1]
    env.step([0] * 4)
    obs, info = env.load(part)
    assert info["env_id"].tolist() == [3, 1] and obs["count"][:, 0].tolist() == [0, 0]
    # the others are where they were
    assert env.save().over.tolist() == [False] * 4
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


def test_calls_at_the_wrong_time(walker):
    from walker import trouble

    trouble.set_gate(True)
    for batch_size in (4, 2):
        env = cypool.make("walker/Trouble-v0", num_envs=4, batch_size=batch_size, num_threads=2)
        for call in (env.save, env.render, lambda env=env: env.save([1])):
            with pytest.raises(RuntimeError, match="never reset: call reset"):
                call()
        started(env)
        state = env.save()
        env.send([0, 0], [0, 1])
        for call in (env.save, env.render, lambda env=env, state=state: env.load(state)):
            with pytest.raises(RuntimeError, match="in flight: call recv"):
                call()
        assert env._pool.num_pending == 2
        if env.is_async:
            # those that are not in flight may be looked at and moved
            assert env.render([2, 3]).shape == (2, 2, 3, 3)
            env.load(env.save([2]), [3])
        ids = env.recv()[4]["env_id"]
        assert sorted(ids) == [0, 1]
        env.load(state)
        env.close()
        env.close()
        for call in (env.save, env.render, lambda env=env, state=state: env.load(state)):
            with pytest.raises(cypool.ClosedError):
                call()


def test_wrong_arguments(walker):
    env = cypool.make("CartPole-v1", num_envs=3, seed=0)
    env.reset()
    for _ in range(4):
        env.step([0, 1, 0])
    state = env.save()
    for bad, kind in (([3], ValueError), ([-1], ValueError), ([1, 1], ValueError), ([], ValueError),
                      ([0.5], TypeError), (1, ValueError), ([[0]], ValueError), (["a"], TypeError)):
        for call in (env.save, env.render, lambda ids: env.load(state[[0] * np.size(ids)], ids)):
            with pytest.raises(kind, match="^env_id"):
                call(bad)
    for ids in ([0], [0, 1]):
        with pytest.raises(ValueError, match=f"^state: expected {len(ids)} rows, one for each env, got 3"):
            env.load(state, ids)
    with pytest.raises(ValueError, match="^env_id: expected each id once, got 0 twice"):
        env.load(state[[0, 0]])
    with pytest.raises(ValueError, match="^env_id: expected at least one id"):
        env.load(state[[]])
    with pytest.raises(ValueError, match=r"^env_id: expected ids in \[0, 3\), got 3"):
        env.load(state, [1, 2, 3])
    big = cypool.make("CartPole-v1", num_envs=9)
    big.reset()
    with pytest.raises(ValueError, match=r"^env_id: expected ids in \[0, 3\), got 3"):
        env.load(big.save())
    for bad in (None, 3, {}, state.rows, pickle.dumps(state), env):
        with pytest.raises(TypeError, match="^state: expected what save"):
            env.load(bad)
    for other in (cypool.make("CartPole-v0", num_envs=3), cypool.make("walker/Walk-v0", num_envs=3),
                  cypool.make("CartPole-v1", num_envs=3, sutton_barto_reward=True)):
        other.reset()
        with pytest.raises(ValueError, match="^state: expected one of CartPole-v1 with .*False.* for env 0, got"):
            env.load(other.save())
        with pytest.raises(ValueError, match="^state: expected one of .*, got CartPole-v1 with"):
            other.load(state)
    # nothing has changed
    assert [row["own"] for row in env.save().rows] == [row["own"] for row in state.rows]
    assert env.step([0] * 3)[4]["elapsed_step"].tolist() == [5, 5, 5]


def test_options_of_each_env():
    env = cypool.make("CartPole-v1", num_envs=3, seed=0,
                      env_options=[{"sutton_barto_reward": k == 1} for k in range(3)])
    env.reset()
    state = env.save()
    env.load(state[[2, 1, 0]], [0, 1, 2])
    with pytest.raises(ValueError, match="^state: expected one of .*False.* for env 0, got .*True"):
        env.load(state[[1, 0]], [0, 1])


def tampered(row, **changes):
    return State([0], [{**row, **changes}])


def hit(row, k, value):
    """The row with another k-th part of what the environment itself saved."""
    own = list(row["own"])
    own[k] = value
    return tuple(own)


@pytest.mark.parametrize("batch_size", [2, 1])
@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
def test_tampered_rows(id, num_threads, batch_size):
    env = started(cypool.make(id, num_envs=2, num_threads=num_threads, batch_size=batch_size, seed=5))
    for _ in range(3):
        env.send([1, 0], [0, 1])
        while env._pool.num_pending:
            env.recv()
    state = env.save()
    row = state.rows[0]
    # these are refused before anything happens
    for key in row:
        rest = {other: value for other, value in row.items() if other != key}
        with pytest.raises(ValueError, match="^state: expected rows as save"):
            env.load(State([0], [rest]))
    for bad in (None, 3, [], {**row, "more": 1}):
        with pytest.raises(ValueError, match="^state: expected rows as save"):
            env.load(State([0], [bad]))
    for changes in ({"id": "Other"}, {"options": {}}, {"options": None}):
        with pytest.raises(ValueError, match="^state: expected one of"):
            env.load(tampered(row, **changes))
    assert [each["own"] for each in env.save().rows] == [each["own"] for each in state.rows]
    assert not env.save().over.any()
    # these when the environment has taken a part: its next step is a reset
    bad_rows = [{"elapsed_step": "x"}, {"elapsed_step": 10**20}, {"episode_return": None}, {"episode_length": []},
                {"episode_ns": 1j}, {"own": None}, {"own": ()}, {"own": (1,)}, {"own": (None,) * len(row["own"])}]
    if id == "CartPole-v1":
        bad_rows += [{"rng": 3}, {"rng": {}}, {"rng": {**row["rng"], "state": None}}, {"own": hit(row, 3, "x")}]
    else:
        packed = row["own"][0]
        bad_rows += [{"own": hit(row, 0, packed[:-1])}, {"own": hit(row, 0, packed[: len(packed) // 2])},
                     {"own": hit(row, 0, b"")}, {"own": hit(row, 0, b"x" + packed)}, {"own": hit(row, 0, "x")},
                     {"own": hit(row, 1, row["own"][1] - 1)}, {"own": hit(row, 1, -1)}, {"own": hit(row, 1, "x")},
                     {"own": hit(row, 2, b"")}, {"own": hit(row, 2, b"1 2 3")}, {"own": hit(row, 2, 7)},
                     {"own": hit(row, 5, 4)}, {"own": hit(row, 5, -1)}, {"own": hit(row, 5, None)},
                     {"own": hit(row, 6, 10**10)}, {"own": hit(row, 10, "x")}]
    for changes in bad_rows:
        with pytest.raises(ValueError, match="^state: expected rows as save.* that env 0 cannot load: .*Error: "):
            env.load(tampered(row, **changes))
        assert env.save().over.tolist() == [True, False], changes
        *_, truncated, info = env.step([0], [0])
        assert not truncated.any() and info["elapsed_step"].tolist() == [0], changes
        env.load(state)
        assert [each["own"] for each in env.save().rows] == [each["own"] for each in state.rows]
    # all others of the call were loaded before
    with pytest.raises(ValueError, match="that env 0 cannot load"):
        env.load(State([1, 0], [state.rows[0], {**row, "own": None}]))
    assert env.save().over.tolist() == [True, False]
    env.load(state)
    *_, info = env.step([0], [1])
    assert info["elapsed_step"].tolist() == [4]


def test_a_load_that_failed_starts_a_whole_game():
    env = cypool.make("Breakout-v5", num_envs=1, seed=0, episodic_life=True)
    env.reset()
    while not env.step([1])[2].any():
        pass
    state = env.save()
    # its next step would go on with the next life
    with pytest.raises(ValueError, match="cannot load"):
        env.load(tampered(state.rows[0], elapsed_step=None))
    *_, info = env.step([0])
    assert info["lives"].tolist() == [5] and info["elapsed_step"].tolist() == [0]
    env.load(state)
    *_, info = env.step([0])
    assert info["lives"].tolist() == [4] and info["elapsed_step"][0] > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_environments_that_raise(walker, monkeypatch, num_threads, mode):
    from walker import trouble

    env = make("walker/Trouble-v0", mode, num_threads, num_envs=3)
    env.reset()
    env.step([0] * 3)
    state = env.save()
    for name, call, kind in (("save", env.save, LookupError), ("render", env.render, ArithmeticError),
                             ("load", lambda: env.load(state), OSError)):
        monkeypatch.setattr(trouble, "broken", {name})
        with pytest.raises(kind, match=f"raised in {name}"):
            call()
    monkeypatch.setattr(trouble, "broken", set())
    # only the first had come to its load
    assert env.save().over.tolist() == [True, False, False]
    if mode == "Disabled":
        with pytest.raises(RuntimeError, match="the episode of env 0 is over"):
            env.step([0] * 3)
        env.reset([0])
    else:
        obs, _, terminated, truncated, info = env.step([0] * 3)
        assert obs["count"][:, 0].tolist() == [0, 2, 2] and not (terminated | truncated).any()
    assert env.load(state)[0]["count"].tolist() == [[1, -1]] * 3
    assert env.step([0] * 3)[0]["count"].tolist() == [[2, -2]] * 3


def test_environments_without(walker):
    env = cypool.make("walker/Bare-v0", num_envs=2)
    env.reset()
    for name in ("save", "render"):
        with pytest.raises(NotImplementedError, match=f"^{name}: Bare has none"):
            getattr(env, name)()
    row = {"elapsed_step": 0, "over": False, "forced": False, "episode_return": 0.0, "episode_length": 0,
           "episode_ns": 0, "rng": None, "own": None}
    with pytest.raises(NotImplementedError, match="^load: Bare has none"):
        env.load(State([1], [{"id": "walker/Bare-v0", "options": {}, **row}]))
    env.step([0, 0])
    assert env.metadata["render_modes"] == [] and env.render_mode is None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_a_state_of_one_that_has_raised(walker, num_threads, mode):
    from walker import trouble

    env = make("walker/Trouble-v0", mode, num_threads, num_envs=3)
    env.reset()
    env.step([0] * 3)
    for action in (trouble.RAISE_STEP, trouble.CPP_THROW):
        with pytest.raises(cypool.EnvError):
            env.step([0, action, 0])
        state = env.save()
        assert state.over.tolist() == [False, True, False] and env.render([1]).shape == (1, 2, 3, 3)
        # the others may be reset beside it
        env.reset(options={"reset_mask": np.array([True, False, False])})
        env.load(state)
        if mode == "Disabled":
            env.reset([1])
            want = [[3, -3], [1, -1], [3, -3]]
        else:
            want = [[3, -3], [0, 0], [3, -3]]
        assert env.step([0] * 3)[0]["count"].tolist() == want
        env.reset()
        env.step([0] * 3)
    # what raises when it is looked at raises to the caller, and goes on
    with pytest.raises(cypool.EnvError):
        env.step([0, trouble.RAISE_OBSERVE, 0])
    state = env.save()
    with pytest.raises(KeyError, match="raised in observe"):
        env.load(state)
    if mode != "Disabled":
        assert env.step([0] * 3)[0]["count"].tolist() == [[3, -3], [0, 0], [3, -3]]


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_a_state_between_an_end_and_a_reset_that_fails(walker, num_threads):
    from walker import trouble

    env = make("walker/Trouble-v0", "NextStep", num_threads, num_envs=2)
    env.reset()
    env.step([0, trouble.FAIL_NEXT_RESET])
    state = env.save()
    for _ in range(2):
        env.load(state)
        with pytest.raises(cypool.EnvError, match="env 1: OSError: no reset today"):
            env.step([0, 0])
        after = env.save()
        assert after.over.tolist() == [False, True]
        env.load(after)
        assert env.step([0, 0])[0]["count"].tolist() == [[3, -3], [0, 0]]


def test_a_game_whose_rom_is_gone(run_python, tmp_path):
    done = run_python(ROM_GONE.format(folder=str(tmp_path)))
    assert done.stdout == "fine\n", done.stderr


ROM_GONE = """
import os, shutil
from types import SimpleNamespace
import numpy as np
import cypool
from cypool.envs.atari import roms

true_rom = roms.rom_path("pong")
rom = os.path.join({folder!r}, "roms", "pong.bin")
os.mkdir(os.path.dirname(rom))
shutil.copy(true_rom, rom)
roms.find_spec = lambda name: SimpleNamespace(submodule_search_locations=[{folder!r}])

def raises(kind, word, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as error:
        assert word in str(error), error
    else:
        raise SystemExit("no error")

made = cypool.make("Pong-v5", num_envs=2, num_threads=2, seed=0)
made.reset()
made.step([2, 3])
state = made.save()
want = made.step([2, 3])[0].tobytes()
pool = cypool.make("Pong-v5", num_envs=3, num_threads=2, seed=0)
os.remove(rom)
raises(cypool.EnvError, "ROM", pool.reset)
raises(RuntimeError, "nothing to save", pool.save)
raises(RuntimeError, "nothing to show", pool.render)
raises(RuntimeError, "ROM", pool.load, state, [0, 2])
raises(cypool.EnvError, "ROM", pool.reset, options={{"reset_mask": np.array([True, False, False])}})
shutil.copy(true_rom, rom)
obs, info = pool.reset(options={{"reset_mask": np.array([False, True, False])}})
assert obs[0].sum() == obs[2].sum() == 0 and obs[1].sum() > 0
raises(RuntimeError, "nothing to save", pool.save, [1, 0])
assert len(pool.save([1])) == len(pool.render([1])) == 1
pool.load(state, [0, 2])
assert pool.step([2, 3], [0, 2])[0].tobytes() == want
pool.step([0, 0, 0])
print("fine")
"""


# the other faces


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("batch_size", [4, 2])
def test_dm_step_types(walker, num_threads, batch_size):
    from walker import trouble

    env = cypool.make("walker/Trouble-v0", "dm", num_envs=4, batch_size=batch_size, num_threads=num_threads)
    started(env)
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


def test_dm_step_types_after_a_load_that_failed(walker):
    env = cypool.make("walker/Trouble-v0", "dm", num_envs=4)
    env.reset()
    over = env.step([0, 6, 0, 0]) and env.save()
    env.step([0] * 4)
    running = env.save()
    first, mid = dm_env.StepType.FIRST, dm_env.StepType.MID
    # 1 is over by it, 2 has failed, 3 was not come to
    rows = [over.rows[1], {**running.rows[2], "own": None}, over.rows[1]]
    with pytest.raises(ValueError, match="env 2 cannot load"):
        env.load(State([1, 2, 3], rows))
    assert env.step([0] * 4).step_type.tolist() == [mid, first, first, mid]
    # refused before anything happens
    with pytest.raises(ValueError):
        env.load(over, [0, 1, 2, 9])
    assert env.step([0] * 4).step_type.tolist() == [mid] * 4


@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
def test_the_gym_face(id):
    env = cypool.make(id, "gym", num_envs=3, seed=2)
    env.reset()
    for _ in range(5):
        last = env.step([0, 1, 0])[0]
    state = env.save()
    want = [env.step([0, 1, 1]) for _ in range(30)]
    assert env.load(state).tobytes() == last.tobytes()
    for batch in want:
        for a, b in zip(batch[:3], env.step([0, 1, 1])[:3], strict=True):
            assert a.tobytes() == b.tobytes()
    # states know no faces
    assert cypool.make(id, num_envs=3).load(state)[0].tobytes() == last.tobytes()


@pytest.mark.parametrize("id", ["CartPole-v1", "Pong-v5"])
@pytest.mark.parametrize("kind", ["gymnasium", "legacy", "dm"])
def test_the_faces_of_envpool(id, kind):
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
    env = cypool.make("CartPole-v1", num_envs=NUM, num_threads=num_threads, max_episode_steps=8, seed=0)
    env.reset()
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
