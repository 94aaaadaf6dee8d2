# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env

class Guarded(Wrapper):
    def __init__(self, spec: Any, env_id: int, inner: Any) -> None: ...

class Hooked(Wrapper):
    def __init__(
        self,
        spec: Any,
        env_id: int,
        inner: Any,
        reward: Any,
        observation: Any,
    ) -> None: ...
    calls_user_code: Any

class Scratch:
    def __init__(self, spec: Any, zone: Any) -> None: ...

class Wrapper(Env):
    def __init__(self, spec: Any, env_id: int, inner: Any) -> None: ...
    prepares_steps: Any
    @property
    def stepped_by(self) -> Any: ...
