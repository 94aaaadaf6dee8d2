"""Where environments of Python run in tests, the processes and threads of pools, and comparisons with Gymnasium."""
import os
import signal
import threading
from multiprocessing import forkserver
from pathlib import Path

from comparing import assert_same
from gymnasium.vector import AutoresetMode
from markers import slow
from waiting import wait_until

import cypool

HERE, PROCESS, PROCESSES = ({"num_workers": count} for count in (0, 1, 2))
THREADS = {"workers": "threads", "num_workers": 2}
# each pool of processes takes a new interpreter, which imports Gymnasium: most cases of one kind are slow tests
HOSTS = [HERE, *slow(PROCESS), {"num_workers": 3}, THREADS]


def of_hosts(cases, in_processes, hosts=(HERE, THREADS)):
    """Cases with some hosts; some of them also with processes, and the rest as slow tests."""
    return [*((*case, host) for case in cases for host in hosts), *((*cases[k], PROCESSES) for k in in_processes),
            *slow(*((*case, PROCESSES) for k, case in enumerate(cases) if k not in in_processes),
                  *((*case, HERE) for case in cases if HERE not in hosts))]


def without(info, keys):
    """Infos without some of them, also in those of the final step."""
    return {key: without(value, keys) if key == "final_info" else value for key, value in info.items()
            if key.removeprefix("_") not in keys}


def assert_equal_results(ours, theirs):
    """Compares what `reset` or `step` returns with Gymnasium's: all but the infos that the engine adds."""
    assert_same(ours[:-1], theirs[:-1])
    # an environment reports `env_id` in vain
    ours, theirs = without(ours[-1], ("env_id", "elapsed_step")), without(theirs[-1], ("env_id",))
    assert_same(dict(sorted(ours.items())), dict(sorted(theirs.items())))


def compare(env, reference, steps, seed=5):
    """Steps both with the same actions; they have to agree in everything."""
    assert_equal_results(env.reset(seed=seed), reference.reset(seed=seed))
    env.action_space.seed(seed)
    ends = 0
    for _ in range(steps):
        actions = env.action_space.sample()
        ours = env.step(actions)
        assert_equal_results(ours, reference.step(actions))
        ended = ours[2] | ours[3]
        ends += ended.sum()
        if env.metadata["autoreset_mode"] == AutoresetMode.DISABLED and ended.any():
            assert_equal_results(*(each.reset(options={"reset_mask": ended}) for each in (env, reference)))
    assert ends > 3
    env.close()
    reference.close()


def receive(env):
    """Receives once from each environment: the exceptions of those that failed, and all rows, by their numbers."""
    causes, rows = {}, {}
    for _ in range(env.num_envs // env.batch_size):
        try:
            batch = env.recv()
        except cypool.EnvError as error:
            causes |= error.causes
            batch = error.batch
        rows |= {i: [part[row] for part in batch[:4]] for row, i in enumerate(batch[4]["env_id"])}
    return causes, rows


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def fork_servers():
    """The processes that start workers, without that of other packages, which lives to the end since Python 3.14."""
    theirs = forkserver._forkserver._forkserver_pid
    return [pid for pid in children(os.getpid())
            if pid != theirs and b"forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def workers():
    """The processes of a pool, the oldest first."""
    (forkserver,) = fork_servers()
    return children(forkserver)


def threads_of_pools():
    return [thread for thread in threading.enumerate() if thread.name.startswith("cypool-envs-")]


def gone(pid):
    try:
        return b"(zombie)" in Path(f"/proc/{pid}/status").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return True


def stop(pid):
    """Stops a process, and waits until it is."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: b"T (stopped)" in Path(f"/proc/{pid}/status").read_bytes())
