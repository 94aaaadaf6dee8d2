"""Ctrl-C while Python environments step: it is raised once, and no step is lost."""
import signal
from functools import partial

import pytest
from hosting.environments import GO, HANG, RAISE, Pestered, Trouble
from receiving import started

import cypool


class Interrupted(KeyboardInterrupt):
    """A Ctrl-C, and another one when it is pickled."""

    def __reduce__(self):
        signal.raise_signal(signal.SIGINT)
        return KeyboardInterrupt, ()


class Impatient(Trouble):
    def step(self, action):
        if action == RAISE:
            raise Interrupted
        return super().step(GO)


def test_ctrl_c_while_ctrl_c_is_handled_costs_its_own_row():
    with started(cypool.from_factories([partial(Impatient, i) for i in range(3)], num_workers=0)) as env:
        env.send([GO, RAISE, GO])
        with pytest.raises(KeyboardInterrupt):
            env.recv(timeout=60)
        with pytest.raises(cypool.EnvError, match="env 1: WorkerError: it raised Interrupted") as caught:
            env.recv(timeout=60)
        assert caught.value.batch[0].tolist() == [[1, 0], [0, 0], [1, 2]]
        assert isinstance(caught.value.causes[1].__cause__, Interrupted)
        assert env.step([GO] * 3)[0].tolist() == [[2, 0], [0, 1], [2, 2]]


class Pestering(Trouble):
    def step(self, action):
        *result, info = super().step(GO)
        if action == HANG:
            info["thing"] = Pestered()
        return *result, info


def test_ctrl_c_while_an_answer_is_read_loses_nothing(monkeypatch):
    monkeypatch.setattr(Pestered, "interrupts", 2)
    with started(cypool.from_factories([partial(Pestering, i) for i in range(3)], num_workers=1)) as env:
        env.send([GO, GO, HANG])
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                env.recv(timeout=60)
        obs, *_, info = env.recv(timeout=60)
        assert obs.tolist() == [[1, 0], [1, 1], [1, 2]] and info["thing"].tolist() == [None, None, "unpickled"]


class Torn(Trouble):
    """Ctrl-C leaves it in a state that no reset mends."""

    torn = False

    def step(self, action):
        if self.torn:
            raise OSError("torn")
        if action == RAISE:
            self.torn = True
            raise KeyboardInterrupt
        return super().step(action)


def test_environment_that_ctrl_c_has_broken_is_made_again():
    with started(cypool.from_factories([partial(Torn, i) for i in range(2)], num_workers=0)) as env:
        with pytest.raises(KeyboardInterrupt):
            env.step([GO, RAISE])
        with pytest.raises(cypool.EnvError, match="env 1: WorkerError: it raised KeyboardInterrupt"):
            env.recv()
        for t in range(3):
            assert env.step([GO, GO])[0].tolist() == [[t + 2, 0], [t, 1]]


def test_ctrl_c_in_recv_loses_no_step(run_forked):
    done = run_forked("""
import os, signal, tempfile, cypool, gymnasium

pool = os.getpid()
gate = os.path.join(tempfile.mkdtemp(), "gate")
os.mkfifo(gate)

class Slow(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        return 0, {}
    def step(self, action):
        if action:
            os.kill(pool, signal.SIGINT)
            open(gate).read()
        return 1, 0.0, False, False, {}

for batch_size in (2, 1):
    env = cypool.from_factories([Slow] * 2, batch_size=batch_size)
    env.async_reset()
    for _ in range(2 // batch_size):
        env.recv()
    try:
        env.send([1, 0], [0, 1])
        for _ in range(2 // batch_size):
            env.recv()
    except KeyboardInterrupt:
        open(gate, "w").close()
        print(env.recv()[0])
    env.close()
""")
    assert done.stdout == "[1 1]\n[1]\n" and done.stderr == "", done.stderr


def test_ctrl_c_of_a_terminal_reaches_no_process_of_the_pool(run_forked):
    # it reaches all processes of the group, whenever it comes
    done = run_forked("""
import os, signal, sys, threading, time
os.setsid()
import cypool

count, over = 0, threading.Event()

def take(*_):
    global count
    count += 1

def pester():
    k = 0
    while not over.wait(0.0003 + k % 7 * 0.003):
        os.killpg(0, signal.SIGINT)
        k += 1

signal.signal(signal.SIGINT, take)
thread = threading.Thread(target=pester, daemon=True)
thread.start()
for method in ("forkserver", "spawn"):
    with cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=2, start_method=method) as env:
        env.reset(seed=0)
        for _ in range(100):
            env.step([0, 1])
# the same with the handler of Python: a KeyboardInterrupt, and nothing else
with cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=2) as env:
    env.reset(seed=0)
    steps = interrupts = 0
    signal.signal(signal.SIGINT, signal.default_int_handler)
    while True:
        try:
            while steps < 2000 or interrupts < 20:
                steps += 1
                env.recv() if env._pool.num_pending else env.step([0, 1])
            signal.signal(signal.SIGINT, take)
            break
        except KeyboardInterrupt:
            interrupts += 1
over.set()
thread.join()
print(count > 20 and interrupts >= 20)
""")
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)
