# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.robotics.robotics_env import RoboticsEnv
from cypool.spec import EnvSpec

INFO: tuple[Any, ...]
MOST_CELLS: int
ROBOTS: dict[Any, Any]
U_MAZE: tuple[Any, ...]

def check_ant(weights: Any, bools: Any, ranges: Any) -> Any: ...
def describe_maze(
        robot: Any,
        version: Any,
        maze_map: Any,
        continuing_task: Any,
        reset_target: Any,
        *,
        obs_size: Any,
        num_actions: Any,
        info: Any,
        frame_skip: Any,
        camera: Any,
        options: Any,
        common: Any,
    ) -> Any: ...

class AntMaze(_AntMaze):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        maze_map: Any = ...,
        continuing_task: bool = True,
        reset_target: bool = False,
        xml_file: Any = None,
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 0.0005,
        healthy_reward: float = 1.0,
        main_body: int = 1,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        contact_force_range: Any = ...,
        include_cfrc_ext_in_observation: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class AntMazeV3(AntMazeV4):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        maze_map: Any = ...,
        continuing_task: bool = True,
        reset_target: bool = False,
        ctrl_cost_weight: float = 0.5,
        use_contact_forces: bool = False,
        contact_cost_weight: float = 0.0005,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        contact_force_range: Any = ...,
        **common: Any,
    ) -> EnvSpec: ...

class AntMazeV4(_AntMaze):
    def __init__(self, spec: Any, env_id: Any, version: Any = ...) -> None: ...
    @staticmethod
    def describe(
        maze_map: Any = ...,
        continuing_task: bool = True,
        reset_target: bool = False,
        ctrl_cost_weight: float = 0.5,
        use_contact_forces: bool = False,
        contact_cost_weight: float = 0.0005,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        contact_force_range: Any = ...,
        **common: Any,
    ) -> EnvSpec: ...

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
    @staticmethod
    def describe(
        maze_map: Any = ...,
        continuing_task: bool = True,
        reset_target: bool = False,
        **common: Any,
    ) -> EnvSpec: ...

class _AntMaze(Maze):
    def __init__(self, spec: Any, env_id: Any, version: Any, frame_skip: Any) -> None: ...
