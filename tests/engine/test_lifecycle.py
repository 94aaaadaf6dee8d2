"""Closing, exit, signals, forks and threads: whatever happens, no hang and no crash."""
import os
import signal
from contextlib import suppress

import numpy as np
import pytest
from engine.threads import at_once, await_tasks, start, tasks
from receiving import started
from waiting import attempts, join, wait_until

import cypool

pytestmark = pytest.mark.families("atari")


@pytest.mark.parametrize("batch_size", [6, 3])
def test_close_ends_the_threads_and_is_idempotent(batch_size):
    before = tasks()
    env = cypool.make("CartPole-v1", num_envs=6, batch_size=batch_size, num_threads=4)
    assert len(tasks() - before) == (3 if batch_size == 6 else 4)
    env.async_reset()
    env.close()
    await_tasks(before)
    env.close()
    for call in (env.reset, env.async_reset, env.recv, lambda: env.step([0] * 6), lambda: env.send([0] * 6)):
        with pytest.raises(cypool.ClosedError):
            call()


def test_with_and_del_close_too():
    before = tasks()
    with cypool.make("CartPole-v1", num_envs=6, num_threads=3) as env:
        env.reset()
    await_tasks(before)
    env = cypool.make("CartPole-v1", num_envs=6, batch_size=2, num_threads=3)
    env.async_reset()
    del env
    await_tasks(before)


def test_threads_0_and_1_start_none():
    before = tasks()
    envs = [cypool.make("CartPole-v1", num_envs=6, num_threads=n) for n in (0, 1)]
    envs.append(cypool.make("CartPole-v1", num_envs=6, batch_size=3, num_threads=0))
    for env in envs:
        env.reset()
    assert not tasks() - before


# threads of each pool, and threads that pools share
@pytest.mark.families("atari")
@pytest.mark.parametrize("threads, ending", [
    *(("dict(num_threads=3)", ending) for ending in ("", "raise SystemExit(0)", "env.recv()")),
    *(("dict(thread_pool=cypool.ThreadPool(3))", ending)
      for ending in ("", "del threads", "env.recv()", "raise SystemExit(0)", "pong.close()"))])
def test_exit_with_work_in_flight(run_forked, threads, ending):
    done = run_forked(f"""
import cypool
threads = {threads}
env = cypool.make("CartPole-v1", num_envs=64, batch_size=16, **threads)
pong = cypool.make("Pong-v5", num_envs=4, batch_size=2, **threads)
env.async_reset(); pong.async_reset()
{ending}
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("threads", ["num_threads=2", "thread_pool=cypool.ThreadPool(2)"])
def test_exit_while_a_daemon_thread_waits(run_forked, threads):
    done = run_forked(f"""
import threading, cypool, walker
from walker import trouble
env = cypool.make("walker/Trouble-v0", num_envs=2, batch_size=1, {threads})
env.async_reset(); env.recv(); env.recv()
trouble.set_gate(False)
env.send([trouble.WAIT], [0])
def wait():
    while True:
        try:
            env.recv()
        except RuntimeError:
            # the main thread was just looking
            pass

threading.Thread(target=wait, daemon=True).start()
message = ""
# until the daemon is in its call
while "one thread at a time" not in message:
    try:
        env.send([0], [0])
    except RuntimeError as error:
        message = str(error)
""")
    assert (done.returncode, done.stderr) == (0, "")


def test_pools_that_are_made_after_pools_were_closed(run_python):
    # from Python 3.14 on, their threads cannot end any more
    done = run_python("""
import atexit

@atexit.register
def make():
    # registered first, so called after cypool's own function
    for batch_size in (64, 16):
        env = cypool.make("CartPole-v1", num_envs=64, batch_size=batch_size, num_threads=3)
        env.async_reset()
        env.recv()
        held.append(env)
    held.append(cypool.ThreadPool(2))

held = []
import cypool
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_thread_starts_while_python_ends(run_python):
    done = run_python("""
import cypool

class Last:
    threads = cypool.ThreadPool
    def __del__(self):
        try:
            self.threads(2)
        except RuntimeError as error:
            write(1, str(error).encode())

from os import write
last = Last()
Last.last = last
""")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "num_threads: expected 0 while Python is shutting down, because no thread can start"


def await_refusal(env):
    """Waits until another thread is in a call; env 0 is in flight all the time."""
    for _ in attempts():
        with pytest.raises(RuntimeError) as refused:
            env.send([0], [0])
        if "one thread at a time" in str(refused.value):
            return


def interrupt_receiver(env, after=lambda: None):
    """Starts a thread that sends SIGINT once another thread is in a call of `env`; the caller is to be that one."""

    def interrupt():
        await_refusal(env)
        os.kill(os.getpid(), signal.SIGINT)
        after()

    return start(interrupt)


def receive_until_interrupted(env):
    for _ in attempts():
        # while the other thread is just looking
        with suppress(RuntimeError):
            env.recv()


def test_ctrl_c_interrupts_a_wait_and_the_batch_is_not_lost(trouble):
    trouble.set_gate(False)
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, batch_size=2, num_threads=2))
    env.send([trouble.WAIT] * 2, [0, 3])
    with pytest.raises(KeyboardInterrupt):
        thread = interrupt_receiver(env)
        receive_until_interrupted(env)
    join(thread)
    trouble.set_gate(True)
    obs, *_, info = env.recv()
    assert sorted(info["env_id"]) == [0, 3] and obs["count"][:, 0].tolist() == [1, 1]


