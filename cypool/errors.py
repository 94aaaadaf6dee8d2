"""cypool's own exceptions; bad arguments raise ValueError or TypeError."""


from __future__ import annotations

from typing import Any


class EnvError(RuntimeError):
    """An environment raised an exception, the `__cause__` of this error.

    The failed environment's row is zero and truncated; the other rows are intact. `batch` contains all rows. The
    environment's next step, or a reset, starts a new episode; in autoreset mode Disabled, it must be reset, as at the
    end of any episode.

    Attributes:
        env_id: The environment that failed; the lowest id if several failed in the same batch.
        causes: Maps the id of each failed environment of the batch to its exception.
        batch: The result that `recv`, `step` or `rollout` would have returned.
        steps: In a rollout, maps each failed environment's id to the step in which it first failed; otherwise empty.
    """

    def __init__(self, causes: dict[int, BaseException], batch: Any, steps: dict[int, int] | None = None):
        self.env_id = min(causes)
        self.causes = causes
        self.batch = batch
        self.steps = steps or {}
        cause = causes[self.env_id]
        others = f" (and {len(causes) - 1} more)" if len(causes) > 1 else ""
        try:
            words = f": {cause}"
        except Exception:
            # it is a stranger's exception, and the batch must not be lost with it
            words = ""
        step = f", step {self.steps[self.env_id]}" if self.steps else ""
        super().__init__(f"env {self.env_id}{step}: {type(cause).__name__}{words}{others}")

    def __reduce__(self) -> tuple[Any, ...]:
        # exceptions pickle by their message alone, and one that does not come back hangs multiprocessing's pools
        return EnvError, (self.causes, self.batch, self.steps), {"__cause__": self.__cause__}


class WorkerError(RuntimeError):
    """A worker process ended, or could not complete its task."""


class ClosedError(RuntimeError):
    """The pool is closed."""


class RowError(ValueError):
    """An environment wrote bytes outside the row that it described, or a reward that is not finite.

    Only `make(..., debug=True)` detects this.
    """


class CompileError(Exception):
    """An environment does not compile; the message shows the first error and the number of others.

    Attributes:
        output: Everything that the compilers printed; empty if they did not run.
    """

    output = ""
