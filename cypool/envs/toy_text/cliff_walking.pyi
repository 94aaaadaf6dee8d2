# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.toy_text.tabular import Tabular
from cypool.spec import EnvSpec

GOAL: int
HEIGHT: int
INFO: dict
MOVES: tuple
START: int
WIDTH: int

class CliffWalking(Tabular):
    @staticmethod
    def describe(is_slippery: Any = False) -> EnvSpec: ...