@pytest.mark.parametrize("num_threads", [1, 2, 7])
def test_ctrl_c_in_a_synchronous_pool(trouble, num_threads):
    trouble.set_gate(False)
    env = started(cypool.make("walker/Trouble-v0", num_envs=2, num_threads=num_threads))
    env.send([trouble.WAIT] * 2)
    with pytest.raises(KeyboardInterrupt):
        # the caller itself may be in an env: Python sees the signal when that returns
        thread = interrupt_receiver(env, after=lambda: trouble.set_gate(True))
        receive_until_interrupted(env)
    join(thread)
    env.reset()
    assert env.step([0, 0])[4]["elapsed_step"].tolist() == [1, 1]


@pytest.mark.parametrize(("num_threads", "batch_size"), [(0, 4), (1, 4), (2, 4), (5, 4), (0, 2), (1, 2), (5, 2)])
def test_ctrl_c_in_a_step_that_ends_does_not_lose_the_batch(trouble, num_threads, batch_size):
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, num_threads=num_threads, batch_size=batch_size))
    trouble.set_gate(False)

    def interrupt():
        wait_until(lambda: trouble.num_waiting() > 0)
        # Python knows when this returns, whichever thread runs the handler
        signal.raise_signal(signal.SIGINT)
        trouble.set_gate(True)

    thread = start(interrupt)
    ids = list(range(batch_size))
    with pytest.raises(KeyboardInterrupt):
        env.step([trouble.WAIT] * batch_size, ids)
    join(thread)
    obs, *_, info = env.recv()
    assert sorted(info["env_id"].tolist()) == ids and obs["count"][:, 0].tolist() == [1] * batch_size


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize(("num_threads", "batch_size"), [(0, 4), (1, 4), (0, 2)])
def test_ctrl_c_in_an_environment_that_runs_python(trouble, num_threads, batch_size, mode, monkeypatch):
    stepped = []

    def on_step(env_id):
        stepped.append(env_id)
        if env_id == 1:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(trouble, "on_step", on_step)
    env = started(cypool.make("walker/Caller-v0", num_envs=4, num_threads=num_threads, batch_size=batch_size,
                              autoreset_mode=mode))
    env.send([0] * 4, [0, 1, 2, 3])
    with pytest.raises(KeyboardInterrupt):
        env.recv(timeout=60)
    # its row is complete, and the unfinished work continues
    with pytest.raises(cypool.EnvError, match="env 1: KeyboardInterrupt") as caught:
        env.recv(timeout=60)
    batches = [caught.value.batch]
    while env._pool.num_pending:
        batches.append(env.recv(timeout=60))
    rewards, truncated = (np.concatenate([batch[k] for batch in batches]).tolist() for k in (1, 3))
    assert np.concatenate([batch[4]["env_id"] for batch in batches]).tolist() == stepped == [0, 1, 2, 3]
    assert rewards == [1, 0, 1, 1] and truncated == [False, True, False, False]
    env.async_reset([1])
    assert env.recv(timeout=60)[4]["env_id"].tolist() == [1]


def test_recv_that_times_out_loses_nothing(trouble):
    trouble.set_gate(False)
    env = started(cypool.make("walker/Trouble-v0", num_envs=2, batch_size=1, num_threads=1))
    env.send([trouble.WAIT], [1])
    for timeout in (0, 0.001, 0.15):
        with pytest.raises(TimeoutError, match="0 of 1 envs finished"):
            env.recv(timeout)
    trouble.set_gate(True)
    assert env.recv(timeout=60)[4]["env_id"].tolist() == [1]


