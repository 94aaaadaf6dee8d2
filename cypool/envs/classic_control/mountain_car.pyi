# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class MountainCar(Env):
    @staticmethod
    def describe(goal_velocity: Any = 0.0, precision: Any = 'exact') -> EnvSpec: ...

class MountainCarContinuous(Env):
    @staticmethod
    def describe(goal_velocity: Any = 0.0, precision: Any = 'exact') -> EnvSpec: ...
