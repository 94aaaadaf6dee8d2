# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco_common.simulation import Simulation
from cypool.spec import EnvSpec

def describe_robot(
        model: Any,
        *,
        obs_size: Any,
        goal_size: Any,
        num_actions: Any,
        info: Any,
        frame_skip: Any,
        camera: Any,
        options: Any,
        common: Any,
        goals: Any = None,
        render_fps: Any = None,
        action_bounds: Any = ...,
    ) -> Any: ...

class RoboticsEnv(Simulation):
    def __init__(
        self,
        spec: Any,
        env_id: Any,
        model: Any,
        start: Any,
        frame_skip: int,
        written: Any = ...,
    ) -> None: ...
    @staticmethod
    def describe(
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
        **common: Any,
    ) -> EnvSpec: ...
