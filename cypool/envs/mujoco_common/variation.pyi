# by .ci/stubs: not to be edited
from typing import Any

OBJECTS: dict[Any, Any]
OPERATIONS: dict[Any, Any]

class Variation:
    def __init__(self, loaded: Any, randomize: dict[Any, Any], own: Any = ...) -> None: ...
    @property
    def drawn(self) -> Any: ...
