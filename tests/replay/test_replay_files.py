"""Replay buffers in files: killed processes, damaged and strange files."""
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cypool

OPTIONS = {"num_envs": 3, "num_threads": 0, "seed": 5, "autoreset_mode": "SameStep"}


def make(path=None, capacity=300, size=1, **kwargs):
    env = cypool.make("walker/Frames-v0", size=size, **OPTIONS)
    return cypool.ReplayBuffer(env, capacity, seed=0, path=path, **kwargs)


def play(buffer, num_steps):
    """Makes the same steps each time."""
    buffer.reset(seed=5)
    for t in range(num_steps):
        step(buffer, t)


def step(buffer, t):
    rows = np.arange(t, t + 3)
    push = np.stack([rows % 50, -(rows % 50)], 1).astype(np.float32)
    buffer.step({"what": np.where(rows % 11 == 0, 6, 0), "push": push})


def rows_of(buffer, index=None, priorities=True):
    """Returns all rows: index -> bytes."""
    index = np.sort(buffer.indices()) if index is None else index
    sample = buffer.gather(index)
    parts = [*sample.obs.values(), *sample.next_obs.values(), *sample.action.values(), sample.reward, sample.discount,
             sample.terminated, sample.truncated, sample.is_first]
    if buffer.alpha > 0 and priorities:
        parts.append(buffer.priorities(index))
    return {i: b"".join(part[k].tobytes() for part in parts) for k, i in enumerate(index.tolist())}


@pytest.mark.parametrize("num_steps", [1, 50, 200])
def test_a_file_has_what_the_buffer_had(walker, tmp_path, num_steps):
    path = tmp_path / "replay"
    with make(path) as buffer:
        play(buffer, num_steps)
        wanted = rows_of(buffer)
    other = make()
    play(other, num_steps)
    assert rows_of(other) == wanted
    with make(path) as again:
        assert rows_of(again) == wanted
        # the next rows are behind a gap
        again.reset()
        step(again, 0)
        assert len(again) == len(np.union1d(again.indices(), list(wanted))) - len(
            np.setdiff1d(list(wanted), again.indices()))
        assert again.gather([again.indices().max()]).is_first.all()
    with pytest.raises(cypool.ClosedError):
        again.sample(1)
    with pytest.raises(cypool.ClosedError):
        again.reset()


@pytest.mark.parametrize("kwargs", [{}, {"sequence_length": 4}, {"n_sampled_goal": 3}, {"alpha": 0.5, "n_step": 2}])
def test_save_and_load(walker, tmp_path, kwargs):
    buffer, other = make(**kwargs), make(**kwargs)
    play(buffer, 150)
    buffer.save(tmp_path / "saved")
    other.load(tmp_path / "saved")
    # rows whose step is not known yet are known after a gap
    assert np.isin(buffer.indices(), other.indices()).all()
    one, two = buffer.gather(buffer.indices()), other.gather(buffer.indices())
    for name in one.obs:
        np.testing.assert_array_equal(one.obs[name], two.obs[name])
    np.testing.assert_array_equal(one.reward, two.reward)
    assert len(os.listdir(tmp_path)) == 1
    other.sample(64)
    play(other, 100)
    play(buffer, 100)


def test_other_buffers_are_refused(walker, tmp_path):
    path = tmp_path / "replay"
    buffer = make(path)
    play(buffer, 5)
    with pytest.raises(ValueError, match="path: expected a file that is not open in another buffer"):
        make(path)
    with pytest.raises(ValueError, match="path: expected a file other than the buffer's own"):
        buffer.load(path)
    buffer.close()
    buffer.close()
    saved = path.read_bytes()
    with pytest.raises(ValueError, match="with capacity 600, got one with capacity 300$"):
        make(path, 600)
    with pytest.raises(ValueError, match="with priorities True, got one with priorities False$"):
        make(path, alpha=0.5)
    for wrong in (saved.replace(b'"rows": 100', b'"rows": "x"'), saved.replace(b'"rows"', b'"sowr"'),
                  saved.replace(b'{"action"', b'["action"'), saved[:40], saved.replace(b', "rows"', b',"rows" ')):
        assert wrong != saved
        (tmp_path / "other").write_bytes(wrong)
        with pytest.raises(ValueError, match="^path: expected a replay buffer file, got a damaged one"):
            make(tmp_path / "other")
    with pytest.raises(TypeError, match="path: expected"):
        make(path=3)
    for content, message in [(b"", "begins with b''"), (b"cypool state 1\n", "begins with b'cypool state"),
                             (path.read_bytes()[:-1], "bytes, got"), (path.read_bytes() + b"x", "bytes, got")]:
        (tmp_path / "other").write_bytes(content)
        for refuse in (lambda: make(tmp_path / "other"), lambda: make().load(tmp_path / "other")):
            with pytest.raises(ValueError, match=message):
                refuse()
    with pytest.raises(OSError):
        make(tmp_path / "no" / "folder")
    with pytest.raises(OSError):
        make().load(tmp_path / "nothing")
    other = make()
    play(other, 5)
    with pytest.raises(OSError):
        other.save(tmp_path / "no" / "folder")
    assert len(other) == 15


