"""The spec of each robot: its options, spaces and infos."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import mujoco
import numpy as np

from cypool.envs.robotics import mazes
from cypool.envs.robotics.fetch_tasks import TASKS
from cypool.envs.robotics.goals import Distance, MazeGoal, Pose, Tasks
from cypool.envs.robotics.tables import KITCHEN_TASKS
from cypool.envs.shared.mujoco import ant
from cypool.envs.shared.mujoco.specs import (
    CAMERA_CONFIG,
    PHYSICS,
    SIMULATION,
    check_with_model,
    info_of,
    observation_of,
)
from cypool.options import Option, boolean, choice, describes, integer, number, unchecked
from cypool.spec import Array, EnvSpec
from cypool.util.arguments import check_choice, check_float, shown

# MuJoCo's steps in one of ours
FETCH_FRAME_SKIP = 20
HAND_FRAME_SKIP = 20
ADROIT_FRAME_SKIP = 5
KITCHEN_FRAME_SKIP = 40
# how near a goal of Fetch is
THRESHOLD = 0.05

ROBOT = {
    **SIMULATION,
    "physics": PHYSICS,
    "from_pixels": boolean(False, "Makes `observation` an image from `render`, uint8 (height, width, 3); goals "
                                  "remain numbers."),
    "frame_stack": SIMULATION["frame_stack"].with_default(
        1, "Number of stacked observations, the newest last. After a reset, the stack repeats the first observation. "
           "Goals are not stacked."),
    "reward_type": choice("sparse", ("sparse", "dense"), '"sparse", or "dense".'),
    "default_camera_config": CAMERA_CONFIG,
}


@describes(**ROBOT)
def robot(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options of all robots, and checks those that need no model."""
    return options


def describe_robot(model: Any, options: dict[str, Any], *, obs_size: int, num_actions: int, info: Mapping[str, Any],
                   camera: Mapping[str, Any], render_fps: int, goal_size: int = 0, goals: Any = None,
                   action_bounds: Any = (-1, 1)) -> EnvSpec:
    """Returns the `EnvSpec` of a robot with its checked options.

    Args:
        info: The infos, in the order of `Simulation.info`: names and dtypes.
        camera: Default camera, overridden by `default_camera_config`.
        goal_size: Number of values of a goal; 0: no goals.
        action_bounds: Bounds of all numbers of an action, or arrays of bounds.
    """
    check_with_model(model, options, camera)
    observation: Any = observation_of(obs_size, options)
    if goal_size > 0:
        goal = Array((goal_size,), options["obs_dtype"])
        observation = {"achieved_goal": goal, "desired_goal": goal, "observation": observation}
    return EnvSpec(
        observation=observation,
        action=Array((num_actions,), options["action_dtype"], *action_bounds),
        info=info_of(model, info, options),
        render_fps=render_fps,
        options=options,
        unsaved_options=("physics", "randomize_info"),
        goals=goals,
    )


# returns the model of a file of the package's assets: the compiled module's, which changes some models
LoadRobot: TypeAlias = Callable[[str], Any]


def fetch_path(task: str) -> str:
    """Returns the file of a Fetch task in the package's assets."""
    return f"fetch/{TASKS[task].file}"


def fetch(task: str, load_robot: LoadRobot) -> Callable[..., Any]:
    """Returns the `describe` of a Fetch task."""
    def describe(options: dict[str, Any]) -> EnvSpec:
        return describe_robot(
            load_robot(fetch_path(task)), options, obs_size=25 if TASKS[task].thing else 10, goal_size=3, num_actions=4,
            info={"is_success": "float32"}, render_fps=25, goals=Distance(options["reward_type"], THRESHOLD),
            camera={"distance": 2.5, "azimuth": 132.0, "elevation": -14.0, "lookat": (1.3, 0.75, 0.55)})

    return describes(**ROBOT)(describe)


