# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class MountainCar(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(goal_velocity: float = 0.0, precision: str = 'exact') -> EnvSpec: ...

class MountainCarContinuous(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(goal_velocity: float = 0.0, precision: str = 'exact') -> EnvSpec: ...