@pytest.mark.parametrize("number, alpha", [(1001, 0), (7.25, 0.5)])
def test_a_damaged_file_of_its_own(walker, tmp_path, number, alpha):
    path = tmp_path / "replay"
    with make(path, alpha=alpha) as buffer:
        play(buffer, 20)
        if alpha:
            buffer.update_priorities(buffer.indices()[:1], [7.25 - 1e-6])
    data = bytearray(path.read_bytes())
    # a number in a frame, or a priority
    data[data.index(np.float32(number).tobytes())] ^= 1
    path.write_bytes(data)
    for _ in "12":
        # nor does it stay locked
        with pytest.raises(ValueError, match="path: expected a replay buffer file, got a damaged one"):
            make(path, alpha=alpha)


def test_priorities_are_in_files(walker, tmp_path):
    path = tmp_path / "replay"

    def newest_priority(buffer):
        buffer.reset()
        step(buffer, 0)
        return buffer.priorities([buffer.indices().max()])[0]

    with make(path, alpha=0.7) as buffer:
        play(buffer, 60)
        index = buffer.indices()
        buffer.update_priorities(index, index % 17 + 3)
        # the greatest so far is of a row that has another one now
        buffer.update_priorities(index[:1], [99])
        buffer.update_priorities(index[:1], [0.5])
        wanted, shares = rows_of(buffer), np.bincount(buffer.sample(5000).index, minlength=600)
        buffer.save(tmp_path / "saved")
    loaded = make(alpha=0.7)
    loaded.load(tmp_path / "saved")
    with make(path, alpha=0.7) as again:
        for each in (again, loaded):
            assert rows_of(each) == wanted
            # equal seeds, equal sums of priorities
            assert (np.bincount(each.sample(5000).index, minlength=600) == shares).all()
            assert newest_priority(each) == np.float32(99 + 1e-6)
    plain = make()
    with pytest.raises(ValueError, match="expected a replay buffer file with .*, got one with"):
        plain.load(tmp_path / "saved")
    with pytest.raises(ValueError, match="priorities: expected a buffer with priorities"):
        plain.priorities([0])
    with pytest.raises(ValueError, match="index: expected existing rows"):
        loaded.priorities([10**6])


def test_one_of_several_that_make_a_file_gets_it(walker, tmp_path):
    for k in range(8):
        path, ready = tmp_path / str(k), threading.Barrier(3)

        def make_one(path=path, ready=ready):
            env = cypool.make("walker/Frames-v0", **OPTIONS)
            ready.wait(60)
            try:
                return cypool.ReplayBuffer(env, 300, path=path)
            except ValueError as error:
                assert "path: expected a file that is not open in another buffer" in str(error)

        with ThreadPoolExecutor(3) as threads:
            made = [future.result() for future in [threads.submit(make_one) for _ in range(3)]]
        (buffer,) = [each for each in made if each is not None]
        assert os.path.samestat(os.stat(path), os.fstat(buffer._file.fileno()))
        buffer.close()
    assert len(os.listdir(tmp_path)) == 8


def check_damaged(tmp_path, seed, count, **kwargs):
    rng = np.random.default_rng(seed)
    path, other = tmp_path / "replay", tmp_path / "damaged"
    with make(path, 120, **kwargs) as buffer:
        play(buffer, 70)
        if buffer.alpha > 0:
            buffer.update_priorities(buffer.indices(), rng.random(len(buffer)))
        wanted = rows_of(buffer)
    data = np.frombuffer(path.read_bytes(), np.uint8)
    begin = len(buffer._header)
    target, refused = make(capacity=120, **kwargs), 0
    # bytes that are not zero are nearly all the bytes of rows
    used = np.flatnonzero(data)
    for k in range(count):
        damaged = data.copy()
        kind = k % 5
        at = rng.choice(used)
        if kind == 0:
            damaged[at] ^= 1 << rng.integers(8)
        elif kind == 1:
            damaged[at:at + rng.integers(1, 5000)] = rng.integers(256)
        elif kind == 2:
            damaged[begin + 8 * rng.integers(0, 6)] = rng.integers(256)
        elif kind == 3:
            where = begin + 8 * rng.integers(0, 6)
            damaged[where:where + 8].view(np.int64)[:] = rng.choice([-1, 2**62, 2**48, 2**47, 1, -2**63, 40, 5000])
        else:
            one, two = rng.choice(used, 2)
            damaged[one:one + 64], damaged[two:two + 64] = data[two:two + 64][:len(data[one:one + 64])].copy(), 7
        damaged.tofile(other)
        try:
            target.load(other)
        except ValueError as error:
            assert "path: expected a replay buffer file" in str(error)
            assert k % 50 or len(target) == 0
            refused += 1
        else:
            got = rows_of(target)
            assert all(wanted[index] == row for index, row in got.items() if index in wanted)
            assert got.keys() == wanted.keys() or (damaged == data).all(), kind
    assert refused > count / 2


