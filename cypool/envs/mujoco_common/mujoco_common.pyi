# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

OBJECTS: dict[Any, Any]
OPERATIONS: dict[Any, Any]
SETTINGS: dict[Any, Any]

def contexts() -> Any: ...

class Camera:
    def __init__(self, loaded: Any, options: Any) -> None: ...
    @property
    def height(self) -> int: ...
    @property
    def sees_contacts(self) -> bool: ...
    @property
    def width(self) -> int: ...

class Model:
    @property
    def path(self) -> str: ...

class Renderer:
    def __init__(self, model: Any, width: int, height: int, max_geom: int) -> None: ...

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

class Variation:
    def __init__(self, loaded: Any, randomize: dict[Any, Any], own: Any = ...) -> None: ...
    @property
    def drawn(self) -> Any: ...