HAND_REACH = "hand/reach.xml"
POSITIONS = ("ignore", "fixed", "random")
ROTATIONS = ("xyz", "z", "parallel")
TOUCH = ("sensordata", "boolean", "log")
_TOUCH_PICTURES = ("on_touch", "off", "always")
_HAND_CAMERA = {"distance": 0.5, "azimuth": 55.0, "elevation": -25.0, "lookat": (1.0, 0.96, 0.14)}
_DISTANCE = number(0.01, 0, 1e300, "Distance that counts as success, in meters.")


def _check_qpos(given: Any, model: Any) -> dict[str, float] | None:
    """Returns positions by joint name; None: the package's."""
    if given is None:
        return None
    if not isinstance(given, dict):
        raise TypeError(f"initial_qpos: expected a dict from joint names to positions, got {shown(given)}")
    for joint in given:
        if model.named(int(mujoco.mjtObj.mjOBJ_JOINT), joint) < 0:
            raise ValueError(f"initial_qpos: expected joints in the model, got {shown(joint)}")
    # more is unstable to MuJoCo
    return {joint: check_float("initial_qpos", value, -1e10, 1e10) for joint, value in given.items()}


def hand_reach(load_robot: LoadRobot) -> Callable[..., Any]:
    """Returns the `describe` of the reaching hand."""
    @describes(
        **ROBOT, distance_threshold=_DISTANCE,
        initial_qpos=unchecked(None, "Initial positions by joint name; other joints keep the model's positions. None: "
                                     "the package's defaults."))
    def describe(options: dict[str, Any]) -> EnvSpec:
        model = load_robot(HAND_REACH)
        options["initial_qpos"] = _check_qpos(options["initial_qpos"], model)
        return describe_robot(
            model, options, obs_size=63, goal_size=15, num_actions=20, info={"is_success": "float32"}, render_fps=25,
            camera=_HAND_CAMERA, goals=Distance(options["reward_type"], options["distance_threshold"]))

    return describe


def manipulate_path(thing: str, touch: str | None) -> str:
    """Returns the file of a hand with an object in the package's assets."""
    return f"hand/manipulate_{thing}{'' if touch is None else '_touch_sensors'}.xml"


_ROTATION = number(0.1, 0, 1e300, "Angle that counts as success, in radians.")
_STARTS = boolean(True, "Randomizes the initial position.")
_MANIPULATE = {
    **ROBOT,
    "target_position": choice("random", POSITIONS, 'Target position: "random", "fixed" at the object\'s start, or '
                              '"ignore" for any place.'),
    "target_rotation": choice("xyz", ROTATIONS, 'Target rotation: "xyz", any rotation; "z", around the vertical axis; '
                                                '"parallel", aligned with the axes, then rotated around the vertical '
                                                "axis."),
    "touch_get_obs": choice(None, TOUCH, 'Touch observations: "sensordata", "boolean" or "log"; None: none.'),
    "touch_visualisation": choice("on_touch", _TOUCH_PICTURES, 'How images show touch sensors: "on_touch", red when '
                                  'touched; "always", as in the model; or "off".'),
}
_THING = {
    **_MANIPULATE,
    "distance_threshold": _DISTANCE,
    "rotation_threshold": _ROTATION,
    "randomize_initial_position": _STARTS,
    "randomize_initial_rotation": _STARTS,
    "ignore_z_target_rotation": boolean(False, "Accepts any rotation around the vertical axis."),
}
_PEN = {**_MANIPULATE, "rotation_threshold": _ROTATION, "randomize_initial_position": _STARTS}


def manipulate(thing: str, load_robot: LoadRobot) -> Callable[..., Any]:
    """Returns the `describe` of the hand with an object."""
    is_pen = thing == "pen"

    def describe(options: dict[str, Any]) -> EnvSpec:
        touch = options["touch_get_obs"]
        return describe_robot(
            load_robot(manipulate_path(thing, touch)), options, obs_size=61 if touch is None else 153, goal_size=7,
            num_actions=20, info={"is_success": "float32"}, render_fps=25, camera=_HAND_CAMERA,
            goals=Pose(options["reward_type"], options["target_position"] == "ignore",
                       options.get("ignore_z_target_rotation", is_pen),
                       options.get("distance_threshold", 0.05 if is_pen else 0.01), options["rotation_threshold"]))

    return describes(**_PEN if is_pen else _THING)(describe)


