# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class Pendulum(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(g: float = 10.0, version: int = 1, precision: str = 'exact') -> EnvSpec: ...
