"""`step(actions, out=...)`: batches that are written to the user's own arrays."""
import gc
import os
import signal
import weakref
from itertools import pairwise

import numpy as np
import pytest
from comparing import assert_same
from engine.threads import start
from markers import slow
from pool_arguments import MODES, THREADS
from raising import Raising
from receiving import started
from waiting import join, wait_until

import cypool

pytestmark = pytest.mark.families("atari")
NUM = 6


def parts_of(obs):
    return list(obs.values()) if isinstance(obs, dict) else [obs]


def new_out(env, rows):
    def zeros(part):
        # an element that is not written would be seen
        return np.full((rows, *part.shape), 1, part.dtype)

    parts = {key: zeros(part) for key, part in env.env_spec.observations}
    return (parts if isinstance(env.env_spec.observation, dict) else parts[None], np.ones(rows),
            np.ones(rows, np.bool_), np.ones(rows, np.bool_))


def check_filled(batch, out):
    """Whether the arrays of a batch are those of `out`."""
    for got, given in zip(parts_of(batch[0]) + list(batch[1:4]), parts_of(out[0]) + list(out[1:4]), strict=True):
        assert got is given


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("id", "seed"), [("CartPole-v1", 0), *slow(("CartPole-v1", 7)), ("walker/Walk-v0", 1),
                                          ("walker/Trouble-v0", 0)])
@pytest.mark.parametrize("statistics", [True, *slow(False)])
def test_equal_to_a_pool_without(walker, id, seed, mode, num_threads, statistics):
    env, twin = (started(cypool.make(id, num_envs=NUM, num_threads=num_threads, seed=seed, autoreset_mode=mode,
                                     episode_statistics=statistics)) for _ in "12")
    random = np.random.default_rng(seed)
    # of Trouble's those that raise and wait are left out
    choices = [0, 6, 7] if "Trouble" in id else range(env.single_action_space.n)
    ends = 0
    for t in range(150):
        ids = random.permutation(NUM)[:random.integers(1, NUM + 1)] if t % 3 == 0 else None
        rows = NUM if ids is None else len(ids)
        actions = random.choice(choices, rows)
        want = twin.step(actions, ids)
        if t % 5 == 4:
            got = env.step(actions, ids)
        else:
            out = new_out(env, rows)
            got = env.step(actions, ids, out=out if t % 2 else list(out))
            check_filled(got, out)
        # how long it took is another matter
        got[4].get("episode", {}).pop("t", None), want[4].get("episode", {}).pop("t", None)
        assert_same(got, want)
        ended = got[2] | got[3]
        ends += ended.sum()
        if mode == "Disabled" and ended.any():
            which = got[4]["env_id"][ended]
            assert_same(env.reset(which)[0], twin.reset(which)[0])
    assert ends > 20


