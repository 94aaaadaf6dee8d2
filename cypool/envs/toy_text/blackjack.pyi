# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

FACES: str
SUITS: str

class Blackjack(Env):
    @staticmethod
    def describe(natural: Any = False, sab: Any = False) -> EnvSpec: ...
