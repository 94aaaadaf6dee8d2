"""Waits that end: one that would last for ever fails instead. A limit only guards against that; machines differ."""
import os
import threading
import time

LIMIT = 300  # seconds


def wait_until(condition):
    """Calls `condition` until it is true."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"not so within {LIMIT} s"
        os.sched_yield()


def attempts():
    """Yields until the loop over it is left."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        yield
    raise AssertionError(f"not done within {LIMIT} s")


def join(*threads):
    """Waits until threads have ended."""
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive(), f"{thread} did not end within {LIMIT} s"


def start(target, *args):
    """Returns a thread that has begun to call a function."""
    thread = threading.Thread(target=target, args=args)
    thread.start()
    return thread


def at_once(*calls):
    """Calls functions in threads that begin together; raises the exception of one of them."""
    barrier, raised = threading.Barrier(len(calls)), []

    def run(call):
        barrier.wait(LIMIT)
        try:
            call()
        except BaseException as error:
            raised.append(error)

    join(*[start(run, call) for call in calls])
    for error in raised:
        raise error


def tasks():
    """The threads of this process."""
    return set(os.listdir("/proc/self/task"))


def await_tasks(before):
    """Waits until no other threads are left: one that was joined is listed for a moment longer."""
    wait_until(lambda: not tasks() - before)
