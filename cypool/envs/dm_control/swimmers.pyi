# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.dm_control.task import ControlTask
from cypool.spec import EnvSpec

JOINTS: tuple[Any, ...]

class Fish(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'swim', **common: Any) -> EnvSpec: ...

class Swimmer(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'swimmer6', **common: Any) -> EnvSpec: ...
