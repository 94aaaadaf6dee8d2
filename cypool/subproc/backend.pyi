# by .ci/stubs: not to be edited
from typing import Any

from cypool.backend import StepBackend
from cypool.env import Env

class SubprocBackend(StepBackend):
    def __init__(
        self,
        factories: list[Any],
        num_workers: int,
        in_threads: bool,
        start_method: str,
        timeout: Any,
        preload: list[Any],
    ) -> None: ...
    def close(self) -> Any: ...
    @property
    def count(self) -> Any: ...
    @property
    def env_description(self) -> Any: ...
    def environments(self, specs: list[Any]) -> Any: ...
    @property
    def memory(self) -> Any: ...
    def pack_options(self, options: Any) -> Any: ...

class SubprocEnv(Env):
    def ask(self, function: Any, *args: Any, **kwargs: Any) -> Any: ...
