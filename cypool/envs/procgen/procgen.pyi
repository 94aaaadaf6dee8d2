# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

GAMES: dict[Any, Any]
MAX_LEVEL: int
MODE_NUMBERS: dict[Any, Any]

class Procgen(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]
