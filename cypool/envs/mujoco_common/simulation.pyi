# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class Simulation(Env):
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
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
    ) -> EnvSpec: ...
    @property
    def loaded(self) -> Any: ...
