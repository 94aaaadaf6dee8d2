"""Waits that end: one that would last for ever fails instead. A limit only guards against that; machines differ."""
import os
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
