# by .ci/stubs: not to be edited
from typing import Any, final

@final
class Scheduler:
    def __init__(
        self,
        envs: list[Any],
        batch_rows: int,
        num_open: int,
        action_bytes: int,
        ordered: bool,
        autoreset: Any,
        statistics: bool,
    ) -> None: ...
