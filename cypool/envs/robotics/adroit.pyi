# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.robotics.robotics_env import RoboticsEnv
from cypool.spec import EnvSpec

FRAME_SKIP: int

def describe_adroit(
        task: Any,
        obs_size: Any,
        num_actions: Any,
        camera: Any,
        reward_type: Any,
        common: Any,
    ) -> Any: ...

class Adroit(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any, task: Any, written: Any, placed: Any) -> None: ...

class AdroitDoor(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(reward_type: str = 'dense', **common: Any) -> EnvSpec: ...

class AdroitHammer(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(reward_type: str = 'dense', **common: Any) -> EnvSpec: ...

class AdroitPen(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(reward_type: str = 'dense', **common: Any) -> EnvSpec: ...

class AdroitRelocate(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(reward_type: str = 'dense', **common: Any) -> EnvSpec: ...
