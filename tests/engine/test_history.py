"""A history puts a pool back to any past step, bit for bit, and says where two runs part."""
import json
import re
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from markers import slow
from receiving import started

import cypool
from cypool.replay import history as history_module
from cypool.replay.history import MAGIC
from cypool.state import verified, with_checksum

pytestmark = pytest.mark.families("atari", "box2d", "minigrid", "mpe2", "mujoco", "robotics")
NUM = 3


def pool(id="CartPole-v1", **options):
    env = started(cypool.make(id, **{"num_envs": NUM, "seed": 3, "num_threads": 2, **options}))
    env.action_space.seed(5)
    return env


def rows_of(env):
    """The rows that `save` returns, without the one number that the clock changes."""
    return [repr({**row, "episode_ns": 0}) for row in env.save().rows]


def bits(batch):
    return [np.asarray(part).tobytes() for part in batch[:4]]


def play(env, num_steps):
    """Steps at random; returns the states before each step, and after the last, and the results."""
    states, results = [rows_of(env)], []
    for _ in range(num_steps):
        results.append(bits(env.step(env.action_space.sample())))
        states.append(rows_of(env))
    return states, results


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("id, options", [
    ("CartPole-v1", {}), ("Taxi-v4", {}), ("Blackjack-v1", {}),
    ("MiniGrid-Dynamic-Obstacles-6x6-v0", {}),
    ("mpe2/simple_tag-v3", {"max_episode_steps": 9}), *slow(("Pong-v5", {}), ("Hopper-v5", {}), ("LunarLander-v3", {})),
], ids=str)
def test_seek_restores_each_step(tmp_path, id, options, mode):
    env = pool(id, autoreset_mode=mode, **options)
    with cypool.history(env, every=7) as history:
        states, results = play(env, 40)
        assert len(history) == history.position == 40
        history.save(tmp_path / "run")
        for step in (40, 0, 6, 7, 8, 33, 39, 1):
            shown = history.seek(step)[0]
            assert history.position == step and rows_of(env) == states[step]
            if step > 0 and mode == "NextStep":
                assert np.asarray(env.env_spec.unpack(shown)[0]).tobytes() in results[step - 1] or isinstance(shown, (
                    tuple, dict))
        assert len(history) == 40
    # another pool, from the file
    other = pool(id, autoreset_mode=mode, seed=77, **options)
    loaded = cypool.load_history(tmp_path / "run", other)
    assert rows_of(other) == states[40] and len(loaded) == 40
    for step in (3, 25):
        loaded.seek(step)
        assert rows_of(other) == states[step]
    assert cypool.first_difference(history, loaded) is None
    # and on from there as the first one went
    loaded.close()
    history.close()


def test_step_after_a_seek_replaces_later_steps():
    env = pool()
    history = cypool.history(env, every=5)
    states, _ = play(env, 23)
    history.seek(12)
    assert len(history) == 23
    env.step([0] * NUM)
    assert len(history) == history.position == 13
    after = rows_of(env)
    play(env, 9)
    history.seek(12)
    assert rows_of(env) == states[12]
    history.seek(13)
    assert rows_of(env) == after
    history.seek(22)


def test_resets_loads_copies_and_rollouts_are_repeated():
    env = pool(autoreset_mode="Disabled")
    history = cypool.history(env, every=1000)
    states = {}

    def note():
        states[len(history)] = rows_of(env)

    for _ in range(3):
        env.step([0, 1, 0])
        note()
    env.reset(seed=5)
    note()
    env.step([0, 1, 0])
    env.reset(options={"reset_mask": np.array([False, True, False])})
    note()
    state = env.save()
    env.step([1, 1, 1])
    note()
    env.load(state)
    note()
    env.step([1, 0, 1])
    env.copy(0, 2)
    note()
    rollout = env.rollout(np.ones((30, NUM), np.int64))
    assert rollout.terminated.any()
    env.reset()
    note()
    env.step([1, 0, 1])
    note()
    assert len(history) == 37
    for step in reversed(states):
        history.seek(step)
        assert rows_of(env) == states[step], step
    # into a rollout, and on from there
    history.seek(10)
    twin = rows_of(env)
    env.rollout(np.zeros((2, NUM), np.int64))
    note()
    history.seek(10)
    assert rows_of(env) == twin
    history.seek(12)
    assert rows_of(env) == states[12]


