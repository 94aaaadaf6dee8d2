# by .ci/stubs: not to be edited
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
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'dense',
        default_camera_config: Any = None,
    ) -> EnvSpec: ...

class AdroitHammer(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'dense',
        default_camera_config: Any = None,
    ) -> EnvSpec: ...

class AdroitPen(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'dense',
        default_camera_config: Any = None,
    ) -> EnvSpec: ...

class AdroitRelocate(Adroit):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'dense',
        default_camera_config: Any = None,
    ) -> EnvSpec: ...

class AntMaze(_AntMaze):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
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
    ) -> EnvSpec: ...

class AntMazeV3(AntMazeV4):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
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
    ) -> EnvSpec: ...

class AntMazeV4(_AntMaze):
    def __init__(self, spec: Any, env_id: Any, version: Any = ...) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
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
    ) -> EnvSpec: ...

class Fetch(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any, task: Any) -> None: ...

class FetchPickAndPlace(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
    ) -> EnvSpec: ...

class FetchPush(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
    ) -> EnvSpec: ...

class FetchReach(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
    ) -> EnvSpec: ...

class FetchSlide(Fetch):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
    ) -> EnvSpec: ...

class FrankaKitchen(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
        tasks_to_complete: Any = ...,
        terminate_on_tasks_completed: bool = True,
        remove_task_when_completed: bool = True,
        robot_noise_ratio: float = 0.01,
        object_noise_ratio: float = 0.0005,
    ) -> EnvSpec: ...

class Hand(RoboticsEnv):
    def __init__(self, spec: Any, env_id: Any, model: Any, start: Any, written: Any) -> None: ...

class HandBlock(Manipulate):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
        target_position: str = 'random',
        target_rotation: str = 'xyz',
        touch_get_obs: Any = None,
        touch_visualisation: str = 'on_touch',
        distance_threshold: float = 0.01,
        rotation_threshold: float = 0.1,
        randomize_initial_position: bool = True,
        randomize_initial_rotation: bool = True,
        ignore_z_target_rotation: bool = False,
    ) -> EnvSpec: ...

class HandEgg(Manipulate):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
        target_position: str = 'random',
        target_rotation: str = 'xyz',
        touch_get_obs: Any = None,
        touch_visualisation: str = 'on_touch',
        distance_threshold: float = 0.01,
        rotation_threshold: float = 0.1,
        randomize_initial_position: bool = True,
        randomize_initial_rotation: bool = True,
        ignore_z_target_rotation: bool = False,
    ) -> EnvSpec: ...

class HandPen(Manipulate):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
        target_position: str = 'random',
        target_rotation: str = 'xyz',
        touch_get_obs: Any = None,
        touch_visualisation: str = 'on_touch',
        rotation_threshold: float = 0.1,
        randomize_initial_position: bool = True,
    ) -> EnvSpec: ...

class HandReach(Hand):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
        distance_threshold: float = 0.01,
        initial_qpos: Any = None,
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
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
        maze_map: Any = ...,
        continuing_task: bool = True,
        reset_target: bool = False,
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
        *,
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
        reward_type: str = 'sparse',
        default_camera_config: Any = None,
    ) -> EnvSpec: ...

class _AntMaze(Maze):
    def __init__(self, spec: Any, env_id: Any, version: Any, frame_skip: Any) -> None: ...
