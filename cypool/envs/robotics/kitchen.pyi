# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.robotics.robotics_env import RoboticsEnv
from cypool.spec import EnvSpec

CAMERA: dict[Any, Any]
FRAME_SKIP: int
MODEL: str
QPOS: tuple[Any, ...]
TASKS: dict[Any, Any]

def check_tasks(tasks: Any) -> Any: ...

class FrankaKitchen(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        tasks_to_complete: Any = ...,
        terminate_on_tasks_completed: bool = True,
        remove_task_when_completed: bool = True,
        robot_noise_ratio: float = 0.01,
        object_noise_ratio: float = 0.0005,
        action_dtype: str = 'float64',
        **common: Any,
    ) -> EnvSpec: ...
