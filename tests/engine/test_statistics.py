"""`episode_statistics=True` reports the values of Gymnasium's RecordEpisodeStatistics."""
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from pool_arguments import THREADS
from receiving import started

import cypool
import cypool.compat.envpool as envpool

pytestmark = pytest.mark.families("atari")
NUM = 7


def check_infos(got, want):
    """Returns whether an episode ended."""
    assert set(got) == set(want)
    if "episode" not in want:
        return False
    assert set(got["episode"]) == set(want["episode"]) == {"r", "l", "t"}
    for key in "rl":
        assert got["episode"][key].dtype == want["episode"][key].dtype
        assert got["episode"][key].tobytes() == want["episode"][key].tobytes()
    assert got["_episode"].dtype == want["_episode"].dtype == np.bool_
    assert got["_episode"].tolist() == want["_episode"].tolist()
    check_times(got)
    return True


def check_times(info):
    times = info["episode"]["t"]
    assert times.dtype == np.float64 and (times >= 0).all() and (times[~info["_episode"]] == 0).all()
    assert times.tolist() == np.round(times, 6).tolist()


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize(("id", "seed"), [("CartPole-v1", 0), ("CartPole-v1", 3), ("walker/Walk-v0", 1)])
def test_equal_to_gymnasiums_wrapper(walker, id, seed, mode, num_threads):
    options = {"num_envs": NUM, "num_threads": num_threads, "seed": seed, "autoreset_mode": mode,
               "max_episode_steps": 15}
    env = cypool.make(id, episode_statistics=True, **options)
    reference = RecordEpisodeStatistics(cypool.make(id, **options))
    random = np.random.default_rng(seed)
    choices = env.single_action_space.n
    check_infos(env.reset()[1], reference.reset()[1])
    ends = 0
    for t in range(240):
        actions = random.integers(0, choices, NUM)
        *got, info = env.step(actions)
        *want, expected = reference.step(actions)
        for a, b in zip(got, want, strict=True):
            assert a.tobytes() == b.tobytes()
        ends += check_infos(info, expected)
        mask = random.random(NUM) < 0.3
        if mode == "Disabled":
            mask = (got[2] | got[3]) | (mask & (t % 20 == 0))
        elif t % 20:
            mask[:] = False
        if mask.any():
            check_infos(env.reset(options={"reset_mask": mask})[1], reference.reset(options={"reset_mask": mask})[1])
        elif t == 200:
            check_infos(env.reset(seed=4)[1], reference.reset(seed=4)[1])
    assert ends > 50


class Book:
    """Keeps the statistics in Python."""

    def __init__(self, num_envs):
        self.gain, self.length, self.needs_reset = np.zeros(num_envs), np.zeros(num_envs, int), np.zeros(num_envs, bool)

    def reset(self, ids):
        self.gain[ids], self.length[ids], self.needs_reset[ids] = 0, 0, False

    def check(self, batch, gains=None):
        _, reward, terminated, truncated, info = batch
        ids, ended = info["env_id"], terminated | truncated
        fresh = self.needs_reset[ids]
        self.reset(ids[fresh])
        self.gain[ids[~fresh]] += (reward if gains is None else gains)[~fresh]
        self.length[ids[~fresh]] += 1
        self.needs_reset[ids] = ended
        assert ("episode" in info) == ("_episode" in info) == ended.any()
        if not ended.any():
            return 0
        assert info["_episode"].tolist() == ended.tolist()
        assert info["episode"]["r"].tolist() == np.where(ended, self.gain[ids], 0).tolist()
        assert info["episode"]["l"].tolist() == np.where(ended, self.length[ids], 0).tolist()
        check_times(info)
        return ended.sum()


@pytest.mark.parametrize("num_threads", THREADS)
def test_statistics_of_steps_of_some_equal_the_book(walker, num_threads):
    env = cypool.make("walker/Walk-v0", num_envs=NUM, num_threads=num_threads, seed=0, episode_statistics=True)
    random = np.random.default_rng(num_threads)
    book, ends = Book(NUM), 0
    assert "episode" not in env.reset()[1]
    for t in range(500):
        ids = random.permutation(NUM)[:random.integers(1, NUM + 1)]
        if t % 11 == 0:
            assert "episode" not in env.reset(ids)[1]
            book.reset(ids)
        else:
            ends += book.check(env.step(random.integers(0, 3, len(ids)), ids))
    assert ends > 50


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("api", ["gymnasium", "gym"])
def test_statistics_of_asynchronous_pools_equal_the_book(walker, num_threads, api):
    env = cypool.make("walker/Walk-v0", api, num_envs=NUM, batch_size=3, num_threads=num_threads, seed=0,
                      episode_statistics=True)
    random = np.random.default_rng(0)
    book, ends = Book(NUM), 0
    env.async_reset()
    book.needs_reset[:] = True
    for _ in range(600):
        batch = env.recv()
        if api == "gym":
            # gym's rewards are float32: their sum is not that of the statistics
            obs, _, done, info = batch
            assert ("episode" in info) == done.any()
            if done.any():
                assert info["_episode"].tolist() == done.tolist()
                assert info["episode"]["l"].tolist() == np.where(done, info["elapsed_step"], 0).tolist()
                check_times(info)
            ends += done.sum()
        else:
            ends += book.check(batch)
        env.send(random.integers(0, 3, len(batch[0])), batch[-1]["env_id"])
    assert ends > 50


