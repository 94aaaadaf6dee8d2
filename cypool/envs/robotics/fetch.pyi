# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.robotics.robotics_env import RoboticsEnv
from cypool.spec import EnvSpec

CAMERA: dict[Any, Any]
FRAME_SKIP: int
TASKS: dict[Any, Any]

def describe_fetch(task: Any, common: Any) -> Any: ...

class Fetch(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any, task: Any) -> None: ...

class FetchPickAndPlace(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(**common: Any) -> EnvSpec: ...

class FetchPush(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(**common: Any) -> EnvSpec: ...

class FetchReach(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(**common: Any) -> EnvSpec: ...

class FetchSlide(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(**common: Any) -> EnvSpec: ...
