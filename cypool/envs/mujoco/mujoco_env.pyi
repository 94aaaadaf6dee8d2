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
    def describe(default_camera_config: Any = None, **common: Any) -> EnvSpec: ...
