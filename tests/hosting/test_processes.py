"""Processes of workers that exit, hang or are stopped are replaced, and none outlives its pool."""
import os
import signal
import subprocess
import sys
from functools import partial

import pytest
from hosting.environments import EXIT, GO, GRANDCHILD, HANG, Trouble
from hosting.hosts import PROCESSES, THREADS, children, fork_servers, gone, receive, stop, workers
from markers import slow
from receiving import started
from waiting import attempts, wait_until

import cypool


def test_env_that_hangs_delays_no_other():
    env = cypool.from_factories([partial(Trouble, i) for i in range(4)], batch_size=3)
    started(env)
    env.send([GO, HANG, GO, GO], [0, 1, 2, 3])
    for _ in range(3):
        *_, info = env.recv()
        assert sorted(info["env_id"]) == [0, 2, 3]
        env.send([GO, GRANDCHILD, GO], [0, 2, 3])
    env.recv()
    with pytest.raises(TimeoutError, match="recv: 0 of 1"):
        env.recv(timeout=0.01)
    # closing the pool ends workers that still step, and processes that environments have started
    grandchild, *_ = children(workers()[2])
    env.close()
    env.close()
    wait_until(lambda: gone(grandchild))


@pytest.mark.parametrize("batch_size, start_method", [
    (4, "forkserver"), (2, "spawn"), *slow((2, "forkserver"), (4, "spawn"))])
def test_a_process_that_exits_is_replaced(batch_size, start_method):
    with cypool.from_factories([partial(Trouble, i) for i in range(4)], num_workers=2, batch_size=batch_size,
                               start_method=start_method) as env:
        env.async_reset()
        receive(env)
        for _ in range(2):
            env.send([EXIT, GO, GO, GO], [0, 1, 2, 3])
            causes, rows = receive(env)
            # env 1 is in the same process: its step was done before, or was lost as well
            assert 0 in causes and not {2, 3} & causes.keys()
            assert isinstance(causes[0], cypool.WorkerError) and "exit status 3" in str(causes[0])
            assert rows[2][0][0] >= 1 and rows[3][0][0] >= 1
            env.async_reset()
            causes, rows = receive(env)
            assert not causes and {i: obs[0] for i, (obs, *_) in rows.items()} == dict.fromkeys(range(4), 0)


def test_episode_is_lost_with_its_process_and_reset_starts_another():
    with started(cypool.from_factories([partial(Trouble, i) for i in range(2)], num_workers=2)) as env:
        before = workers()
        os.kill(before[0], signal.SIGKILL)
        wait_until(lambda: workers() != before)
        # no step was in flight: the next one fails
        with pytest.raises(cypool.EnvError) as caught:
            env.step([GO, GO])
        assert "SIGKILL" in str(caught.value) or "lost" in str(caught.value)
        assert len(caught.value.causes) == 1
        assert env.step([GO, GO])[3].tolist() == [False, False]
        # a reset needs no lost state
        os.kill(workers()[0], signal.SIGKILL)
        for _ in range(3):
            assert env.reset()[0][:, 0].tolist() == [0, 0]
        assert env.step([GO, GO])[0][:, 0].tolist() == [1, 1]


def test_the_process_that_starts_workers_is_replaced():
    with started(cypool.from_factories([partial(Trouble, i) for i in range(3)], num_workers=2)) as env:
        (forkserver,), before = fork_servers(), workers()
        os.kill(forkserver, signal.SIGKILL)
        wait_until(lambda: all(map(gone, before)))
        with pytest.raises(cypool.EnvError, match="SIGKILL") as caught:
            env.step([GO] * 3)
        assert caught.value.causes.keys() == {0, 1, 2}
        assert env.reset()[0][:, 0].tolist() == [0] * 3
        assert env.step([GO] * 3)[0][:, 0].tolist() == [1] * 3
        assert fork_servers() != [forkserver]


def make_at_times(folder):
    """Fails at the second and third call."""
    calls = len(list(folder.iterdir()))
    (folder / str(calls)).touch()
    if calls == 1:
        raise ArithmeticError("no environment today")
    if calls == 2:
        os._exit(4)
    return Trouble()


def test_process_whose_replacement_fails_is_replaced_again(tmp_path):
    with started(cypool.from_factories([partial(make_at_times, tmp_path)])) as env:
        with pytest.raises(cypool.EnvError, match="exit status 3"):
            env.step([EXIT])
        said = []
        # it may have failed before anybody asked
        for _ in range(3):
            try:
                assert env.reset()[0].tolist() == [[0, 0]]
                break
            except cypool.EnvError as error:
                said.append(str(error))
        else:
            pytest.fail(str(said))
        assert all("ArithmeticError: no environment today" in each or "exit status 4" in each for each in said)
        assert env.step([GO])[0].tolist() == [[1, 0]]


@pytest.mark.parametrize("batch_size", [2, *slow(1)])
def test_a_process_that_hangs_is_replaced(batch_size):
    with cypool.from_factories([partial(Trouble, i) for i in range(2)], batch_size=batch_size, worker_timeout=2) as env:
        env.async_reset()
        receive(env)
        env.send([GO, HANG], [0, 1])
        causes, _ = receive(env)
        assert causes.keys() == {1} and isinstance(causes[1], cypool.WorkerError)
        assert "not finished within worker_timeout=2 s" in str(causes[1])
        env.async_reset()
        causes, rows = receive(env)
        assert not causes and rows[0][0][0] == rows[1][0][0] == 0


