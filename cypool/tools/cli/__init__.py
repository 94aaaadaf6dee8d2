"""The `cypool` command: one module per verb, `app`, which runs them, and `console`, with shared code."""
from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident, main_thread
from types import FrameType


def _interrupt(_: int, frame: FrameType | None) -> None:
    # an import that is broken off may swallow the exception; NumPy's says that its installation is broken
    while frame is not None and frame.f_code is not _run.__code__:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            return
        frame = frame.f_back
    raise KeyboardInterrupt


@contextmanager
def _interrupts_wait_for_imports() -> Iterator[None]:
    # a program that calls `main` may have a handler, or another thread
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or get_ident() != main_thread().ident:
        yield
        return
    earlier = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGALRM)}
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in earlier.items():
            signal.signal(number, handler)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns its exit status.

    Args:
        arguments: The words after `cypool`; by default the arguments of the process.

    Returns:
        0; 1 if a check failed; 2 if the command was refused; 130 after Ctrl-C; 141 if the reader of its output ended
        first.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with _interrupts_wait_for_imports():
            return _run(words)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        return 130


def _run(words: list[str]) -> int:
    # it takes a while to import, in which a user may press Ctrl-C
    from cypool.errors import CompileError
    from cypool.tools.cli.app import VERBS, run
    from cypool.tools.cli.console import Refusal
    from cypool.util.cache import UnsafeCache

    try:
        status = run(words)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # the reader has seen enough; Python would flush the rest at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    # cypool's exceptions for arguments and for missing packages; their lines are joined
    except (Refusal, ValueError, TypeError, ImportError, NotImplementedError, OSError, CompileError,
            UnsafeCache) as error:
        verb = f" {words[0]}" if words and words[0] in VERBS else ""
        print(f"cypool{verb}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
