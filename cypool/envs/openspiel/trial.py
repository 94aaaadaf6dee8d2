"""Tries games in a separate process, because OpenSpiel ends its process or never returns with some parameters."""
from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from cypool.util.lock_guard import LockGuard

_SECONDS = 30  # of CPU time, so that a busy machine refuses no other games
_WALL = 4  # times as long at most, where a game waits
_START = 60  # more for the process to begin
_NUM_STEPS = 100
_MEMORY = 2 * 2**30  # more for a game
_PROGRAM = ("import sys; sys.path[:] = {!r}; import cypool; from cypool.envs.openspiel import trial; "
            "trial.serve(cypool.make)")
_lock = threading.Lock()
# the process that tries; None: it is to be started
_server: subprocess.Popen[str] | None = None
_is_server = False


@functools.cache
def check(short_name: str, parameters: tuple[tuple[str, Any], ...]) -> None:
    """Plays a game with some parameters for a while in another process; raises a RuntimeError if that fails."""
    # a program that Python is embedded in
    if _is_server or not sys.executable:
        return
    with LockGuard(_lock):
        line = json.dumps((_SECONDS, short_name, dict(parameters)))
        said = _ask(line)
        if said is None:
            # the process was killed, or stopped
            said = _ask(line)
    if said:
        raise RuntimeError(said)


def _ask(line: str) -> str | None:
    global _server
    if _server is None:
        # a session of its own: control-C is for others
        _server = subprocess.Popen([sys.executable, "-c", _PROGRAM.format(sys.path)], stdin=subprocess.PIPE, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    process = _server
    assert process.stdin is not None and process.stdout is not None
    try:
        print(line, file=process.stdin, flush=True)
        came = select.poll()
        came.register(process.stdout)
        if not came.poll((_WALL * _SECONDS + _START) * 1000):
            raise TimeoutError
        return str(json.loads(process.stdout.readline()))
    except BaseException as error:
        _end()
        if isinstance(error, (OSError, ValueError)):
            return None
        raise


@atexit.register
def _end() -> None:
    global _server
    process, _server = _server, None
    if process is not None:
        # that of a game, too
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _forget() -> None:
    # it is the parent's
    global _lock, _server
    if _server is not None and _server.stdin is not None and _server.stdout is not None:
        _server.stdin.close()
        _server.stdout.close()
        _server.returncode = 0
    _lock, _server = threading.Lock(), None


os.register_at_fork(after_in_child=_forget)


def serve(make: Callable[..., Any]) -> None:
    """Answers each line with the fault of its game, or nothing; plays each game in a separate process."""
    global _is_server
    _is_server = True
    # whatever the user does with these signals
    limits = [signal.SIGPROF, signal.SIGALRM]
    for each in limits:
        signal.signal(each, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, limits)
    # opens the library
    make("openspiel/tic_tac_toe-v0")
    for line in sys.stdin:
        seconds, *game = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            # ends a process whose game never returns
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.alarm(_WALL * seconds)
            _limit_memory()
            os.write(write, _play(make, *game).encode())
            os._exit(0)
        os.close(write)
        with open(read, errors="replace") as file:
            said = file.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            said = (f"one that takes longer than {seconds} s" if number in limits else
                    f"one that ends the process ({signal.Signals(number).name})")
        elif status:
            # glibc exits without memory for a thread
            said = f"one that ends the process (exit status {os.WEXITSTATUS(status)})"
        print(json.dumps(said), flush=True)


def _limit_memory() -> None:
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _play(make: Callable[..., Any], short_name: str, parameters: dict[str, Any]) -> str:
    try:
        env = make(f"openspiel/{short_name}-v0", num_threads=0, seed=0, **parameters)
    except MemoryError:
        return f"one that needs more than {_MEMORY / 2**30:g} GiB of memory"
    except Exception as error:
        # OpenSpiel's; the caller finds other reasons quickly
        return str(error.__cause__ or "")
    try:
        env.reset()
        env.action_space.seed(0)
        for _ in range(_NUM_STEPS):
            env.step(env.sample_legal())
    except Exception as error:
        return f"one that cannot be played: {error}"
    return ""
