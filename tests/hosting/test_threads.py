"""Environments of Python in threads of the pool's process: the differences from processes."""
import contextlib
import gc
import os
import pickle
import re
import signal
import sys
import threading
from functools import partial
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from engine.threads import at_once
from gymnasium import spaces
from hosting.hosts import threads_of_pools
from receiving import started
from waiting import LIMIT, join, run_program, wait_until

import cypool
from cypool.hosting import forkserver
from cypool.hosting.spaces import call_method

GO, WAIT, RAISE = range(3)


class Gate:
    """Where environments wait in methods of their choice until it is opened."""

    def __init__(self):
        self.arrived, self.opened = threading.Event(), threading.Event()

    def wait(self):
        self.arrived.set()
        assert self.opened.wait(LIMIT)


class Waiter(gymnasium.Env):
    """Counts its steps; waits at a gate in the methods `where`, and in a step with WAIT."""

    observation_space = spaces.Box(0, 1000, (2,), np.int64)
    action_space = spaces.Discrete(3)

    def __init__(self, number=0, gate=None, where=()):
        self.number, self.gate, self.where = number, gate, where
        self.closed = False
        self.pass_by("__init__")

    def pass_by(self, method):
        if method in self.where:
            self.gate.wait()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        self.pass_by("reset")
        return np.array([0, self.number]), {}

    def step(self, action):
        self.count += 1
        if action == WAIT:
            self.gate.wait()
        elif action == RAISE:
            raise self.gate
        return np.array([self.count, self.number]), 1.0, False, False, {}

    def method(self):
        self.pass_by("method")
        return self.number

    def close(self):
        self.pass_by("close")
        self.closed = True


@pytest.fixture
def brief_close(monkeypatch):
    monkeypatch.setattr(forkserver, "GRACE", 0.05)


@contextlib.contextmanager
def waits(gate, stuck):
    """The pool is closed within while this one does not return; then it does, and its thread ends."""
    # on a busy machine others may be late
    message = rf"^close: expected environments to return within 0.05 s, but (.*, )?{stuck}(, .*)? did not; each thr"
    with pytest.warns(RuntimeWarning, match=message) as warned:
        yield
    assert [each.filename for each in warned] == [__file__]
    threads = threads_of_pools()
    assert threads
    gate.opened.set()
    join(*threads)


@pytest.mark.parametrize("num_workers", [0, 1, 2, 7, None])
def test_an_environment_is_of_one_thread(num_workers):
    seen = [set() for _ in range(5)]

    class Noting(Waiter):
        def __getattribute__(self, name):
            if name in ("reset", "step", "render", "method", "close"):
                seen[object.__getattribute__(self, "number")].add(threading.get_ident())
            return super().__getattribute__(name)

        render_mode = "rgb_array"

        def render(self):
            return np.zeros((2, 2, 3), np.uint8)

    with cypool.from_factories([partial(Noting, i) for i in range(5)], workers="threads",
                               num_workers=num_workers) as env:
        expected = 5 if num_workers is None else min(num_workers, 5)
        assert env.num_threads == len(threads_of_pools()) == expected
        env.reset(seed=3)
        env.step([GO] * 5)
        env.render()
        assert env._pool.ask(None, call_method, "method") == list(range(5))
    assert {len(each) for each in seen} == {1}
    assert len(set.union(*seen)) == max(expected, 1)
    assert (threading.get_ident() in set.union(*seen)) == (num_workers == 0)


def test_num_threads_is_the_number_of_workers():
    with cypool.make("gymnasium:CartPole-v1", num_envs=3, num_threads=2, workers="threads") as env:
        assert env.num_threads == len(threads_of_pools()) == 2
        with pickle.loads(pickle.dumps(env)) as copied:
            assert copied.num_threads == 2 and len(threads_of_pools()) == 4


def test_all_wait_at_the_same_time():
    barrier = threading.Barrier(16)

    class Meeting(Waiter):
        def step(self, action):
            barrier.wait(LIMIT)
            return super().step(action)

    with started(cypool.from_factories([Meeting] * 16, workers="threads")) as env:
        for t in range(3):
            assert (env.step([GO] * 16)[0][:, 0] == t + 1).all()


