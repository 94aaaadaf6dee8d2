# by .ci/stubs: not to be edited
from typing import Any, final

@final
class LockGuard:
    def __init__(self, lock: Any) -> None: ...
