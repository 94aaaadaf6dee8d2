# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco_common.mujoco_common import Simulation
from cypool.spec import EnvSpec

ADROIT_FRAME_SKIP: int
FETCH_CAMERA: dict[Any, Any]
FETCH_FRAME_SKIP: int
FETCH_TASKS: dict[Any, Any]
FINGERS: tuple[Any, ...]
HAND_CAMERA: dict[Any, Any]
HAND_FRAME_SKIP: int
HAND_QPOS: dict[Any, Any]
INFO: tuple[Any, ...]
KITCHEN_CAMERA: dict[Any, Any]
KITCHEN_FRAME_SKIP: int
KITCHEN_QPOS: tuple[Any, ...]
KITCHEN_TASKS: dict[Any, Any]
MODEL: str
MOST_CELLS: int
POSITIONS: tuple[Any, ...]
RANGES: tuple[Any, ...]
ROBOTS: dict[Any, Any]
ROTATIONS: tuple[Any, ...]
SIZES: dict[Any, Any]
TOUCH: tuple[Any, ...]
TOUCH_PICTURES: tuple[Any, ...]
U_MAZE: tuple[Any, ...]

def check_ant(weights: Any, bools: Any, ranges: Any) -> Any: ...
def check_qpos(given: Any, model: Any) -> Any: ...
def check_tasks(tasks: Any) -> Any: ...
def describe_adroit(
        task: Any,
        obs_size: Any,
        num_actions: Any,
        camera: Any,
        reward_type: Any,
        common: Any,
    ) -> Any: ...
def describe_fetch(task: Any, common: Any) -> Any: ...
def describe_manipulate(
        thing: Any,
        target_position: Any,
        target_rotation: Any,
        touch_get_obs: Any,
        touch_visualisation: Any,
        options: Any,
        common: Any,
    ) -> Any: ...
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

class Adroit(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any, task: Any, written: Any, placed: Any) -> None: ...

class AdroitDoor(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(reward_type: str = 'dense', **common: Any) -> EnvSpec: ...

class AdroitHammer(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(reward_type: str = 'dense', **common: Any) -> EnvSpec: ...

class AdroitPen(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(reward_type: str = 'dense', **common: Any) -> EnvSpec: ...

class AdroitRelocate(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(reward_type: str = 'dense', **common: Any) -> EnvSpec: ...

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

class Fetch(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any, task: Any) -> None: ...

class FetchPickAndPlace(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(**common: Any) -> EnvSpec: ...

class FetchPush(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(**common: Any) -> EnvSpec: ...

class FetchReach(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(**common: Any) -> EnvSpec: ...

class FetchSlide(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(**common: Any) -> EnvSpec: ...

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

class _AntMaze(Maze):
    def __init__(self, spec: Any, env_id: Any, version: Any, frame_skip: Any) -> None: ...