def test_one_that_waits_holds_nobody_up():
    gate = Gate()
    with cypool.from_factories([partial(Waiter, i, gate) for i in range(4)], batch_size=3, workers="threads") as env:
        started(env)
        env.send([GO, WAIT, GO, GO], [0, 1, 2, 3])
        for _ in range(3):
            *_, info = env.recv()
            assert sorted(info["env_id"]) == [0, 2, 3]
            env.send([GO] * 3, [0, 2, 3])
        env.recv()
        with pytest.raises(TimeoutError, match="recv: 0 of 1"):
            env.recv(timeout=0.01)
        gate.opened.set()
        obs, *_ = env.recv()
        assert obs.tolist() == [[1, 1]]


def test_ctrl_c_while_environments_wait():
    gate = Gate()

    class Interrupting(Waiter):
        def step(self, action):
            if action == WAIT:
                os.kill(os.getpid(), signal.SIGINT)
            return super().step(action)

    with started(cypool.from_factories([partial(Interrupting, i, gate) for i in range(2)], workers="threads")) as env:
        with pytest.raises(KeyboardInterrupt):
            env.step([GO, WAIT])
        gate.opened.set()
        assert env.recv()[0].tolist() == [[1, 0], [1, 1]]
        assert env.step([GO, GO])[0].tolist() == [[2, 0], [2, 1]]


@pytest.mark.parametrize("raised", [KeyError("x"), KeyboardInterrupt(), SystemExit(3), GeneratorExit()], ids=repr)
def test_exception_of_an_environment_is_the_cause(raised):
    with started(cypool.from_factories([partial(Waiter, i, raised) for i in range(2)], workers="threads")) as env:
        with pytest.raises(cypool.EnvError) as caught:
            env.step([GO, RAISE])
        cause = caught.value.causes[1]
        if isinstance(raised, KeyboardInterrupt):
            # another one than that of the user
            assert str(cause) == "it raised KeyboardInterrupt"
            cause = cause.__cause__
        assert cause is raised and caught.value.batch[0].tolist() == [[1, 0], [0, 0]]
        assert env.step([GO, GO])[0].tolist() == [[2, 0], [0, 1]]


def test_infos_are_objects():
    lock = threading.Lock()

    class Teller(Waiter):
        def step(self, action):
            *result, _ = super().step(action)
            return *result, {"lock": lock, "large": bytes(1 << 24)} if self.number else {}

    with started(cypool.from_factories([partial(Teller, i) for i in range(2)], workers="threads")) as env:
        for _ in range(2):
            *_, info = env.step([GO, GO])
            assert info["lock"][1] is lock and info["lock"][0] is None and len(info["large"][1]) == 1 << 24


@pytest.mark.parametrize("arguments, message", [
    ({"workers": "fork"}, "^workers: expected one of 'auto', 'processes', 'threads', got 'fork'"),
    ({"workers": None}, "^workers: expected one of 'auto', 'processes', 'threads', got None"),
    ({"workers": ["threads"]}, "^workers: expected one of"),
    ({"workers": "threads", "start_method": "spawn"}, "^start_method: expected None with workers='threads', got 'sp"),
    ({"workers": "threads", "start_method": "fork"}, "^start_method: expected one of"),
    ({"workers": "threads", "worker_timeout": 3}, "^worker_timeout: expected None with workers='threads' .*got 3"),
    ({"workers": "threads", "num_workers": 4097}, "^num_workers: expected 0 to 4096"),
])
def test_bad_arguments_are_refused(arguments, message):
    for make in (partial(cypool.from_factories, [Waiter]), partial(cypool.make, "gymnasium:CartPole-v1")):
        with pytest.raises(ValueError, match=message):
            make(**arguments)


def test_processes_by_default():
    for given in ({}, {"workers": "auto"}, {"workers": "processes"}):
        with cypool.from_factories([Waiter], num_workers=0, **given) as env:
            assert env.recipe["workers"] == given.get("workers", "auto")
    with cypool.make("gymnasium:CartPole-v1", num_workers=1, workers="processes") as env:
        assert not threads_of_pools() and env.num_threads == 1


