# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env

INFO: dict[Any, Any]

class Table:
    def __init__(self, transitions: Any, start: Any) -> None: ...

class Tabular(Env): ...