def test_steps_of_some_environments_and_errors_are_repeated(walker):
    env = started(cypool.make("walker/Trouble-v0", num_envs=3))
    history = cypool.history(env)
    env.step([0, 0], [0, 2])
    with pytest.raises(cypool.EnvError):
        env.step([0, 1, 6])
    states = rows_of(env)
    with pytest.raises(ValueError, match="actions"):
        env.step([0, 9, 0])
    env.send([0, 0, 0])
    with pytest.raises(RuntimeError, match="in flight"):
        history.seek(0)
    env.recv()
    # rows in flight are thrown away
    env.send([0, 0, 0])
    env.reset()
    assert len(history) == 4
    last = rows_of(env)
    history.seek(2)
    assert rows_of(env) == states
    history.seek(4)
    assert rows_of(env) == last


def test_first_difference_names_step_and_environment():
    a, b = (cypool.history(pool()) for _ in range(2))
    actions = np.random.default_rng(0).integers(0, 2, (20, NUM))
    other = actions.copy()
    other[13, 1:] = 1 - other[13, 1:]
    for history, sequence in ((a, actions), (b, other)):
        for row in sequence:
            history.env.step(row)
    assert cypool.first_difference(a, b) == cypool.first_difference(b, a) == cypool.Difference(13, 1)
    b.seek(13)
    assert cypool.first_difference(a, a) is None
    c = cypool.history(pool(num_envs=2))
    with pytest.raises(ValueError, match="b: expected a history with 3 environments, got one with 2"):
        cypool.first_difference(a, c)
    with pytest.raises(TypeError, match="a: expected a History"):
        cypool.first_difference(3, a)
    # a rollout has the results of steps
    d = cypool.history(pool())
    d.env.rollout(actions)
    assert cypool.first_difference(a, d) is None
    e = cypool.history(pool())
    e.env.rollout(actions, observe="last")
    assert cypool.first_difference(a, e) is None


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="env: expected a pool"):
        cypool.history(3)
    with pytest.raises(ValueError, match="env: expected a synchronous pool"):
        cypool.history(cypool.make("CartPole-v1", num_envs=4, batch_size=2))
    with pytest.raises(RuntimeError, match="env 0 was never reset"):
        cypool.history(cypool.make("CartPole-v1"))
    env = pool()
    with pytest.raises(ValueError, match="every"):
        cypool.history(env, 0)
    history = cypool.history(env)
    with pytest.raises(RuntimeError, match="has a history"):
        cypool.history(env)
    for step in (-1, 1):
        with pytest.raises(ValueError, match="step: expected"):
            history.seek(step)
    history.close()
    history.close()
    with pytest.raises(RuntimeError, match="closed"):
        history.seek(0)
    env.step([0] * NUM)
    assert len(history) == 0
    with pytest.raises(ValueError, match="env: expected no Python environments"):
        hosted = started(cypool.make("gymnasium:CartPole-v1", num_envs=1, num_workers=1))
        cypool.history(hosted)


def test_bad_files_are_refused(tmp_path):
    env = pool()
    path = tmp_path / "run"
    with cypool.history(env, every=4) as history:
        play(env, 10)
        history.save(path)
    good = path.read_bytes()

    def refused(data, message="path: expected a history"):
        path.write_bytes(data)
        before = rows_of(env)
        with pytest.raises(ValueError, match=re.escape(message)):
            cypool.load_history(path, env)
        env.step([0] * NUM)
        assert len(before) == NUM

    refused(b"")
    refused(good[:-1])
    refused(good[:100])
    refused(env.save().to_bytes())
    random = np.random.default_rng(0)
    for _ in range(30):
        data = bytearray(good)
        data[random.integers(len(data))] ^= 1 << random.integers(8)
        refused(bytes(data))
    # with the right checksum
    text, blobs = verified(MAGIC, good, "")
    rest = blobs.take(blobs._left)

    def resealed(old, new):
        assert old in text.decode()
        return with_checksum(MAGIC, text.decode().replace(old, new, 1), [rest])

    refused(resealed('["num_envs",3]', '["num_envs",4]'), "expected 3 environments, got 4")
    refused(resealed('["length",10]', '["length",11]'))
    refused(resealed('["length",10]', '["length",2147483647]'), "length: expected 0 to 15339168, got 2147483647")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_module, "MOST_TEXT", 100)
        refused(good, "expected segments with at most 100 bytes of text, got one with")
    refused(resealed('["every",4]', '["every",0]'))
    refused(resealed('["num_envs",3]', '["num_env",3]'), "KeyError")
    refused(resealed(cypool.__version__, "0.0.0x"), "path: expected a history from cypool")
    refused(with_checksum(MAGIC, "[" * 100_000, []))
    refused(with_checksum(MAGIC, json.dumps({"dict": []}), []))
    # events that no recording has
    for event in ('"step",null,{"bytes":8}', '"shout"', '"reset",{"list":[7]},false,null,null', '"step"',
                  '"step",{"list":[0]},{"bytes":8}', '"rollout",0,{"bytes":8}',
                  '"reset",null,false,{"list":[{"tuple":[0,-1]}]},null'):
        history = cypool.history(env)
        for _ in range(3):
            env.step([0] * NUM)
        text = '{"list":[{"tuple":[' + event + "]}]}"
        packed = zlib.compress(with_checksum(b"", text, [b"\7" * 8] if "bytes" in event else []))
        history._segments[0]._packed, history._segments[0].events = packed, []
        history.save(path)
        history.close()
        with pytest.raises(ValueError, match=r"history: expected valid events|actions|env_id"):
            cypool.load_history(path, env)
        env.reset()
    # the pool is as usable as before
    path.write_bytes(good)
    assert len(cypool.load_history(path, env)) == 10


