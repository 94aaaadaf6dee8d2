# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env

BUTTONS: tuple[Any, ...]
FORMATS: tuple[Any, ...]
VARIABLES: tuple[Any, ...]

def read_config(path: Any, text: str = '') -> Any: ...

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
