# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class NChain(Env):
    @staticmethod
    def describe(n: Any = 5, slip: Any = 0.2, small: Any = 2.0, large: Any = 10.0) -> EnvSpec: ...
