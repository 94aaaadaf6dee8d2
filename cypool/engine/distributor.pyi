# by .ci/stubs: not to be edited
from typing import Any, final

@final
class Distributor:
    def __init__(
        self,
        scheduler: Any,
        threads: Any,
        policy: Any,
        shares_threads: bool,
    ) -> None: ...