@pytest.mark.parametrize("num_threads", THREADS)
def test_statistics_in_gym_equal_those_in_gymnasium(num_threads):
    env, reference = (started(cypool.make("CartPole-v1", api, num_envs=NUM, num_threads=num_threads, seed=0,
                                          episode_statistics=True)) for api in ("gym", "gymnasium"))
    for t in range(200):
        *_, info = env.step([t % 2] * NUM)
        *_, expected = reference.step([t % 2] * NUM)
        assert set(info) == set(expected) | {"TimeLimit.truncated"}
        info.pop("TimeLimit.truncated")
        check_infos(info, expected)


@pytest.mark.parametrize("num_threads", THREADS)
def test_atari_sums_what_is_not_clipped(num_threads):
    env = cypool.make("SpaceInvaders-v5", num_envs=3, num_threads=num_threads, seed=0, reward_clip=True,
                      max_episode_steps=60, episode_statistics=True)
    random = np.random.default_rng(0)
    book, ends, most = Book(3), 0, 0
    env.reset()
    for _ in range(250):
        batch = env.step(random.integers(0, 6, 3))
        assert (np.abs(batch[1]) <= 1).all()
        ends += book.check(batch, batch[4]["reward"].astype(float))
        most = max(most, batch[4].get("episode", {"r": np.zeros(1)})["r"].max())
    # one hit is 5 and more
    assert ends == 12 and most >= 5


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_an_environment_that_raises(trouble, num_threads, mode):
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, num_threads=num_threads, autoreset_mode=mode,
                              episode_statistics=True))
    env.step([trouble.GO] * 4)
    with pytest.raises(cypool.EnvError) as caught:
        env.step([trouble.GO, trouble.RAISE_STEP, trouble.RAISE_OBSERVE, trouble.TERMINATE])
    info = caught.value.batch[4]
    # the step that raised does not count, one that was only not shown does
    assert info["episode"]["r"].tolist() == [0, 1, 3, 3] and info["episode"]["l"].tolist() == [0, 1, 2, 2]
    assert info["_episode"].tolist() == [False, True, True, True]
    check_times(info)
    if mode == "Disabled":
        env.reset([1, 2, 3])
        env.step([trouble.GO] * 4)
    else:
        env.step([trouble.GO] * 4)
        env.step([trouble.GO] * 4)
    *_, info = env.step([trouble.TRUNCATE] * 4)
    # env 3 ended by itself: in the same step its next episode began
    assert info["episode"]["l"].tolist() == {"NextStep": [5, 2, 2, 2], "SameStep": [5, 2, 2, 3],
                                             "Disabled": [4, 2, 2, 2]}[mode]


@pytest.mark.parametrize("num_threads", THREADS)
def test_a_reset_that_raises(trouble, num_threads):
    env = started(cypool.make("walker/Trouble-v0", num_envs=2, num_threads=num_threads, episode_statistics=True))
    assert env.step([trouble.GO, trouble.FAIL_NEXT_RESET])[4]["episode"]["l"].tolist() == [0, 1]
    with pytest.raises(cypool.EnvError) as caught:
        env.step([trouble.GO] * 2)
    info = caught.value.batch[4]
    assert info["episode"]["l"].tolist() == [0, 0] and info["_episode"].tolist() == [False, True]


def test_arrays_once_handed_out_never_change(walker):
    env = started(cypool.make("walker/Walk-v0", num_envs=NUM, num_threads=2, seed=0, episode_statistics=True))
    kept = []
    for t in range(300):
        *_, info = env.step([t % 3] * NUM)
        if "episode" in info:
            arrays = [*info["episode"].values(), info["_episode"]]
            kept.append((arrays, [array.tobytes() for array in arrays]))
    assert len(kept) > 5
    for arrays, then in kept:
        assert [array.tobytes() for array in arrays] == then


def test_statistics_that_cannot_be_are_refused():
    for value in (1, "yes", None):
        with pytest.raises(TypeError, match="^episode_statistics: expected True or False"):
            cypool.make("CartPole-v1", episode_statistics=value)
    with pytest.raises(ValueError, match="^episode_statistics: expected False for env_type 'dm'"):
        cypool.make("CartPole-v1", "dm", episode_statistics=True)
    cypool.make("CartPole-v1", "dm", episode_statistics=False).close()
    # the wrapper has the same key in mind
    env = RecordEpisodeStatistics(cypool.make("CartPole-v1", num_envs=8, episode_statistics=True))
    env.reset()
    with pytest.raises(ValueError, match="already exists"):
        for _ in range(100):
            env.step([1] * 8)


def test_not_where_nobody_asked_for_them():
    for env in (cypool.make("CartPole-v1", num_envs=8, autoreset_mode="SameStep"),
                cypool.make("CartPole-v1", "gym", num_envs=8), envpool.make_gymnasium("CartPole-v1", num_envs=8)):
        env.reset()
        for _ in range(50):
            *_, info = env.step(np.ones(8, int))
            assert not {"episode", "_episode"} & set(info)


def test_a_copy_has_them_too():
    env = pickle.loads(pickle.dumps(cypool.make("CartPole-v1", num_envs=8, episode_statistics=True)))
    env.reset()
    assert any("episode" in env.step([1] * 8)[4] for _ in range(50))
    assert isinstance(env, gymnasium.vector.VectorEnv)
