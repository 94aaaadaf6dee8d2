"""Waits that end: one that would last for ever fails instead. A limit only guards against that; machines differ."""
import os
import subprocess
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


def run_program(*command, check=False, timeout=LIMIT, **options):
    """Returns a program that has ended, with its output as text; with `check` it must have ended well."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def join(*threads):
    """Waits until threads have ended."""
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive(), f"{thread} did not end within {LIMIT} s"