_MAZE = {
    **ROBOT,
    "maze_map": Option(mazes.U_MAZE, mazes.check_map, 'Rows of cells: 1 is a wall, 0 is empty, "g" allows goals, "r" '
                       'allows starts, and "c" allows both.'),
    "continuing_task": boolean(True, "Continues an episode after the goal is reached."),
    "reset_target": boolean(False, "Replaces a goal when it is reached."),
}
_ANT_V4 = {"ctrl_cost_weight": ant.CTRL_COST_WEIGHT, "use_contact_forces": ant.USE_CONTACT_FORCES,
           **ant.COSTS, **ant.RANGES}


def _load_maze(kind: str, version: int, options: dict[str, Any]) -> Any:
    """Returns the model of a maze whose map can be played."""
    maze_map = options["maze_map"]
    model, goals, starts = mazes.load_maze(kind, maze_map, version == 3, options.get("xml_file"))
    if not goals or not starts:
        raise ValueError(f"maze_map: expected at least one goal cell and one start cell, got {shown(maze_map)}")
    # a goal in a cell is never far enough from a start there
    if version != 3 and any(all(start == goal for start in starts) for goal in goals):
        raise ValueError(f"maze_map: expected each goal to have a start in a different cell, got {shown(maze_map)}")
    return model


def _describe_maze(model: Any, options: dict[str, Any], **robots: Any) -> EnvSpec:
    return describe_robot(model, options, goal_size=2, render_fps=50,
                          goals=MazeGoal(options["reward_type"], options["continuing_task"]), **robots)


@describes(**_MAZE)
def point_maze(options: dict[str, Any]) -> EnvSpec:
    return _describe_maze(_load_maze("point", 4, options), options, obs_size=4, num_actions=2, info={"success": "bool"},
                          camera={"distance": 12.5 if len(options["maze_map"]) > 8 else 8.8})


@describes(
    **_MAZE,
    xml_file=unchecked(None, "The robot: a path, or the name of one of Gymnasium's files; None: Gymnasium's "
                                    "ant."),
    frame_skip=integer(5, 1, 1_000_000, "Number of MuJoCo steps per environment step."),
    forward_reward_weight=ant.WEIGHT,
    ctrl_cost_weight=ant.CTRL_COST_WEIGHT, **ant.COSTS, main_body=ant.MAIN_BODY, **ant.RANGES,
    include_cfrc_ext_in_observation=ant.SEES_FORCES)
def ant_maze(options: dict[str, Any]) -> EnvSpec:
    model = _load_maze("ant", 5, options)
    options["main_body"] = ant.check_main_body(model, options["main_body"])
    forces = 6 * (model.nbody - 1) * options["include_cfrc_ext_in_observation"]
    return _describe_maze(
        model, options, obs_size=model.nq - 2 + model.nv + forces, num_actions=model.nu, camera={"distance": 4.0},
        info={**ant.info("action", "reward_contact"), "success": "bool"},
        action_bounds=model.control_range(np.inf).astype(np.float32))


def _describe_ant_v4(version: int, options: dict[str, Any], **more: str) -> EnvSpec:
    """Returns the spec of version 4 or 3."""
    forces = options["use_contact_forces"]
    return _describe_maze(
        _load_maze("ant", version, options), options, obs_size=27 + 84 * forces, num_actions=8,
        info={**ant.info("float64" if forces else "action", "forward_reward"), **more}, camera={"distance": 4.0})


@describes(**_MAZE, **_ANT_V4)
def ant_maze_v4(options: dict[str, Any]) -> EnvSpec:
    return _describe_ant_v4(4, options, success="bool")


@describes(**{**_MAZE, "reset_target": boolean(False, "Ignored; the reference has no such option.")}, **_ANT_V4)
def ant_maze_v3(options: dict[str, Any]) -> EnvSpec:
    return _describe_ant_v4(3, options)


def adroit_path(task: str) -> str:
    """Returns the file of an Adroit task in the package's assets."""
    return f"adroit_hand/adroit_{task}.xml"


