# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env

BUTTONS: tuple
FORMATS: tuple
VARIABLES: tuple

def read_config(path: Any, text: Any = '') -> Any: ...

class Doom(Env):
    @property
    def num_players(self) -> Any: ...
    def picture(self, player: Any) -> Any: ...
