# by .ci/stubs: not to be edited
from typing import Any, final

from cypool.engine.dispatch import Dispatch

@final
class SyncDispatch(Dispatch):
    def __init__(
        self,
        scheduler: Any,
        threads: Any,
        blocks: Any,
        results: Any,
        ids: Any,
        distributor: Any,
    ) -> None: ...
