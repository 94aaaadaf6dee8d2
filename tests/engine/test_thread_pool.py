"""Threads that several pools share, and on which CPUs threads run."""
import copy
import gc
import os
import pickle
from functools import partial

import numpy as np
import pytest
from engine.threads import at_once, await_tasks, meanwhile, start, tasks
from markers import slow
from receiving import receive_pending, started
from waiting import attempts, join, wait_until

import cypool
from cypool.engine import cpus
from cypool.engine.engine import worth_waking

pytestmark = pytest.mark.families("atari")
THREADS = [1, 2, 5]


def history(env, num_steps=150):
    """The output of each environment, step by step; actions depend on nothing else."""
    shown = {i: [] for i in range(env.num_envs)}
    env.async_reset(seed=3)
    for _ in range(num_steps):
        obs, reward, terminated, truncated, info = env.recv()
        for row, i in enumerate(info["env_id"].tolist()):
            shown[i].append((obs[row].tobytes(), reward[row], terminated[row], truncated[row],
                             info["elapsed_step"][row]))
        ids = info["env_id"]
        env.send([(len(shown[i]) * 7 + i) // 3 % 2 for i in ids.tolist()], ids)
    receive_pending(env)
    return shown


def check_histories(got, want):
    for i in want:
        # an asynchronous pool does not step all of them equally often
        common = min(len(got[i]), len(want[i]))
        assert got[i][:common] == want[i][:common]
    assert sum(map(len, got.values())) == sum(map(len, want.values()))


POOLS = [{"num_envs": 6}, {"num_envs": 300}, {"num_envs": 9, "batch_size": 4}, {"num_envs": 300, "batch_size": 100}]


@pytest.mark.parametrize("num_threads", THREADS)
def test_pools_in_turn_equal_pools_of_their_own(num_threads):
    with cypool.ThreadPool(num_threads) as threads:
        before = tasks()
        envs = [cypool.make("CartPole-v1", thread_pool=threads, **each) for each in POOLS]
        assert tasks() <= before and threads.num_pools == len(POOLS)
        assert all(env.num_threads == num_threads for env in envs)
        for env, each in zip(envs, POOLS, strict=True):
            with cypool.make("CartPole-v1", num_threads=2, **each) as own:
                check_histories(history(env), history(own))
        for env in envs:
            env.close()
        assert threads.num_pools == 0


@pytest.mark.parametrize("num_threads", THREADS)
def test_pools_at_once_from_several_python_threads(num_threads):
    want = []
    for each in POOLS:
        with cypool.make("CartPole-v1", num_threads=1, **each) as own:
            want.append(history(own, 60))
    got = {}

    def use(k):
        with cypool.make("CartPole-v1", thread_pool=threads, **POOLS[k % len(POOLS)]) as env:
            got[k] = history(env, 60)

    with cypool.ThreadPool(num_threads) as threads:
        at_once(*(partial(use, k) for k in range(2 * len(POOLS))))
        assert threads.num_pools == 0
    for k in range(2 * len(POOLS)):
        check_histories(got[k], want[k % len(POOLS)])


def test_many_pools_made_and_closed_at_once(trouble):
    def churn(seed):
        random = np.random.default_rng(seed)
        for _ in range(40):
            num_envs = int(random.integers(2, 200))
            batch_size = int(random.integers(1, num_envs + 1))
            env = cypool.make("walker/Trouble-v0", num_envs=num_envs, batch_size=batch_size, thread_pool=threads)
            env.async_reset()
            obs, *_, info = env.recv()
            assert not obs["count"].any()
            env.send(random.choice([trouble.GO, trouble.RAISE_STEP, trouble.TERMINATE], len(info["env_id"])),
                     info["env_id"])
            if random.random() < 0.7:
                env.close()
            done.append(1)

    done = []
    with cypool.ThreadPool(3) as threads:
        at_once(*(partial(churn, seed) for seed in range(5)))
        gc.collect()
        assert threads.num_pools == 0
    assert len(done) == 200


def test_a_busy_pool_does_not_keep_the_threads_to_itself():
    with cypool.ThreadPool(1) as threads:
        busy = cypool.make("Breakout-v5", num_envs=30, batch_size=1, thread_pool=threads)
        busy.async_reset()

        def feed():
            # sends come faster than steps: there is always something to do here
            ids = busy.recv()[4]["env_id"]
            busy.send(np.zeros(len(ids), np.int64), ids)

        with meanwhile(feed):
            for _ in range(20):
                with cypool.make("CartPole-v1", num_envs=4, batch_size=2, thread_pool=threads) as env:
                    env.reset()
                    env.step([0, 1])
        busy.close()


@pytest.mark.parametrize("batch_size", [2, 1])
def test_a_blocked_pool_does_not_keep_others_from_closing(trouble, batch_size):
    threads = cypool.ThreadPool(2)
    blocked = started(cypool.make("walker/Trouble-v0", num_envs=2, batch_size=1, thread_pool=threads))
    for _ in range(5):
        other = cypool.make("walker/Trouble-v0", num_envs=2, batch_size=batch_size, thread_pool=threads)
        other.reset()
        trouble.set_gate(False)
        blocked.send([trouble.WAIT], [0])
        wait_until(lambda: trouble.num_waiting() > 0)
        other.step([trouble.GO] * batch_size)
        other.close()
        assert threads.num_pools == 1
        trouble.set_gate(True)
        assert blocked.recv()[4]["env_id"].tolist() == [0]
    blocked.close()
    threads.close()


def test_close_is_refused_while_pools_use_the_threads(trouble):
    before = tasks()
    threads = cypool.ThreadPool(3)
    assert len(tasks() - before) == 3
    assert repr(threads) == "ThreadPool(num_threads=3, num_pools=0)"
    envs = [cypool.make("CartPole-v1", num_envs=4, thread_pool=threads) for _ in range(2)]
    assert repr(threads) == "ThreadPool(num_threads=3, num_pools=2)"
    with pytest.raises(RuntimeError, match="^close: 2 pools still use these threads"):
        threads.close()
    for env in envs:
        env.reset()
        env.close()
        env.close()
    threads.close()
    threads.close()
    await_tasks(before)
    with pytest.raises(RuntimeError, match="^thread_pool: its threads have ended"):
        cypool.make("CartPole-v1", thread_pool=threads)


def test_close_while_a_pool_is_being_closed(trouble):
    threads = cypool.ThreadPool(1)
    env = started(cypool.make("walker/Trouble-v0", num_envs=2, batch_size=1, thread_pool=threads))
    trouble.set_gate(False)
    env.send([trouble.WAIT], [0])
    wait_until(lambda: trouble.num_waiting() > 0)
    closer = start(env.close)
    with pytest.raises(cypool.ClosedError):
        for _ in attempts():
            try:
                # refused with the GIL held, so that the closer never finds us in a call
                env.send([trouble.GO], [0])
            except cypool.ClosedError:
                raise
            except RuntimeError:
                # env 0 is in flight
                pass
    with pytest.raises(cypool.ClosedError):
        env.recv(timeout=0)
    # a thread is with it still
    with pytest.raises(RuntimeError, match="1 pools still use"):
        threads.close()
    with cypool.make("CartPole-v1", num_envs=4, thread_pool=threads) as other:
        other.reset()
    trouble.set_gate(True)
    join(closer)
    assert threads.num_pools == 0
    threads.close()


def test_close_from_several_python_threads():
    before = tasks()
    for _ in range(50):
        threads = cypool.ThreadPool(4)
        at_once(*[threads.close] * 4)
    await_tasks(before)


@pytest.mark.parametrize("order", ["threads, env", "env, threads", "both at once"])
def test_threads_end_in_either_order_of_del(order):
    before = tasks()
    threads = cypool.ThreadPool(2)
    env = cypool.make("CartPole-v1", num_envs=40, batch_size=20, thread_pool=threads)
    env.reset()
    if order == "threads, env":
        del threads
        env.step([0] * 20)
        del env
    elif order == "env, threads":
        del env
        assert threads.num_pools == 0
        del threads
    else:
        cycle = [threads, env]
        cycle.append(cycle)
        del threads, env, cycle
        gc.collect()
    await_tasks(before)


THREADS_BEFORE = """
import gc, os, sys, threading, time, weakref, cypool, walker
from walker import trouble
# the thread sanitizer starts a thread of its own with the first one
first = threading.Thread()
first.start()
first.join()
before = set(os.listdir("/proc/self/task"))
"""


@pytest.mark.parametrize("shared", [False, True])
def test_garbage_is_not_taken_apart_under_a_thread_at_work(run_forked, shared):
    assert run_forked(f"""{THREADS_BEFORE}
gc.disable()
for turn in range(20):
    kwargs = dict(thread_pool=cypool.ThreadPool(3)) if {shared} else dict(num_threads=3)
    env = cypool.make("walker/Walk-v0", num_envs=5000, batch_size=50, **kwargs)
    env.async_reset()
    ids = env.recv()[4]["env_id"]
    env.send([turn % 3] * 50, ids)
    cycle = [env, kwargs]
    cycle.append(cycle)
    del env, kwargs, cycle
    gc.collect()
while set(os.listdir("/proc/self/task")) - before:
    pass
print("ok")
""", check=True).stdout == "ok\n"


@pytest.mark.parametrize("num_threads", [2, 5, *slow(1)])
@pytest.mark.parametrize("shared", ["False", "True", *slow("'garbage too'")])
def test_garbage_found_by_a_thread_whose_env_raises(run_forked, num_threads, shared):
    assert run_forked(f"""{THREADS_BEFORE}
N, SHARED = {num_threads}, {shared}
collected = threading.Lock()
where = []

def report(_):
    where.append(threading.get_ident())
    collected.release()

def blocked_pool(threads):
    env = cypool.make("walker/Trouble-v0", num_envs=4 * N, batch_size=1, **threads)
    env.async_reset()
    for _ in range(4 * N):
        env.recv()
    # each thread waits in one env, then the others raise
    for k in range(N):
        # one at a time: a thread may claim several that wait together
        env.send([trouble.WAIT], [k])
        while trouble.num_waiting() <= k:
            pass
    env.send([trouble.RAISE_STEP, trouble.RAISE_OBSERVE, trouble.CPP_THROW] * N, range(N, 4 * N))
    cycle = [env]
    cycle.append(cycle)
    return weakref.ref(env, report)

gc.disable()
for turn in range(10):
    trouble.set_gate(False)
    threads = cypool.ThreadPool(N) if SHARED else None
    other = cypool.make("CartPole-v1", num_envs=6, seed=1, thread_pool=threads) if SHARED is True else None
    collected.acquire()
    watch = blocked_pool(dict(thread_pool=threads) if SHARED else dict(num_threads=N))
    if SHARED is not True:
        threads = None
    # without the zeros a Python without the GIL waits for a quarter more objects
    gc.set_threshold(1, 0, 0)
    gc.enable()
    trouble.set_gate(True)
    # makes no objects, so it is a thread that collects: by its first allocation, where Python does that. From 3.12 on a
    # thread that runs bytecode does, from 3.13 on when it has made objects itself, without the GIL hundreds that are
    # still there; and lists would come from a store
    end, made = time.monotonic() + 60, []
    while not collected.acquire(timeout=0.01 if sys.version_info >= (3, 12) else 1):
        assert time.monotonic() < end
        if sys.version_info >= (3, 12):
            made += [set() for _ in range(600)]
    gc.disable()
    collected.release()
    assert sys.version_info >= (3, 12) or where[-1] != threading.get_ident()
    if other is not None:
        while threads.num_pools != 1:
            pass
        other.reset()
        for _ in range(20):
            other.step([1] * 6)
        other.close()
        threads.close()
    while set(os.listdir("/proc/self/task")) - before:
        pass
print("ok")
""", check=True).stdout == "ok\n"


def test_pools_in_a_fork_raise_and_the_parent_continues(run_forked):
    done = run_forked("""
import os, sys, warnings, cypool
# Python 3.12 warns of forks in a process with threads
warnings.simplefilter("ignore", DeprecationWarning)
threads = cypool.ThreadPool(3)
env = cypool.make("CartPole-v1", num_envs=8, batch_size=4, thread_pool=threads)
env.reset()
child = os.fork()
if child == 0:
    for call in (env.recv, lambda: cypool.make("CartPole-v1", thread_pool=threads)):
        try:
            call()
        except RuntimeError as error:
            print(error, flush=True)
        else:
            sys.exit("no error")
    env.close(); threads.close()
    new = cypool.make("CartPole-v1", num_envs=8, batch_size=4, thread_pool=cypool.ThreadPool(2))
    new.reset(); new.step([0] * 4)
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
child = os.fork()
if child == 0:
    sys.exit(8)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 8
env.step([0] * 4)
""")
    before, after = done.stdout.splitlines()
    assert "made before fork" in before and "thread_pool: its threads have ended" in after and done.stderr == ""


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_a_copy_has_threads_of_its_own(again):
    with cypool.ThreadPool(3) as threads:
        env = cypool.make("CartPole-v1", num_envs=8, seed=2, thread_pool=threads)
        before = tasks()
        twin = again(env)
        assert len(tasks() - before) == 2 and threads.num_pools == 1 and twin.num_threads == 3
        check_histories(history(twin, 50), history(env, 50))
        env.close()


def test_pools_in_cycles_make_room_for_others():
    with cypool.ThreadPool(2) as threads:
        gc.disable()
        try:
            for _ in range(130):
                env = cypool.make("CartPole-v1", num_envs=2, thread_pool=threads)
                env.itself = env
        finally:
            gc.enable()
        del env
        gc.collect()
        assert threads.num_pools == 0


def test_so_many_pools_and_no_more():
    with cypool.ThreadPool(2) as threads:
        envs = [cypool.make("CartPole-v1", num_envs=2, thread_pool=threads) for _ in range(64)]
        with pytest.raises(RuntimeError, match="^thread_pool: expected at most 64 pools at a time"):
            cypool.make("CartPole-v1", num_envs=2, thread_pool=threads)
        assert threads.num_pools == 64
        envs.pop(17).close()
        envs.append(cypool.make("CartPole-v1", num_envs=2, batch_size=1, thread_pool=threads))
        for env in envs:
            env.reset()
            env.close()


@pytest.mark.parametrize("num_threads", THREADS)
def test_errors_of_environments(trouble, num_threads):
    with cypool.ThreadPool(num_threads) as threads:
        for batch_size in (200, 3):
            with cypool.make("walker/Trouble-v0", num_envs=200, batch_size=batch_size, thread_pool=threads) as env:
                env.async_reset()
                ids = env.recv()[4]["env_id"]
                receive_pending(env)
                actions = [trouble.RAISE_STEP, trouble.CPP_THROW, trouble.RAISE_OBSERVE]
                with pytest.raises(cypool.EnvError) as caught:
                    env.step([actions[k % 3] for k in range(len(ids))], ids)
                assert sorted(caught.value.causes) == sorted(ids.tolist()) and caught.value.batch[3].all()
                assert not env.step([trouble.GO] * len(ids), ids)[3].any()


def test_bad_arguments_are_named():
    for bad, kind in (("two", TypeError), (2.0, TypeError), (True, TypeError), (0, ValueError), (5000, ValueError)):
        with pytest.raises(kind, match="^num_threads"):
            cypool.ThreadPool(bad)
    with pytest.raises(TypeError, match="^thread_pool: expected a cypool.ThreadPool, got 3"):
        cypool.make("CartPole-v1", thread_pool=3)
    with cypool.ThreadPool() as threads:
        assert threads.num_threads == cpus.available()
        for other in ({"num_threads": 2}, {"thread_affinity": [0]}):
            with pytest.raises(ValueError, match="^thread_pool: expected None with num_threads or thread_affinity"):
                cypool.make("CartPole-v1", thread_pool=threads, **other)
        with pytest.raises(RuntimeError, match="already initialized"):
            threads.__init__(2)
        assert threads.num_pools == 0


OWN = sorted(os.sched_getaffinity(0))
ABSENT = next(cpu for cpu in range(2**16) if cpu not in OWN)


@pytest.mark.parametrize(("bad", "kind"), [
    ("all", ValueError), (3, TypeError), ([], ValueError), ([ABSENT], ValueError), ([OWN[0], 2**17], ValueError),
    ([-1], ValueError), (["0"], TypeError), ([None], TypeError), ([True], TypeError),
])
def test_bad_affinity(bad, kind):
    before = tasks()
    for make in (lambda: cypool.make("CartPole-v1", num_envs=4, num_threads=3, thread_affinity=bad),
                 lambda: cypool.ThreadPool(2, bad)):
        with pytest.raises(kind, match="^thread_affinity"):
            make()
    await_tasks(before)


@pytest.mark.parametrize("make, wish, count", [
    *((make, wish, count) for wish in (OWN[-1:], OWN, [OWN[0], OWN[0], OWN[-1]]) for make, count in (
        ("cypool.ThreadPool(3, {wish})", 3),
        ("cypool.make('CartPole-v1', num_envs=9, num_threads=4, thread_affinity={wish})", 3),
        ("cypool.make('CartPole-v1', num_envs=9, batch_size=4, num_threads=3, thread_affinity={wish})", 3),
        ("pickle.loads(pickle.dumps(cypool.make('CartPole-v1', num_envs=9, num_threads=1, thread_affinity={wish})))",
         0))),
    *((f"envpool.make_gymnasium('CartPole-v1', num_envs=8, num_threads=3, thread_affinity_offset={offset})",
       [OWN[(offset + k) % len(OWN)] for k in range(2)], 2) for offset in (0, 1, 100))], ids=str)
def test_threads_run_on_the_cpus_of_their_affinity(run_forked, make, wish, count):
    expected = sorted(str(wish[k % len(wish)]) for k in range(count))
    assert run_forked(f"""
import os, pickle, re, numpy, cypool, cypool.compat.envpool as envpool
own = os.sched_getaffinity(0)
before = set(os.listdir("/proc/self/task"))
threads = {make.format(wish=wish)}
masks = None
# each says so itself, soon after it has begun; the test's time limit ends this loop
while masks != {expected}:
    masks = sorted(re.search("Cpus_allowed_list:\\\\s*(.*)", open(f"/proc/self/task/{{tid}}/status").read())[1]
                   for tid in set(os.listdir("/proc/self/task")) - before)
assert os.sched_getaffinity(0) == own
threads.close()
print("ok")
""", check=True).stdout == "ok\n"


def test_numa_fills_memory_nodes_in_turn(tmp_path, monkeypatch):
    assert cpus.numa_nodes(tmp_path) == []
    for node, text in (("node0", "0-3,8-9\n"), ("node10", "\n"), ("node2", "5\n"), ("nodes", "7\n")):
        (tmp_path / node).mkdir()
        (tmp_path / node / "cpulist").write_text(text)
    (tmp_path / "possible").write_text("0-10\n")
    assert cpus.numa_nodes(tmp_path) == [{0, 1, 2, 3, 8, 9}, {5}, set()]
    # this machine's
    assert set().union(*cpus.numa_nodes()) <= set(range(os.cpu_count()))

    own = {0, 1, 2, 3, 4, 5}
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: own)
    for nodes, num_threads, expected in (
            ([], 3, None), ([{0, 1, 2, 3, 4, 5}], 3, None), ([{0, 1}, {8, 9}], 3, None),
            ([{0, 1, 8}, {4, 5}], 4, [{0, 1}, {0, 1}, {4, 5}, {4, 5}]),
            ([{0, 1}, {4, 5}], 3, [{0, 1}, {0, 1}, {4, 5}]),
            ([{0}, {1}, set(), {4}], 1, [{0}]), ([{0}, {1}], 0, [])):
        monkeypatch.setattr(cpus, "numa_nodes", lambda nodes=nodes: nodes)
        assert cpus.affinity("numa", num_threads) == expected


def test_quota_of_control_groups_limits_available_cpus(tmp_path, monkeypatch):
    """Made-up files: a quota counts wherever it is between the process's own group and the mount point."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)))

    def seen(cgroup, mounts, files):
        proc = tmp_path / str(len(list(tmp_path.iterdir())))
        proc.mkdir()
        (proc / "cgroup").write_text(cgroup)
        (proc / "mountinfo").write_text("".join(
            f"31 23 0:28 {root} {proc}/{mount.replace(' ', chr(92) + '040')} rw shared:9 - {kind} none rw,{options}\n"
            for root, mount, kind, options in mounts))
        for name, text in files.items():
            (proc / name).parent.mkdir(parents=True, exist_ok=True)
            (proc / name).write_text(text + "\n")
        found = cpus.quota_of_groups(proc)
        with monkeypatch.context() as patch:
            patch.setattr(cpus, "quota_of_groups", lambda: found)
            return found, cpus.available()

    two = [("/", "fs", "cgroup2", "nsdelegate")]
    one = [("/", "fs/pids", "cgroup", "pids"), ("/", "fs/cpu", "cgroup", "cpu,cpuacct"), ("/", "fs/2", "cgroup2", "x")]
    own = "9:pids:/\n1:cpu,cpuacct:/slurm/job_1/step_0\n0::/\n"
    slurm = "fs/cpu/slurm/job_1"
    # systemd's CPUQuota= is the unit's; a slice above it may allow less
    unit = {"fs/a.slice/b.service/cpu.max": "350000 100000", "fs/a.slice/cpu.max": "max 100000"}
    assert seen("0::/a.slice/b.service\n", two, unit) == (3.5, 4)
    assert seen("0::/a.slice/b.service\n", two, {**unit, "fs/a.slice/cpu.max": "120000 100000"}) == (1.2, 2)
    # the limits of another unit, and those above the mount point, are not ours
    assert seen("0::/a.slice/c.service\n", two, {**unit, "cpu.max": "100000 100000"}) == (None, 64)
    # as it is in a container, without and with the names that the host has; and outside the mount
    at_root = {"fs/cpu.max": "50000 100000"}
    assert seen("0::/\n", two, at_root) == (0.5, 1)
    assert seen("0::/../other\n", two, {**at_root, "other/cpu.max": "20000 100000"}) == (0.5, 1)
    hosts = [("/docker/12", "fs", "cgroup2", "x")]
    assert seen("0::/docker/12/in\n", hosts, {**at_root, "fs/in/cpu.max": "30000 100000"}) == (0.3, 1)
    assert seen("0::/docker/123\n", hosts, {"fs/cpu.max": "200000 100000"}) == (2, 2)
    # version 1, together with a version 2 that limits no CPUs
    assert seen(own, one, {f"{slurm}/cpu.cfs_quota_us": "800000", f"{slurm}/cpu.cfs_period_us": "100000",
                           f"{slurm}/step_0/cpu.cfs_quota_us": "-1",
                           f"{slurm}/step_0/cpu.cfs_period_us": "100000"}) == (8, 8)
    assert seen(own, [("/", "with space", "cgroup", "cpu")], {
        "with space/slurm/cpu.cfs_quota_us": "150000", "with space/slurm/cpu.cfs_period_us": "100000"}) == (1.5, 2)
    # nothing to go by
    assert seen("", [], {}) == (None, 64) == seen("not a line", two, at_root)
    assert seen("0::/\n", two, {"fs/cpu.max": "nonsense"}) == (None, 64)
    assert cpus.quota_of_groups(tmp_path / "not there") is None


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_numa_changes_no_results(num_threads):
    env, own = (cypool.make("CartPole-v1", num_envs=50, num_threads=num_threads, thread_affinity=wish)
                for wish in ("numa", None))
    check_histories(history(env, 50), history(own, 50))


def test_no_more_threads_are_woken_than_there_is_work_for():
    us = 1000
    for work_ns, count in ((1, 1), (20 * us - 1, 1), (40 * us - 1, 1), (40 * us, 2), (100 * us, 5), (1000 * us, 50),
                           (2000 * us, 100), (10**15, 100)):
        assert worth_waking(work_ns, 100) == count
        # and no more than there are
        assert [worth_waking(work_ns, wanted) for wanted in (0, 1, 3)] == [0, 1, min(3, count)]
    # steps of unknown cost may take long
    assert worth_waking(0, 100) == 100