@pytest.mark.parametrize("num_threads", [0, 2])
@pytest.mark.parametrize("mode", MODES)
def test_images_in_out_equal_fresh_ones(num_threads, mode):
    env, twin = (cypool.make("Breakout-v5", num_envs=4, num_threads=num_threads, seed=0, autoreset_mode=mode,
                             max_episode_steps=13, episode_statistics=True) for _ in "12")
    assert_same(env.reset()[0], twin.reset()[0])
    buffers = env.rollout_buffers(40)
    for t in range(40):
        got, want = env.step([t % 4] * 4, out=buffers[t]), twin.step([t % 4] * 4)
        got[4].get("episode", {}).pop("t", None), want[4].get("episode", {}).pop("t", None)
        assert_same(got, want)
        assert np.shares_memory(got[0], buffers.next_obs) and got[0].tobytes() == buffers.next_obs[t].tobytes()
        if mode == "Disabled" and got[3].any():
            assert_same(env.reset()[0], twin.reset()[0])


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("id", ["CartPole-v1", "walker/Trouble-v0"])
def test_rollout_buffers_hold_all_steps(walker, num_threads, id):
    env, twin = (cypool.make(id, num_envs=NUM, num_threads=num_threads, seed=1) for _ in "12")
    buffers = env.rollout_buffers(50)
    assert len(buffers) == 50
    for part, (_, described) in zip(parts_of(buffers.next_obs), env.env_spec.observations, strict=True):
        assert part.shape == (50, NUM, *described.shape) and part.dtype == described.dtype
    for name, dtype in (("reward", np.float64), ("terminated", np.bool_), ("truncated", np.bool_)):
        assert getattr(buffers, name).shape == (50, NUM) and getattr(buffers, name).dtype == dtype
    env.reset()
    twin.reset()
    rollout = []
    for row, t in zip(buffers, range(50), strict=True):
        # of Trouble 6 ends an episode, 1 raises
        actions = [t % 2 * (6 if "Trouble" in id else 1)] * NUM
        env.step(actions, out=row)
        rollout.append(twin.step(actions))
    for k, part in enumerate(parts_of(buffers.next_obs)):
        assert part.tobytes() == np.stack([parts_of(batch[0])[k] for batch in rollout]).tobytes()
    for k, name in enumerate(("reward", "terminated", "truncated"), 1):
        assert getattr(buffers, name).tobytes() == np.stack([batch[k] for batch in rollout]).tobytes()
    # a row as one writes it oneself, the last one, and one beyond
    env.step([0] * NUM, out=(buffers[-1][0], buffers.reward[49], buffers.terminated[49], buffers.truncated[49]))
    with pytest.raises(IndexError):
        buffers[50]
    for bad, kind in ((0, ValueError), (-1, ValueError), (2.5, TypeError), ("3", TypeError), (True, TypeError)):
        with pytest.raises(kind, match="^num_steps"):
            env.rollout_buffers(bad)
    with pytest.raises(ValueError, match="^rollout_buffers: expected a synchronous pool"):
        cypool.make(id, num_envs=4, batch_size=2).rollout_buffers(3)


@pytest.mark.parametrize("num_threads", THREADS)
def test_memory_has_one_owner(num_threads):
    env = started(cypool.make("CartPole-v1", num_envs=NUM, num_threads=num_threads, seed=0))
    kept = []
    for t in range(60):
        out = new_out(env, NUM)
        for batch in (env.step([t % 2] * NUM, out=out), env.step([t % 2] * NUM)):
            arrays = [*batch[:4], batch[4]["env_id"], batch[4]["elapsed_step"]]
            kept.append((arrays, [array.tobytes() for array in arrays]))
    for arrays, then in kept:
        assert [array.tobytes() for array in arrays] == then
    flat = [array for arrays, _ in kept for array in arrays]
    places = sorted((array.ctypes.data, array.nbytes) for array in flat)
    assert all(a + size <= b for (a, size), (b, _) in pairwise(places))
    # and the user's arrays are the user's again
    out = new_out(env, NUM)
    watch = [weakref.ref(array) for array in out]
    env.step([0] * NUM, out=out)
    del out
    assert [each() for each in watch] == [None] * 4


@pytest.mark.parametrize("num_threads", THREADS)
def test_one_array_for_many_steps(num_threads):
    env, twin = (started(cypool.make("CartPole-v1", num_envs=NUM, num_threads=num_threads, seed=0)) for _ in "12")
    out = new_out(env, NUM)
    for t in range(100):
        env.step([t % 2] * NUM, out=out)
        for a, b in zip(out, twin.step([t % 2] * NUM), strict=False):
            assert_same(a, b)


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_out_of_an_environment_that_raises_is_filled(trouble, num_threads, mode):
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, num_threads=num_threads, autoreset_mode=mode))
    for action in (trouble.RAISE_STEP, trouble.CPP_THROW, trouble.RAISE_OBSERVE):
        out = new_out(env, 4)
        with pytest.raises(cypool.EnvError) as caught:
            env.step([0, 0, action, 0], out=out)
        check_filled(caught.value.batch, out)
        obs, reward, terminated, truncated = out
        assert obs["count"][2].tolist() == [0, 0] and obs["last"][2] == 0 and (obs["count"][[0, 1, 3], 0] > 0).all()
        assert reward[2] == 0 and truncated.tolist() == [False, False, True, False] and not terminated.any()
        # after it everything goes to other arrays
        then = [array.tobytes() for array in (*obs.values(), *out[1:])]
        env.step([0] * 4)
        assert [array.tobytes() for array in (*obs.values(), *out[1:])] == then


