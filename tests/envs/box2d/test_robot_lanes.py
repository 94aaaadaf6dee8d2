"""Landers that are stepped together have the bits of those that are stepped alone."""
import os
import pickle

import numpy as np
import pytest
from markers import slow
from saving import Player, actions_for, make, started

import cypool
from cypool.envs.box2d.box2d import use_simd

NUM = 37          # two groups of 16, and one of five


def play(id, mode, num_threads, batch_size, num_steps=250, **options):
    env = started(make(id, mode, num_threads, batch_size, NUM, **options))
    rows = Player(env, mode).play(actions_for(env, num_steps))
    return rows, env.save()


def state_of(state):
    """Returns the saved state without the times that episodes took."""
    return [{key: value for key, value in row.items() if key != "episode_ns"} for row in state.rows]


@pytest.mark.parametrize("num_threads", [2, *slow(0, 1, (os.cpu_count() or 1) + 2)])
@pytest.mark.parametrize(("id", "mode", "options"), [
    ("LunarLander-v3", "Disabled", {}), *slow(("LunarLander-v3", "NextStep", {}), ("LunarLander-v3", "SameStep", {})),
    ("LunarLander-v3", "NextStep", {"enable_wind": True, "gravity": -3.0}),
    ("LunarLanderContinuous-v3", "SameStep", {"action_dtype": "float64", "max_episode_steps": 70}),
    *slow(("LunarLanderContinuous-v3", "NextStep", {})),
])
def test_together_as_alone(id, mode, options, num_threads):
    together, state = play(id, mode, num_threads, None, **options)
    # asynchronous pools step each environment alone
    alone, same_state = play(id, mode, 0, 1, **options)
    assert together == alone
    assert state_of(state) == state_of(same_state)
    assert sum("episode" in row for rows in together for row in rows) > NUM


def test_some_of_them_in_any_order():
    pool, same = (started(make("LunarLander-v3", num_envs=NUM, batch_size=size)) for size in (None, 1))
    rng = np.random.default_rng(0)
    for _ in range(100):
        ids = rng.permutation(NUM)[: rng.integers(1, NUM + 1)]
        actions = rng.integers(4, size=len(ids))
        pool.send(actions, ids)
        same.send(actions, ids)
        obs, reward, *_, info = pool.recv()
        assert info["env_id"].tolist() == ids.tolist()
        rows = [same.recv() for _ in ids]
        rows.sort(key=lambda row: ids.tolist().index(row[4]["env_id"][0]))
        assert obs.tobytes() == b"".join(row[0].tobytes() for row in rows)
        assert reward.tolist() == [row[1][0] for row in rows]


@pytest.mark.parametrize("num_envs", [5, NUM])
def test_the_same_without_wide_vectors(num_envs):
    def rows():
        env = started(make("LunarLander-v3", num_envs=num_envs))
        return Player(env, "NextStep").play(actions_for(env, 120))

    wide = rows()
    use_simd(False)
    try:
        assert rows() == wide
    finally:
        use_simd(True)
    with pytest.raises(TypeError, match="on: expected True or False, got 'no'"):
        use_simd("no")


def test_a_damaged_one():
    """Whatever a damaged world does, all others have the bits that they have without it."""
    pool, same = (started(make("LunarLander-v3", num_envs=NUM)) for _ in range(2))
    state, loaded = pool.save([7]), 0
    saved, = state.rows[0]["own"]
    rng = np.random.default_rng(0)
    for _ in range(300):
        wrong = bytearray(saved)
        for place in rng.integers(len(saved), size=rng.integers(1, 9)):
            wrong[place] = rng.integers(256)
        broken = pickle.loads(pickle.dumps(state))
        broken.rows[0]["own"] = (bytes(wrong),)
        try:
            pool.load(broken, [7])
        except ValueError:
            continue
        loaded += 1
        actions = rng.integers(4, size=NUM)
        expected = same.step(actions)
        try:
            batch = pool.step(actions)
        except cypool.EnvError as error:
            assert error.env_id == 7 and error.batch[3][7]
            batch = error.batch
        for mine, wanted in zip(batch[:4], expected[:4], strict=True):
            assert np.delete(mine, 7, 0).tobytes() == np.delete(wanted, 7, 0).tobytes()
    assert loaded > 20
