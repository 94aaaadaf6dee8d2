# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.dm_control.task import ControlTask
from cypool.spec import EnvSpec

JOINTS: tuple[Any, ...]
PROBABILITIES: tuple[Any, ...]
TOUCH: tuple[Any, ...]

class Arm(ControlTask):
    def __init__(self, spec: Any, env_id: Any, domain: Any, written: Any) -> None: ...

class Manipulator(Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        task: str = 'bring_ball',
        fully_observable: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class Stacker(Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        task: str = 'stack_2',
        fully_observable: bool = True,
        **common: Any,
    ) -> EnvSpec: ...
