# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

BUTTONS: tuple[Any, ...]
FORMATS: tuple[Any, ...]
VARIABLES: tuple[Any, ...]

def probe(path: Any, text: Any) -> Any: ...

class Doom(Env):
    def __init__(
        self,
        spec: Any,
        env_id: Any,
        config_path: Any,
        text: Any,
        arguments: Any,
        pipelined: bool,
    ) -> None: ...
    @property
    def num_players(self) -> int: ...
    def picture(self, player: int) -> Any: ...

class EnvPoolDoom(Doom):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class GymnasiumDoom(Doom):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]
