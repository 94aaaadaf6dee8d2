# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class NChain(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        n: int = 5,
        slip: float = 0.2,
        small: float = 2.0,
        large: float = 10.0,
    ) -> EnvSpec: ...
