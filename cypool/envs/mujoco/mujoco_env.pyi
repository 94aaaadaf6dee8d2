# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco_common.simulation import Simulation
from cypool.spec import EnvSpec

def check_options(**options: Any) -> Any: ...
def describe_robot(
        model: Any,
        obs_size: Any,
        info: Any,
        options: Any,
        common: Any,
        camera: Any = None,
    ) -> Any: ...

class MujocoEnv(Simulation):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        default_camera_config: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
    ) -> EnvSpec: ...