@pytest.fixture
def stuck(trouble):
    """A pool, actions of a step in which a thread waits, and a function that waits for that and sends Ctrl-C."""
    num = 20_000
    env = started(cypool.make("walker/Trouble-v0", num_envs=num, num_threads=2))
    # one at the beginning of each share: the caller's is passed once the thread waits at the other
    actions = np.zeros(num, np.int64)
    actions[[0, num // 2]] = trouble.WAIT
    trouble.set_gate(False, True)

    def interrupt():
        wait_until(lambda: trouble.num_waiting() > 0)
        os.kill(os.getpid(), signal.SIGINT)

    return env, actions, interrupt


def test_an_interrupted_step_keeps_the_arrays(trouble, stuck):
    env, actions, interrupt = stuck
    out = new_out(env, env.num_envs)
    watch = [weakref.ref(array) for array in (*out[0].values(), *out[1:])]
    try:
        thread = start(interrupt)
        env.step(actions, out=out)
    except KeyboardInterrupt:
        interrupted = True
    assert interrupted
    join(thread)
    del out
    gc.collect()
    assert all(each() is not None for each in watch)
    with pytest.raises(RuntimeError, match="in flight"):
        env.step(actions, out=new_out(env, env.num_envs))
    with pytest.raises(TimeoutError):
        env.recv(timeout=0)
    trouble.set_gate(True)
    batch = env.recv()
    for got, given in zip([*batch[0].values(), *batch[1:4]], watch, strict=True):
        assert got is given()
    assert (batch[0]["count"] == [1, -1]).all() and (batch[1] == 1).all()
    assert batch[0]["last"].tolist() == actions.tolist() and not batch[2].any() and not batch[3].any()
    # and lets go of them
    got = given = batch = None
    assert [each() for each in watch] == [None] * 5
    env.step(np.zeros_like(actions))


def test_close_after_an_interrupted_step_waits_for_its_threads(trouble, stuck):
    # as above, but the pool ends while a thread writes
    env, actions, interrupt = stuck
    thread = start(interrupt)
    with pytest.raises(KeyboardInterrupt):
        env.step(actions, out=new_out(env, env.num_envs))
    join(thread)
    opener = start(trouble.set_gate, True)
    env.close()
    join(opener)


class Exporter:
    """Says that it can be shared, and cannot."""

    def __dlpack__(self, **_):
        raise BufferError("no")

    def __array__(self, dtype=None, copy=None):
        raise BufferError("not in this memory")


class Lying(list):
    """Says that it has four items."""

    def __len__(self):
        return 4


def changed(place, value):
    """A way to spoil one part of an out."""
    def spoil(out):
        out = list(out)
        out[place] = value(out[place])
        return tuple(out)

    return spoil


def read_only(array):
    array.flags.writeable = False
    return array


BAD = {
    "not a tuple": lambda out: out[0],
    "an int": lambda out: 3,
    "a generator": lambda out: (part for part in out),
    "a dict": lambda out: dict(enumerate(out)),
    "too short": lambda out: out[:3],
    "too long": lambda out: (*out, {}),
    "empty": lambda out: (),
    "a list without the items that it has": lambda out: Lying(),
    "a list with others": lambda out: Lying([*out, {}]),
    **{f"{what} at {k}": changed(k, spoil) for k in range(4) for what, spoil in {
        "None": lambda array: None,
        "list": lambda array: array.tolist(),
        "ragged list": lambda array: [[1], [1, 2]],
        "bytes": lambda array: array.tobytes(),
        "scalar": lambda array: array.flat[0],
        "without axes": lambda array: np.array(array.flat[0]),
        "other dtype": lambda array: array.astype(np.int16),
        "uint8": lambda array: array.astype(np.uint8),
        "object": lambda array: array.astype(object),
        "other byte order": lambda array: array.astype(array.dtype.newbyteorder()) if array.itemsize > 1
                            else array.astype(">i2"),
        "a row more": lambda array: np.concatenate([array, array[:1]]),
        "a row less": lambda array: array[:-1].copy(),
        "an axis more": lambda array: array[..., None],
        "an axis less": lambda array: array.reshape(-1)[:array.size // 2] if array.ndim > 1 else array[0],
        "strides": lambda array: np.repeat(array, 2, axis=0)[::2],
        "backwards": lambda array: array[::-1],
        "unaligned": lambda array: np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
                     if array.itemsize > 1 else read_only(array),
        "read-only": read_only,
        "broadcast": lambda array: np.broadcast_to(array[:1], array.shape),
        "memoryview": lambda array: memoryview(array),
        "exporter": lambda array: Exporter(),
        "raising": lambda array: Raising(),
    }.items()},
    "columns": changed(0, lambda array: np.asfortranarray(array)),
    "a dict of it": changed(0, lambda array: {"obs": array}),
}


@pytest.mark.parametrize("num_threads", [0, 2])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("what", BAD)
def test_bad_out_steps_nothing(what, mode, num_threads):
    env = started(cypool.make("CartPole-v1", num_envs=NUM, num_threads=num_threads, autoreset_mode=mode))
    with pytest.raises((TypeError, ValueError), match="^out: expected"):
        env.step([0] * NUM, out=BAD[what](new_out(env, NUM)))
    out = new_out(env, NUM)
    assert env.step([0] * NUM, out=out)[4]["elapsed_step"].tolist() == [1] * NUM
    check_filled(out, out)


@pytest.mark.parametrize(("id", "wrong"), [
    ("walker/Trouble-v0", Raising), ("walker/Trouble-v0", dict), ("walker/Trouble-v0", lambda: None),
    ("Blackjack-v1", Lying), ("Blackjack-v1", Raising), ("Blackjack-v1", lambda: (None,) * 3)])
def test_bad_observations_of_several_parts(walker, id, wrong):
    wrong = wrong()
    env = started(cypool.make(id, num_envs=NUM))
    _, *flags = env.rollout_buffers(1)[0]
    with pytest.raises((TypeError, ValueError), match="^out: expected"):
        env.step([0] * NUM, out=(wrong, *flags))
    buffers = env.rollout_buffers(2)
    buffers._all_obs = wrong
    with pytest.raises(ValueError, match="^out: expected"):
        env.rollout([[0] * NUM] * 2, out=buffers)
    assert env.step([0] * NUM)[4]["elapsed_step"].tolist() == [1] * NUM


@pytest.mark.parametrize("bad", [
    lambda obs: list(obs.values()), lambda obs: obs["count"], lambda obs: {"count": obs["count"]}, lambda obs: {},
    lambda obs: {**obs, "more": obs["count"]}, lambda obs: {**obs, "last": obs["count"]},
    lambda obs: {**obs, "last": obs["last"][:1]}, lambda obs: {**obs, "count": None},
    lambda obs: {"count": obs["count"], 1: obs["last"]}, lambda obs: None, lambda obs: {**obs, "last": np.array(3)},
])
def test_bad_dicts_of_observations_are_refused(trouble, bad):
    env = started(cypool.make("walker/Trouble-v0", num_envs=3))
    obs, *flags = new_out(env, 3)
    with pytest.raises((TypeError, ValueError), match="^out: expected"):
        env.step([0] * 3, out=(bad(obs), *flags))
    # in another order they are as good
    obs = {"last": obs["last"], "count": obs["count"]}
    got = env.step([0] * 3, out=(obs, *flags))
    assert got[4]["elapsed_step"].tolist() == [1] * 3
    assert got[0]["last"] is obs["last"] and got[0]["count"] is obs["count"] and obs["count"][:, 0].tolist() == [1] * 3


@pytest.mark.parametrize("rows", [1, NUM - 1, NUM + 1, 100])
def test_wrong_number_of_rows_steps_nothing(rows):
    env = started(cypool.make("CartPole-v1", num_envs=NUM))
    with pytest.raises(ValueError, match=f"^out: expected arrays of {NUM} rows, got {rows}"):
        env.step([0] * NUM, out=new_out(env, rows))
    with pytest.raises(ValueError, match=f"^out: expected arrays of 2 rows, got {rows}"):
        env.step([0] * 2, [4, 1], out=new_out(env, rows))
    # other errors change nothing either
    for actions, ids in (([0] * 3, None), ([2] * NUM, None), ([0, 0], [1, 1]), ([0], [NUM])):
        with pytest.raises(ValueError, match="^(actions|env_id): "):
            env.step(actions, ids, out=new_out(env, NUM if ids is None else len(ids)))
    assert env.step([0] * NUM)[4]["elapsed_step"].tolist() == [1] * NUM


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_arrays_share_no_memory(num_threads):
    env = started(cypool.make("CartPole-v1", num_envs=NUM, num_threads=num_threads))
    obs, reward, terminated, truncated = new_out(env, NUM)
    # one after the other is no overlap
    joint = np.zeros(NUM * 24 + 2 * NUM, np.uint8)
    side = (joint[:NUM * 16].view(np.float32).reshape(NUM, 4), joint[NUM * 16:NUM * 24].view(np.float64),
            joint[NUM * 24:NUM * 25].view(np.bool_), joint[NUM * 25:].view(np.bool_))
    for bad in ((obs, reward, terminated, terminated), (side[0], joint[8:8 + NUM * 8].view(np.float64), *side[2:]),
                (*side[:3], joint[NUM * 25 - 1:-1].view(np.bool_)), (obs, joint[:NUM * 8].view(np.float64), *side[2:3],
                                                                   joint[NUM * 7:NUM * 8].view(np.bool_))):
        with pytest.raises(ValueError, match="^out: expected arrays that do not overlap in memory"):
            env.step([0] * NUM, out=bad)
    assert env.step([0] * NUM, out=side)[4]["elapsed_step"].tolist() == [1] * NUM
    assert side[1].tolist() == [1.0] * NUM


def test_out_is_refused_in_pools_without_it():
    env = cypool.make("CartPole-v1", num_envs=NUM, batch_size=3)
    env.reset()
    with pytest.raises(ValueError, match="^out: expected None in an asynchronous pool"):
        env.step([0] * 3, out=new_out(env, 3))
    env.step([0] * 3)
    for api in ("gym", "dm"):
        env = started(cypool.make("CartPole-v1", api, num_envs=NUM))
        with pytest.raises(TypeError, match="out"):
            env.step([0] * NUM, out=())
    env = cypool.make("CartPole-v1", num_envs=NUM)
    out = new_out(env, NUM)
    with pytest.raises(RuntimeError, match="never reset"):
        env.step([0] * NUM, out=out)
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.step([0] * NUM, out=out)


@pytest.mark.parametrize("num_envs", [1, 3, 64])
def test_the_pools_own_arrays_are_aligned(num_envs):
    env = cypool.make("CartPole-v1", num_envs=num_envs, autoreset_mode="SameStep")
    for batch in (env.reset()[:1], env.step([0] * num_envs)[:4]):
        assert all(array.ctypes.data % 64 == 0 and array.flags.carray for array in batch)


class Liar(np.ndarray):
    """Has another shape than it says."""

    claimed = (50, 2)

    @property
    def shape(self):
        return self.claimed

    def __len__(self):
        return self.claimed[0]

    def reshape(self, *shape):
        made = self.view(Liar)
        made.claimed = shape
        return made


def test_arrays_of_a_class_that_makes_up_its_shape_are_refused():
    env = started(cypool.make("CartPole-v1", num_envs=2, seed=0))
    for name, small in (("reward", np.zeros(3)), ("terminated", np.zeros(3, bool)),
                        ("_all_obs", np.zeros((3, 4), np.float32))):
        buffers = env.rollout_buffers(50)
        liar = small.view(Liar)
        liar.claimed = (50 + (name == "_all_obs"), 2, *small.shape[1:])
        setattr(buffers, name, liar)
        with pytest.raises(ValueError, match="out: expected"):
            env.rollout(np.zeros((50, 2), int), out=buffers)
    env.rollout(np.zeros((50, 2), int), out=env.rollout_buffers(50))