@pytest.mark.parametrize("num_workers", [1, *slow(2)])
def test_a_process_that_is_stopped_is_replaced(num_workers):
    env = cypool.from_factories([partial(Trouble, i) for i in range(2)], num_workers=num_workers, worker_timeout=2)
    env.reset()
    stop(workers()[0])
    env.send([GO, GO])
    with pytest.raises(cypool.EnvError, match="env 0: WorkerError: not finished within worker_timeout=2 s") as caught:
        env.recv(timeout=60)
    assert len(caught.value.causes) == 3 - num_workers
    assert env.reset()[0].tolist() == [[0, 0], [0, 1]]
    # a reset is done by the next process; the newest is the last
    stop(workers()[-1])
    env.async_reset()
    assert env.recv(timeout=60)[0].tolist() == [[0, 0], [0, 1]]
    # other calls fail
    stop(workers()[-1])
    with pytest.raises(cypool.WorkerError, match="not finished within worker_timeout=2 s"):
        env.save([0])
    env.close()


def test_process_that_hangs_is_replaced_while_others_answer():
    with cypool.from_factories([partial(Trouble, i) for i in range(2)], batch_size=1, worker_timeout=2) as env:
        started(env)
        env.send([GO, HANG], [0, 1])
        with pytest.raises(cypool.EnvError, match="env 1: WorkerError: not finished within worker_timeout=2 s"):
            for _ in attempts():
                assert env.recv(timeout=60)[4]["env_id"].tolist() == [0]
                env.send([GO], [0])


class Noting(Trouble):
    """Leaves a file where it is stepped before its first reset."""

    was_reset = False

    def __init__(self, number, folder):
        super().__init__(number)
        self.folder = folder

    def reset(self, *, seed=None, options=None):
        self.was_reset = True
        return super().reset(seed=seed, options=options)

    def step(self, action):
        if not self.was_reset:
            (self.folder / str(self.number)).touch()
        return super().step(action)


def test_a_step_that_was_given_up_is_not_done_by_the_next_process(tmp_path):
    with started(cypool.from_factories([partial(Noting, i, tmp_path) for i in range(3)], num_workers=1)) as env:
        with pytest.raises(cypool.EnvError, match="exit status 3") as caught:
            env.step([EXIT, GO, GO])
        assert caught.value.causes.keys() == {0, 1, 2}
        # the new process comes to the mailbox of env 1 before it resets env 2
        assert env.reset([2])[0].tolist() == [[0, 2]]
        assert not list(tmp_path.iterdir())
        assert env.step([GO] * 3)[0].tolist() == [[0, 0], [0, 1], [1, 2]]


@pytest.mark.parametrize("closed", [[0, 1, 2], *slow([0], [1, 2])], ids=str)
@pytest.mark.parametrize("start_method", ["forkserver", *slow("spawn")])
def test_closed_standard_files_change_nothing(tmp_path, closed, start_method):
    said = tmp_path / "said"
    code = f"""
import os
for fd in {closed}:
    os.close(fd)
try:
    import cypool
    with cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=1, start_method="{start_method}") as env:
        env.reset()
        done = str(env.step([0, 1])[1].tolist())
except BaseException as error:
    done = repr(error)
with open({str(said)!r}, "w") as file:
    file.write(done)
"""
    # elsewhere than in the checkout, whose ./cypool is not compiled
    subprocess.run([sys.executable, "-c", code], timeout=300, stdin=subprocess.DEVNULL, cwd=tmp_path)
    assert said.read_text() == "[1.0, 1.0]"


@pytest.mark.parametrize("way", ["os.kill(os.getpid(), 9)", "sys.exit()", "env = None", "env.close()", *slow(
    "os.killpg(0, 15)", "os._exit(0)", "env.send([0, 0])", "1 / 0")])
def test_no_process_outlives_ours(run_forked, way):
    done = run_forked(f"""
import os, sys, cypool, gymnasium
os.setpgid(0, 0)
from pathlib import Path

class Parent(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        import subprocess
        self.child = subprocess.Popen(["sleep", "1000"])
        return 0, {{}}
    def step(self, action):
        return 1, 0.0, False, False, {{}}

env = cypool.from_factories([Parent] * 2)
env.reset()
def below(pid):
    for child in Path(f"/proc/{{pid}}/task/{{pid}}/children").read_text().split():
        yield child
        yield from below(child)
print(*below(os.getpid()), flush=True)
{way}
""")
    pids = done.stdout.split()
    assert len(pids) == 5, done.stderr
    wait_until(lambda: all(map(gone, pids)))
    assert ("ZeroDivisionError" in done.stderr) if way == "1 / 0" else done.stderr == ""


@pytest.mark.parametrize("host", [PROCESSES, THREADS])
def test_pool_in_a_fork_raises(run_forked, host):
    done = run_forked(f"""
import os, sys, warnings, cypool
warnings.simplefilter("ignore", DeprecationWarning)
env = cypool.make("gymnasium:CartPole-v1", num_envs=2, **{host})
env.reset()
child = os.fork()
if child == 0:
    try:
        env.step([0, 0])
    except RuntimeError as error:
        assert "fork" in str(error), error
        env.close()
        sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
env.step([0, 0])
print("ok")
""")
    assert (done.stdout, done.stderr) == ("ok\n", "")


def test_num_threads_is_the_number_of_workers():
    with cypool.make("gymnasium:CartPole-v1", num_envs=3, num_threads=2) as env:
        assert env.num_threads == len(workers()) == 2
    with cypool.make("gymnasium:CartPole-v1", num_envs=3) as env:
        assert env.num_threads == len(workers()) == 3


def test_a_process_that_exits_before_it_is_ready():
    with pytest.raises(cypool.WorkerError, match="its process ended: exit status 5"):
        cypool.from_factories([partial(os._exit, 5)])
