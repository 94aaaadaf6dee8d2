# by .ci/stubs: not to be edited
from typing import Any

from cypool.wrappers.wrappers import Wrapper

class Faulty(Wrapper):
    def __init__(self, spec: Any, env_id: int, inner: Any, fails_at: int) -> None: ...
