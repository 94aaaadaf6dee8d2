# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.envs.mujoco_common.mujoco_common import Simulation
from cypool.spec import EnvSpec

FETCH_TASKS: dict[Any, Any]
FINGERS: tuple[Any, ...]
HAND_QPOS: dict[Any, Any]
KITCHEN_QPOS: tuple[Any, ...]
KITCHEN_TASKS: dict[Any, Any]
RANGES: tuple[Any, ...]
ROBOTS: dict[Any, Any]
SIZES: dict[Any, Any]

def load_robot(path: str) -> Any: ...

class Adroit(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any, task: Any, written: Any, placed: Any) -> None: ...

class AdroitDoor(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class AdroitHammer(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class AdroitPen(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class AdroitRelocate(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class AntMaze(_AntMaze):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class AntMazeV3(AntMazeV4):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class AntMazeV4(_AntMaze):
    def __init__(self, spec: Any, env_id: Any, version: Any = ...) -> None: ...
    describe: Callable[..., EnvSpec]

class Fetch(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any, task: Any) -> None: ...

class FetchPickAndPlace(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class FetchPush(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class FetchReach(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class FetchSlide(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class FrankaKitchen(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Hand(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any, model: Any, start: Any, written: Any) -> None: ...

class HandBlock(Manipulate):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class HandEgg(Manipulate):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class HandPen(Manipulate):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class HandReach(Hand):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Manipulate(Hand):
    def __init__(self, spec: Any, env_id: Any, thing: Any) -> None: ...

class Maze(RoboticsEnv):
    def __init__(
        self,
        spec: Any,
        env_id: Any,
        robot: Any,
        version: Any,
        frame_skip: Any,
    ) -> None: ...

class PointMaze(Maze):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

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
    describe: Callable[..., EnvSpec]

class _AntMaze(Maze):
    def __init__(self, spec: Any, env_id: Any, version: Any, frame_skip: Any) -> None: ...