def test_damaged_files(walker, tmp_path):
    check_damaged(tmp_path, 0, 50, alpha=0.5)


# last run 2026-11-26: passed
@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("alpha", [0, 0.5])
def test_many_damaged_files(walker, tmp_path, alpha):
    check_damaged(tmp_path, 1, 500, alpha=alpha)


KILLS = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import numpy as np, walker, cypool
from replay.test_replay_files import make, play, rows_of, step

# most of the time of a step is that of writing its rows
SIZE, STEPS = 100_000, 60
rng = np.random.default_rng({seed})
wanted = make(capacity=900, size=SIZE)
play(wanted, STEPS)


def priorities_after(t, index):
    return (index * 7 + t) % 13 + 1


def set_priorities(buffer, t):
    index = buffer.indices()
    buffer.update_priorities(index, priorities_after(t, index) - 1e-6)

# rows of each environment after each step
counts = []
small = make(capacity=900)
small.reset(seed=5)
for t in range(STEPS):
    step(small, t)
    counts.append([int(max(i for i in small.indices() if i % 3 == env)) for env in range(3)])
for kill in range({kills}):
    path = {folder!r} + str(kill)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        buffer = make(path, 75, SIZE, alpha=0.5)
        buffer.reset(seed=5)
        for t in range(STEPS):
            step(buffer, t)
            set_priorities(buffer, t)
            os.write(write, b".")
        os._exit(0)
    os.close(write)
    done, number = 0, rng.integers(1, STEPS - 2)
    while done < number:
        done += len(os.read(read, number - done))
    # somewhere in one of the next steps
    for _ in range(rng.integers(0, 4_000)):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read)
    with make(path, 75, SIZE, alpha=0.5) as buffer:
        index = np.sort(buffer.indices())
        priorities = buffer.priorities(index)
        # those after the last step that is known to be done, or after a later one; of new rows the greatest so far
        steps = np.arange(done - 1, STEPS)[:, None]
        right = (priorities_after(steps, index) == priorities).any(0)
        assert (right | (priorities == 13) | (priorities == 1)).all() and priorities.max() <= 13, kill
        found = rows_of(buffer, priorities=False)
        for env in range(3):
            assert max(i for i in found if i % 3 == env) >= counts[done - 1][env], (kill, done)
            # all that fits: rows of 25, less what is between episodes, and one that was begun
            assert len([i for i in found if i % 3 == env]) >= min(done, 10)
        assert found == rows_of(wanted, np.array(sorted(found))), kill
        buffer.reset()
        step(buffer, 0)
    os.remove(path)
print("fine")
"""


def check_kills(run_forked, folder, seed, kills):
    tests = os.path.dirname(os.path.dirname(__file__))
    code = KILLS.format(tests=tests, seed=seed, kills=kills, folder=f"{folder}/file")
    assert run_forked(code, check=True).stdout == "fine\n"


def test_kills(run_forked, tmp_path):
    check_kills(run_forked, tmp_path, 0, 6)


# last run 2026-11-26: passed
@pytest.mark.slow
@pytest.mark.exhaustive
def test_many_kills(run_forked, tmp_path):
    check_kills(run_forked, tmp_path, 1, 100)


def test_goals_of_rows_from_a_file_are_those_of_live_ones(walker, tmp_path):
    live, loaded = (make(capacity=300, n_sampled_goal=4) for _ in "12")
    with make(tmp_path / "rows", 300, n_sampled_goal=4) as buffer:
        for each in (live, buffer):
            play(each, 80)
        buffer.save(tmp_path / "copy")
    loaded.load(tmp_path / "copy")
    with make(tmp_path / "rows", 300, n_sampled_goal=4) as again:
        wanted = live.sample(3000)
        for each in (loaded, again):
            sample = each.sample(3000)
            for name in ("desired_goal", "achieved_goal", "outer"):
                np.testing.assert_array_equal(sample.obs[name], wanted.obs[name])
            np.testing.assert_array_equal(sample.reward, wanted.reward)


def test_forged_rows_without_the_frames_before_them_are_not_sampled(walker, tmp_path):
    with make(tmp_path / "rows", 300) as buffer:
        play(buffer, 10)
        padding = buffer._layout.padding
        # FIRST and STEPPED
        buffer._memory["flags"][:, :padding] = 1 | 4
        buffer._memory["obs_sums"][:], buffer._memory["step_sums"][:] = buffer._ring.sums()
    with make(tmp_path / "rows", 300) as buffer:
        assert padding == 2 and (buffer.indices() // 3).min() == padding
        for index in range(3 * padding):
            with pytest.raises(ValueError, match="expected existing rows"):
                buffer.gather([index])
