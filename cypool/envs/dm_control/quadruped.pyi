# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.dm_control.task import ControlTask
from cypool.spec import EnvSpec

SPEEDS: dict[Any, Any]

class Quadruped(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'walk', **common: Any) -> EnvSpec: ...
