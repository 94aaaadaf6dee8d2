# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class Pendulum(Env):
    @staticmethod
    def describe(g: Any = 10.0, version: Any = 1, precision: Any = 'exact') -> EnvSpec: ...
