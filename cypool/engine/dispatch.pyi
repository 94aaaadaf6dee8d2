# by .ci/stubs: not to be edited
from typing import Any

class Dispatch:
    def __init__(
        self,
        scheduler: Any,
        threads: Any,
        blocks: Any,
        results: Any,
        ids: Any,
    ) -> None: ...
