# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.dm_control.task import ControlTask
from cypool.spec import EnvSpec

class Humanoid(ControlTask):
    def __init__(
        self,
        spec: Any,
        env_id: Any,
        domain: Any = ...,
        torso: Any = ...,
        upright: Any = ...,
        limbs: Any = ...,
    ) -> None: ...
    @staticmethod
    def describe(task: str = 'walk', **common: Any) -> EnvSpec: ...

class HumanoidCMU(Humanoid):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'walk', **common: Any) -> EnvSpec: ...
