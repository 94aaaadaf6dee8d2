# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

FACES: str
SUITS: str

class Blackjack(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(natural: bool = False, sab: bool = False) -> EnvSpec: ...
