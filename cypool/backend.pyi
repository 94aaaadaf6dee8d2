from typing import Any

class StepBackend:
    @property
    def count(self) -> int: ...
    options: Any
    def close(self) -> None: ...
