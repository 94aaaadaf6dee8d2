# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.robotics.robotics_env import RoboticsEnv
from cypool.spec import EnvSpec

CAMERA: dict[Any, Any]
FINGERS: tuple[Any, ...]
FRAME_SKIP: int
POSITIONS: tuple[Any, ...]
QPOS: dict[Any, Any]
RANGES: tuple[Any, ...]
ROTATIONS: tuple[Any, ...]
TOUCH: tuple[Any, ...]
TOUCH_PICTURES: tuple[Any, ...]

def check_qpos(given: Any, model: Any) -> Any: ...
def describe_manipulate(
        thing: Any,
        target_position: Any,
        target_rotation: Any,
        touch_get_obs: Any,
        touch_visualisation: Any,
        options: Any,
        common: Any,
    ) -> Any: ...

class Hand(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any, model: Any, start: Any, written: Any) -> None: ...

class HandBlock(Manipulate):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        target_position: str = 'random',
        target_rotation: str = 'xyz',
        touch_get_obs: Any = None,
        touch_visualisation: str = 'on_touch',
        distance_threshold: float = 0.01,
        rotation_threshold: float = 0.1,
        randomize_initial_position: bool = True,
        randomize_initial_rotation: bool = True,
        ignore_z_target_rotation: bool = False,
        **common: Any,
    ) -> EnvSpec: ...

class HandEgg(Manipulate):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        target_position: str = 'random',
        target_rotation: str = 'xyz',
        touch_get_obs: Any = None,
        touch_visualisation: str = 'on_touch',
        distance_threshold: float = 0.01,
        rotation_threshold: float = 0.1,
        randomize_initial_position: bool = True,
        randomize_initial_rotation: bool = True,
        ignore_z_target_rotation: bool = False,
        **common: Any,
    ) -> EnvSpec: ...

class HandPen(Manipulate):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        target_position: str = 'random',
        target_rotation: str = 'xyz',
        touch_get_obs: Any = None,
        touch_visualisation: str = 'on_touch',
        rotation_threshold: float = 0.1,
        randomize_initial_position: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class HandReach(Hand):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        distance_threshold: float = 0.01,
        initial_qpos: Any = None,
        **common: Any,
    ) -> EnvSpec: ...

class Manipulate(Hand):
    def __init__(self, spec: Any, env_id: Any, thing: Any) -> None: ...