# numbers of values of an observation and of an action, and the camera's distance and azimuth
_ADROIT = {"door": (39, 28, 1.5, 90.0), "hammer": (46, 26, 2.0, 45.0), "pen": (45, 24, 1.0, -45.0),
           "relocate": (39, 30, 1.5, 90.0)}


def adroit(task: str, load_robot: LoadRobot) -> Callable[..., Any]:
    """Returns the `describe` of an Adroit task."""
    obs_size, num_actions, distance, azimuth = _ADROIT[task]

    def describe(options: dict[str, Any]) -> EnvSpec:
        return describe_robot(load_robot(adroit_path(task)), options, obs_size=obs_size, num_actions=num_actions,
                              info={"success": "bool"}, render_fps=100,
                              camera={"distance": distance, "azimuth": azimuth})

    return describes(**{**ROBOT, "reward_type": ROBOT["reward_type"].with_default("dense")})(describe)


def check_initial_state(state: Any, sizes: Mapping[str, int]) -> list[float]:
    """Returns the numbers in Adroit's `initial_state_dict`, part by part; none for None.

    Raises:
        TypeError, ValueError: It is not such a dict.
    """
    numbers: list[float] = []
    if state is None:
        return numbers
    if not isinstance(state, dict) or state.keys() != sizes.keys():
        raise ValueError(f"initial_state_dict: expected a dict with {', '.join(sizes)}, got {shown(state)}")
    for name, size in sizes.items():
        part = state[name]
        if not isinstance(part, np.ndarray) or part.dtype != np.float64 or part.shape != (size,):
            raise TypeError(f"initial_state_dict: expected {name} to contain {size} float64 numbers, got {shown(part)}")
        if not np.isfinite(part).all():
            raise ValueError(f"initial_state_dict: expected finite numbers in {name}, got {shown(part)}")
        numbers += part.tolist()
    return numbers


KITCHEN = "kitchen_franka/kitchen_assets/kitchen_env_model.xml"
KITCHEN_JOINTS = 9  # of the robot


def _check_tasks(name: str, tasks: Any) -> tuple[str, ...]:
    """Returns the names of tasks as a tuple."""
    if not isinstance(tasks, (tuple, list)) or not tasks:
        raise TypeError(f"{name}: expected a list of tasks, got {shown(tasks)}")
    names = tuple(check_choice(name, task, tuple(KITCHEN_TASKS)) for task in tasks)
    if len(set(names)) != len(names):
        raise ValueError(f"{name}: expected each task once, got {shown(names)}")
    return names


def franka_kitchen(load_robot: LoadRobot) -> Callable[..., Any]:
    """Returns the `describe` of the kitchen."""
    @describes(
        **{**ROBOT, "action_dtype": SIMULATION["action_dtype"].with_default("float64"),
           "reward_type": ROBOT["reward_type"].with_default("sparse", "Has no effect: only one reward type exists.")},
        tasks_to_complete=Option(tuple(KITCHEN_TASKS), _check_tasks, "Names of the tasks to complete."),
        terminate_on_tasks_completed=boolean(True, "Ends the episode when all tasks are completed."),
        remove_task_when_completed=boolean(True, "Counts each task only once."),
        robot_noise_ratio=number(0.01, -1e300, 1e300, "Scale of the noise in observations of the robot."),
        object_noise_ratio=number(0.0005, -1e300, 1e300, "Scale of the noise in observations of objects."))
    def describe(options: dict[str, Any]) -> EnvSpec:
        model, sizes = load_robot(KITCHEN), tuple(len(KITCHEN_TASKS[task][1]) for task in options["tasks_to_complete"])
        return describe_robot(
            model, options, obs_size=59, goal_size=sum(sizes), num_actions=KITCHEN_JOINTS,
            camera={"distance": 2.2, "azimuth": 70.0, "elevation": -35.0, "lookat": (-0.2, 0.5, 2.0)},
            goals=None if options["remove_task_when_completed"] else Tasks(sizes),
            render_fps=int(np.round(1 / (model.timestep * KITCHEN_FRAME_SKIP))),
            info=dict.fromkeys(("tasks_to_complete", "step_task_completions", "episode_task_completions"), "int32"))

    return describe