def test_a_second_thread_is_refused(trouble):
    trouble.set_gate(False)
    env = started(cypool.make("walker/Trouble-v0", num_envs=2, batch_size=1, num_threads=1))
    env.send([trouble.WAIT], [0])
    got = []

    def receive():
        # without the GIL it may find us in a call
        for _ in attempts():
            if got:
                return
            with suppress(RuntimeError):
                got.append(env.recv())

    thread = start(receive)
    await_refusal(env)
    with pytest.raises(RuntimeError, match="one thread at a time"):
        env.recv(timeout=0)
    with pytest.raises(RuntimeError, match="another thread"):
        env.close()
    trouble.set_gate(True)
    join(thread)
    assert got[0][4]["env_id"].tolist() == [0]


def test_many_threads_at_once_do_no_harm():
    env = started(cypool.make("CartPole-v1", num_envs=64, num_threads=2))
    refused, done = [], []

    def hammer():
        for _ in range(500):
            try:
                env.step(np.zeros(64, np.int64))
                done.append(1)
            except RuntimeError:
                refused.append(1)

    at_once(*[hammer] * 4)
    assert len(done) + len(refused) == 2000 and done
    env.step(np.zeros(64, np.int64))


@pytest.mark.parametrize("batch_size", [8, 4])
def test_pool_in_a_fork_raises_and_the_parent_continues(run_forked, batch_size):
    assert run_forked(f"""
import os, sys, cypool, numpy
env = cypool.make("CartPole-v1", num_envs=8, batch_size={batch_size}, num_threads=3)
env.reset()
child = os.fork()
if child == 0:
    for call in (env.reset, env.recv, lambda: env.step([0] * {batch_size})):
        try:
            call()
        except RuntimeError as error:
            assert "fork" in str(error), error
        else:
            sys.exit("no error")
    new = cypool.make("CartPole-v1", num_envs=8, batch_size={batch_size}, num_threads=3)
    new.reset(); new.step([0] * {batch_size})
    env.close(); del env
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
env.step([0] * {batch_size})
child = os.fork()
if child == 0:
    sys.exit(8)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 8
print("ok")
""", check=True).stdout == "ok\n"


def test_pool_without_threads_is_a_copy_in_the_child_of_a_fork(run_forked):
    assert run_forked("""
import os, cypool
env, twin = (cypool.make("CartPole-v1", num_envs=3, num_threads=0, seed=4) for _ in "12")
env.reset(), twin.reset()
child = os.fork()
if child == 0:
    os._exit(7 + (env.step([0, 1, 0])[0] != twin.step([0, 1, 0])[0]).any())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), (env.step([1] * 3)[0] == twin.step([1] * 3)[0]).all())
""", check=True).stdout == "7 True\n"


def test_garbage_in_a_cycle_is_collected(run_forked):
    assert run_forked("""
import gc, os, cypool, numpy
before = len(os.listdir("/proc/self/task"))
for batch_size in (4, 2):
    env = cypool.make("CartPole-v1", num_envs=4, batch_size=batch_size, num_threads=2)
    env.async_reset()
    cycle = [env]
    cycle.append(cycle)
    del env, cycle
    gc.collect()
# a thread that was joined is listed for a moment longer
while len(os.listdir("/proc/self/task")) > before: pass
print("ok")
""", check=True).stdout == "ok\n"


def test_an_idle_pool_sleeps(run_forked):
    # a thread that spun would have used up its CPU time while the process waited for the child
    assert run_forked("""
import subprocess, sys, time, cypool
env = cypool.make("CartPole-v1", num_envs=64, batch_size=32, num_threads=4)
env.reset()
start = time.process_time()
subprocess.run([sys.executable, "-c", "import time; time.sleep(1)"])
print(time.process_time() - start < 0.3)
""", check=True).stdout == "True\n"


def test_threads_leave_all_signals_but_those_of_a_crash_to_python(trouble):
    others = tasks()
    trouble.set_gate(False)
    env = started(cypool.make("walker/Trouble-v0", num_envs=4, batch_size=3, num_threads=3))
    env.send([trouble.WAIT] * 3, [0, 1, 2])
    # one that has only just begun has all signals blocked by the C library
    wait_until(lambda: trouble.num_waiting() == 3)
    threads = tasks() - others
    masks = []
    for thread in threads:
        with open(f"/proc/self/task/{thread}/status") as file:
            masks += [int(line.split()[1], 16) for line in file if line.startswith("SigBlk")]
    trouble.set_gate(True)
    crashes = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP}
    # the last two cannot be blocked
    expected = signal.valid_signals() - crashes - {signal.SIGKILL, signal.SIGSTOP}
    assert len(masks) == 3
    for mask in masks:
        assert {number for number in signal.valid_signals() if mask >> (number - 1) & 1} == expected