def test_another_run_is_noticed():
    env = pool()
    history = cypool.history(env)
    play(env, 5)
    history._sums[3][1] ^= 1
    with pytest.raises(RuntimeError, match="seek: expected the recorded results of step 3, got .* ones for env 1"):
        history.seek(5)
    history.seek(3)


def test_history_of_a_dm_pool_seeks():
    env = started(cypool.make("CartPole-v1", "dm", num_envs=2, seed=0))
    history = cypool.history(env, every=3)
    for _ in range(8):
        env.step(np.array([1, 0]))
    history.seek(4)
    assert env.step(np.array([1, 0])).mid().all() and len(history) == 5


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_seek_that_fails_changes_nothing(error, monkeypatch):
    env = started(cypool.make("CartPole-v1", num_envs=3, seed=0))
    with cypool.history(env, every=4) as history:
        rows = [env.step(np.ones(3, int))[0] for _ in range(10)]
        history.seek(7)
        state = rows_of(env)
        check = type(history)._check

        def fail(self, step, *args):
            if step == 2:
                raise error("injected")
            check(self, step, *args)

        monkeypatch.setattr(type(history), "_check", fail)
        with pytest.raises(error, match="injected"):
            history.seek(3)
        monkeypatch.undo()
        assert history.position == 7 and len(history) == 10 and rows_of(env) == state
        # it continues from there, and to the end
        assert np.array_equal(history.seek(10)[0], rows[-1])
        history.seek(7)
        assert np.array_equal(env.step(np.ones(3, int))[0], rows[7]) and len(history) == 8


def test_a_reset_of_all_that_only_observes(tmp_path):
    env = started(cypool.make("CartPole-v1", num_envs=2, seed=0))
    with cypool.history(env) as history:
        env.step([0, 0])
        for others in (True, 1, "x", None):
            history._segments[-1].events.append(("reset", None, others, None, None))
            history.save(tmp_path / "history")
            del history._segments[-1].events[-1:]
            with pytest.raises(ValueError, match="^history: expected valid events"):
                cypool.load_history(tmp_path / "history", cypool.make("CartPole-v1", num_envs=2))


def test_options_are_those_that_were_given():
    env = started(cypool.make("PointMaze_UMaze-v3", num_envs=1, seed=0))
    with cypool.history(env) as history:
        cell = [1, 1]
        wanted = env.reset(options={"goal_cell": cell})[0]["desired_goal"].copy()
        cell[:] = 1, 3
        env.step(np.zeros((1, 2), np.float32))
        assert np.array_equal(history.seek(1)[0]["desired_goal"], wanted)


def test_calls_from_another_thread_while_steps_are_repeated_are_refused():
    env, twin = (started(cypool.make("CartPole-v1", num_envs=2, seed=0)) for _ in "12")
    actions, refused = [0, 1], []
    with cypool.history(env, every=2) as history, ThreadPoolExecutor(1) as other:
        for _ in range(5):
            env.step(actions)
            twin.step(actions)

        def visit(_):
            for call in (lambda: env.step(actions), env.reset, lambda: history.seek(0)):
                refused.append(str(other.submit(call).exception()))

        history.repeat(lambda *_: None, visit)
        assert len(refused) == 15 and all("another call is using the" in each for each in refused)
        history.seek(5)
        assert len(history) == 5 and env.step(actions)[0].tobytes() == twin.step(actions)[0].tobytes()
