# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

INFOS: dict[Any, Any]
KEYS: dict[Any, Any]
NEEDED: tuple[Any, ...]
PENALTIES: tuple[Any, ...]
TASKS: tuple[Any, ...]

class Memory: ...

class NetHack(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]
    def overwrite(self, name: Any, word: Any) -> Any: ...
