# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
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

class MujocoEnv(Env):
    @staticmethod
    def describe(
        obs_dtype: Any = 'float64',
        action_dtype: Any = 'float32',
        frame_stack: Any = 1,
        randomize: Any = None,
        from_pixels: Any = False,
        width: Any = 480,
        height: Any = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        default_camera_config: Any = None,
        max_geom: Any = 1000,
        visual_options: Any = None,
        shadows: Any = True,
    ) -> EnvSpec: ...
    @property
    def loaded(self) -> Any: ...