def test_none_as_start_method_is_the_default():
    with cypool.from_factories([Waiter], num_workers=0, start_method=None) as env:
        assert env.recipe["start_method"] == "forkserver"
    with cypool.make("gymnasium:CartPole-v1", workers="threads", start_method=None) as env:
        env.reset()


@pytest.mark.usefixtures("brief_close")
@pytest.mark.parametrize("method", ["step", "reset"])
def test_close_names_who_is_stuck(method):
    gate = Gate()
    env = cypool.from_factories([partial(Waiter, i, gate, [method] * (i == 1)) for i in range(3)], workers="threads")
    env.async_reset()
    if method == "step":
        env.recv()
        env.send([GO, WAIT, GO])
    assert gate.arrived.wait(LIMIT)
    with waits(gate, f"env 1 in {method}"):
        env.close()
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.recv()


@pytest.mark.usefixtures("brief_close")
def test_close_while_an_environment_is_in_a_call():
    gate = Gate()
    env = cypool.from_factories([partial(Waiter, i, gate, ["method"] * i) for i in range(2)], workers="threads")
    threading.Thread(target=lambda: (gate.arrived.wait(LIMIT), os.kill(os.getpid(), signal.SIGINT))).start()
    with pytest.raises(KeyboardInterrupt):
        env._pool.ask(None, call_method, "method")
    with waits(gate, "env 1 in a call"):
        env.close()


@pytest.mark.usefixtures("brief_close")
def test_an_environment_that_does_not_close():
    gate = Gate()
    env = cypool.from_factories([partial(Waiter, i, gate, ["close"] * (i == 2)) for i in range(4)], workers="threads",
                                num_workers=2)
    env.reset()
    with waits(gate, "env 2 or 3 while being created or closed"):
        env.close()


@pytest.mark.parametrize("which", [0, 1])
def test_ctrl_c_while_threads_start_is_raised_by_make(monkeypatch, which):
    """It is raised where `make` waits, and not within `Thread.start`, which is not made for that."""
    start, started = threading.Thread.start, []

    def interrupt(thread):
        assert threading.get_ident() != threading.main_thread().ident
        if len(started) == which:
            os.kill(os.getpid(), signal.SIGINT)
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cypool.from_factories([Waiter] * 2, workers="threads")
    assert len(started) > which


def test_thread_that_cannot_start_raises(monkeypatch):
    start, started = threading.Thread.start, []

    def fail(thread):
        started.append(thread)
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", fail)
    with pytest.raises(RuntimeError, match="^can't start new thread"):
        cypool.from_factories([Waiter] * 3, workers="threads")
    assert len(started) == 2


@pytest.mark.usefixtures("brief_close")
def test_an_environment_that_is_not_made_while_another_fails():
    gate = Gate()

    def fail():
        assert gate.arrived.wait(LIMIT)
        raise ArithmeticError("no environment today")

    with waits(gate, "env 1 while being created or closed"):
        with pytest.raises(ArithmeticError, match="no environment today"):
            cypool.from_factories([fail, partial(Waiter, 1, gate, ["__init__"]), Waiter], workers="threads")


def test_a_pool_that_is_thrown_away_closes_its_environments():
    made = []

    def make():
        made.append(Waiter())
        return made[-1]

    env = started(cypool.from_factories([make] * 2, workers="threads"))
    env.send([GO, GO])
    del env
    wait_until(lambda: len(made) == 2 and all(each.closed for each in made))


def test_a_pool_that_one_of_its_threads_throws_away():
    collected = threading.Event()
    gate = Gate()

    class Collecting(Waiter):
        def step(self, action):
            result = super().step(action)
            gc.collect()
            collected.set()
            return result

    env = started(cypool.from_factories([partial(Collecting, 0, gate)], workers="threads"))
    gc.disable()
    try:
        env.send([WAIT])
        cycle = [env]
        cycle.append(cycle)
        del env, cycle
        # only now, as the thread has to find it
        gate.opened.set()
        assert collected.wait(LIMIT)
        join(*threads_of_pools())
    finally:
        gc.enable()


