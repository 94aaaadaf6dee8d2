# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class Catch(Env):
    @staticmethod
    def describe(height: Any = 10, width: Any = 5) -> EnvSpec: ...
