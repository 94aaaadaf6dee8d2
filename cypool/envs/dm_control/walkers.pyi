# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.dm_control.task import ControlTask
from cypool.spec import EnvSpec

class Cheetah(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'run', **common: Any) -> EnvSpec: ...

class Hopper(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'stand', **common: Any) -> EnvSpec: ...

class Walker(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'walk', **common: Any) -> EnvSpec: ...
