"""Exceptions that cross from a worker process to the pool, and descriptions of how a process ended."""
from __future__ import annotations

import pickle
import traceback
from contextlib import suppress

from cypool.errors import WorkerError


def pickle_error(error: BaseException, max_bytes: int) -> bytes:
    """Pickles an exception with its traceback.

    Args:
        error: Any exception; its own methods may raise.
        max_bytes: The maximum size of the result.

    Returns:
        Bytes: the pickle of a pair of the exception and the text of its traceback. An exception that cannot be
        unpickled is replaced by a RuntimeError with its message.
    """
    # half of the least room for a payload
    most = max_bytes // 16
    text = words = ""
    # the exception is a user's class, and its methods may raise anything
    with suppress(BaseException):
        text = "".join(traceback.format_exception(error))[-most:]
        payload = pickle.dumps((error, text), pickle.HIGHEST_PROTOCOL)
        if len(payload) < max_bytes // 2 and isinstance(pickle.loads(payload)[0], BaseException):
            return payload
    with suppress(BaseException):
        words = f": {error}"[:most]
    return pickle.dumps((RuntimeError(type(error).__name__ + words), text), pickle.HIGHEST_PROTOCOL)


def unpickle_error(payload: bytes) -> BaseException:
    """Returns the exception of a payload; its cause is a `WorkerError` with the worker's traceback."""
    try:
        error: BaseException
        error, text = pickle.loads(payload)
        error.__cause__ = WorkerError(f"raised in a worker process:\n\n{text}")
    except Exception as problem:
        return WorkerError(f"it raised an exception that cannot be unpickled: {problem}")
    return error


def wrap_error(error: BaseException) -> WorkerError:
    """Returns a `WorkerError` whose cause is `error`."""
    new = WorkerError(f"it raised {type(error).__name__}")
    new.__cause__ = error
    return new


def describe_exit(status: int) -> str:
    """Describes how a process ended, from its exit code (below 0: a signal)."""
    import signal

    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"
