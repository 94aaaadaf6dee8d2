# by .ci/stubs: not to be edited
from typing import Any

OBJECTS: dict
OPERATIONS: dict

class Variation:
    @property
    def drawn(self) -> Any: ...
