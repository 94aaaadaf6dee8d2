# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.toy_text.tabular import Tabular
from cypool.spec import EnvSpec

GOAL: int
HEIGHT: int
INFO: dict[Any, Any]
MOVES: tuple[Any, ...]
START: int
WIDTH: int

class CliffWalking(Tabular):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(is_slippery: bool = False) -> EnvSpec: ...
