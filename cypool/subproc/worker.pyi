# by .ci/stubs: not to be edited
from typing import Any

class WorkerLoop:
    def __init__(
        self,
        memory: Any,
        first: int,
        factories: list[Any],
        answers: list[Any] = ...,
        unwrapped: list[Any] = ...,
    ) -> None: ...
    def close(self) -> Any: ...
    def run(self) -> Any: ...