EXIT = """
import sys, threading, time, cypool, gymnasium
from cypool.hosting import forkserver

forkserver.GRACE = 0.2
# of the two that are stuck, and of the main thread
barrier = threading.Barrier(3)

class Stuck(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        return 0, {{}}
    def step(self, action):
        if action:
            barrier.wait(60)
        while action:
            {wait}
        return 1, 0.0, False, False, {{}}

env = cypool.from_factories([Stuck] * 3, workers="threads")
env.reset()
env.send([0, 1, 1])
barrier.wait(60)
print("end", flush=True)
{way}
"""


@pytest.mark.parametrize("wait, way", [
    ("threading.Event().wait()", "env.close(); sys.exit(5)"), ("time.sleep(0.001)", "sys.exit(5)"), ("pass", "1 / 0")])
def test_the_process_ends_whatever_its_environments_do(run_forked, wait, way):
    done = run_forked(EXIT.format(wait=wait, way=way))
    assert done.stdout == "end\n" and done.returncode == (1 if way == "1 / 0" else 5), done.stderr
    assert done.stderr.count("RuntimeWarning: close: ") == 1
    assert "env 1 in step, env 2 in step did not" in done.stderr
    assert "Fatal" not in done.stderr and "terminate" not in done.stderr


def test_several_pools_of_several_threads():
    def play(k):
        with cypool.make("gymnasium:CartPole-v1", num_envs=3, num_workers=2, workers="threads", seed=k % 2) as env:
            results[k].append(env.reset()[0])
            results[k].extend(env.step([t % 2] * 3)[0] for t in range(30))

    results = [[] for _ in range(4)]
    at_once(*(partial(play, k) for k in range(4)))
    assert np.array_equal(results[0], results[2]) and np.array_equal(results[1], results[3])
    assert not np.array_equal(results[0], results[1])


def test_example_prints_four_rates():
    example = Path(__file__).parents[2] / "examples" / "waiting_environments.py"
    done = run_program(sys.executable, example, "--num-envs", "4", "--num-steps", "5", "--delay", "0.001")
    assert (done.returncode, done.stderr) == (0, "")
    rates = re.findall(r"^(\S.*?) +([\d,]+) steps/s +[\d.]+ s to start +-?[\d.]+ MB$", done.stdout, re.MULTILINE)
    assert [name for name, _ in rates] == ["AsyncVectorEnv", "cypool, processes", "cypool, threads",
                                           "cypool, threads, asynchronous"]
    assert all(int(rate.replace(",", "")) > 0 for _, rate in rates)


class Keeper(gymnasium.Env):
    """Keeps one dict and one list for its infos, and changes them in each step and reset."""

    observation_space = action_space = spaces.Discrete(2)

    def __init__(self):
        self.info = {"steps": [], "count": 0}

    def reset(self, *, seed=None, options=None):
        self.info["steps"].clear()
        self.info["count"] = -1
        return 0, self.info

    def step(self, action):
        self.info["count"] = len(self.info["steps"])
        self.info["steps"].append(self.info["count"])
        return 0, 0.0, self.info["count"] == 2, False, self.info


@pytest.mark.parametrize("how", [{"workers": "threads"}, {"num_workers": 0}], ids=str)
def test_infos_do_not_change_later(how):
    with started(cypool.from_factories([Keeper] * 2, autoreset_mode="SameStep", **how)) as env:
        infos = [env.step([0, 0])[4] for _ in range(3)]
        env.reset()
        assert [list(info["steps"]) for info in infos] == [[[0], [0]], [[0, 1], [0, 1]], [[], []]]
        # the reset that follows an end does not write into its last info
        assert infos[2]["final_info"]["count"].tolist() == [2, 2] and infos[2]["count"].tolist() == [-1, -1]


@pytest.mark.parametrize("num_workers", [0, 1, 3])
def test_a_factory_that_fails_closes_the_others(num_workers):
    closed = []

    class Closing(Keeper):
        def close(self):
            closed.append(self)

    def fail():
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        cypool.from_factories([Closing, Closing, fail], workers="threads", num_workers=num_workers)
    assert len(closed) == 2
