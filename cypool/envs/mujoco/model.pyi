# by .ci/stubs: not to be edited
from typing import Any

class Model:
    @property
    def path(self) -> Any: ...
