# by .ci/stubs: not to be edited
from typing import final

@final
class IdTracker:
    def __init__(self, num_envs: int, is_async: bool) -> None: ...
