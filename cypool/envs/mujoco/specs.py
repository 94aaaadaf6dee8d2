"""The spec of each robot: its options, spaces and infos."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cypool.envs.shared.mujoco import ant as ants
from cypool.envs.shared.mujoco.ant import WEIGHT
from cypool.envs.shared.mujoco.mujoco_common import load_model
from cypool.envs.shared.mujoco.specs import (
    CAMERA_CONFIG,
    PHYSICS,
    SIMULATION,
    check_pair,
    check_with_model,
    info_of,
    observation_of,
)
from cypool.options import Option, boolean, describes, integer, number, unchecked
from cypool.spec import Array, EnvSpec

ROBOT = {
    **SIMULATION,
    "default_camera_config": CAMERA_CONFIG,
    "physics": PHYSICS,
}


@describes(**ROBOT)
def robot(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options of all robots, and checks those that need no robot."""
    return options


def describes_robot(xml_file: str, frame_skip: int, /, **own: Option) -> Callable[[Callable[..., Any]],
                                                                                  Callable[..., Any]]:
    """Returns a decorator that makes `describe` from a function that takes a robot's model and its checked options.

    Args:
        xml_file: The default of that option.
        frame_skip: The default of that option.
        **own: The options of this robot alone.
    """
    declared = {
        **ROBOT,
        "xml_file": unchecked(xml_file, "The robot: a path, or the name of one of Gymnasium's files."),
        "frame_skip": integer(frame_skip, 1, 1_000_000, "Number of MuJoCo steps per environment step."),
        **own}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def describe(options: dict[str, Any]) -> Any:
            return function(load_model(options["xml_file"]), options)

        return describes(**declared)(describe)

    return decorate


def describe_robot(model: Any, obs_size: int, info: Mapping[str, Any], options: dict[str, Any],
                   camera: Mapping[str, Any] | None = None) -> EnvSpec:
    """Returns the `EnvSpec` of a robot.

    Args:
        model: Its model.
        obs_size: Number of values of an observation.
        info: The infos, in the order of `MujocoEnv.info`: names, and "float64", "int64", "action" for the action's
            dtype, or a pair of such a type and a size.
        options: All its options, checked.
        camera: Default camera, overridden by `default_camera_config`: attributes of MuJoCo's mjvCamera.
    """
    check_with_model(model, options, camera or {})
    # as Gymnasium's action space has them, whatever the dtype here
    low, high = model.control_range(np.inf).astype(np.float32)
    return EnvSpec(
        observation=observation_of(obs_size, options),
        action=Array(low.shape, options["action_dtype"], low, high),
        info=info_of(model, info, options),
        # as Gymnasium's metadata has it
        render_fps=max(int(np.round(1 / (model.timestep * options["frame_skip"]))), 1),
        options=options,
        unsaved_options=("physics", "randomize_info"),
    )


def require_positions(model: Any, least: int, kind: str) -> None:
    """Raises a ValueError if a robot has fewer positions than its class reads."""
    if model.nq < least:
        raise ValueError(f"xml_file: expected a robot {kind}, with at least {least} coordinates, found {model.nq} in "
                         f"{model.path}")


def _require(model: Any, bodies: tuple[str, ...], min_joints: int) -> None:
    for name in bodies:
        model.body(name)
    if model.nv < min_joints or model.nq != model.nv:
        raise ValueError(f"xml_file: expected a robot with at least {min_joints} joints, all of them hinges or "
                         f"slides, found {model.nv} degrees of freedom and {model.nq} positions")


def _pair(default: tuple[float, float], meaning: str) -> Option:
    return Option(default, check_pair, meaning)


def _floats(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, "float64")


_NOISE = number(0.1, 0, 1e6, "Scale of the random variation in initial states.")
_ENDS, _HEIGHTS = ants.RANGES["terminate_when_unhealthy"], ants.RANGES["healthy_z_range"]
_NO_X = boolean(True, "Leaves the first position out of the observation.")
_NO_XY = boolean(True, "Leaves x and y out of the observation.")

_POSITIONS = ("x_position", "y_position", "distance_from_origin", "x_velocity", "y_velocity")


def _describe_ant(model: Any, options: dict[str, Any], bodies: int, info: dict[str, Any]) -> EnvSpec:
    size = model.nq + model.nv - 2 * options["exclude_current_positions_from_observation"] + 6 * bodies
    return describe_robot(model, size, info, options, {"distance": 4.0})


@describes_robot(
    "ant.xml", 5, forward_reward_weight=WEIGHT, ctrl_cost_weight=ants.CTRL_COST_WEIGHT, **ants.COSTS,
    main_body=ants.MAIN_BODY, **ants.RANGES, reset_noise_scale=_NOISE,
    exclude_current_positions_from_observation=_NO_XY, include_cfrc_ext_in_observation=ants.SEES_FORCES)
def ant(model: Any, options: dict[str, Any]) -> EnvSpec:
    require_positions(model, 3, "that moves in space")
    options["main_body"] = ants.check_main_body(model, options["main_body"])
    bodies = (model.nbody - 1) * options["include_cfrc_ext_in_observation"]
    return _describe_ant(model, options, bodies, ants.info("action", "reward_contact"))


@describes_robot(
    "ant.xml", 5, ctrl_cost_weight=ants.CTRL_COST_WEIGHT, use_contact_forces=ants.USE_CONTACT_FORCES, **ants.COSTS,
    **ants.RANGES, reset_noise_scale=_NOISE, exclude_current_positions_from_observation=_NO_XY)
def ant_v4(model: Any, options: dict[str, Any]) -> EnvSpec:
    require_positions(model, 3, "that moves in space")
    model.body("torso")
    kind = "float64" if options["use_contact_forces"] else "action"
    return _describe_ant(model, options, model.nbody * options["use_contact_forces"], ants.info(kind, "forward_reward"))


_RUNNER = {"forward_reward_weight": WEIGHT, "ctrl_cost_weight": WEIGHT.with_default(0.1), "reset_noise_scale": _NOISE,
           "exclude_current_positions_from_observation": _NO_X}


def _describe_cheetah(model: Any, options: dict[str, Any], forward: str) -> EnvSpec:
    info = {**_floats("x_position", "x_velocity", forward), "reward_ctrl": "action"}
    size = model.nq + model.nv - options["exclude_current_positions_from_observation"]
    return describe_robot(model, size, info, options, {"distance": 4.0})


@describes_robot("half_cheetah.xml", 5, **_RUNNER)
def half_cheetah(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_cheetah(model, options, "reward_forward")


@describes_robot("half_cheetah.xml", 5, **_RUNNER)
def half_cheetah_v4(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_cheetah(model, options, "reward_run")


_SWIMMER = {**_RUNNER, "ctrl_cost_weight": WEIGHT.with_default(1e-4),
            "exclude_current_positions_from_observation": _NO_XY}


def _describe_swimmer(model: Any, options: dict[str, Any], info: dict[str, Any]) -> EnvSpec:
    require_positions(model, 2, "that moves in a plane")
    size = model.nq + model.nv - 2 * options["exclude_current_positions_from_observation"]
    return describe_robot(model, size, {**_floats(*_POSITIONS), **info}, options)


@describes_robot("swimmer.xml", 4, **_SWIMMER)
def swimmer(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_swimmer(model, options, {"reward_forward": "float64", "reward_ctrl": "action"})


@describes_robot("swimmer.xml", 4, **_SWIMMER)
def swimmer_v4(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_swimmer(model, options, {"reward_fwd": "float64", "reward_ctrl": "action",
                                              "forward_reward": "float64"})


_UPRIGHT = {"forward_reward_weight": WEIGHT, "ctrl_cost_weight": WEIGHT.with_default(1e-3), "healthy_reward": WEIGHT,
            "terminate_when_unhealthy": _ENDS}
_ANGLES = _pair((-1.0, 1.0), "Range of healthy angles.")
_UPRIGHT_START = {"reset_noise_scale": _NOISE.with_default(5e-3), "exclude_current_positions_from_observation": _NO_X}
_WALKER = {**_UPRIGHT, "healthy_z_range": _HEIGHTS.with_default((0.8, 2.0)), "healthy_angle_range": _ANGLES,
           **_UPRIGHT_START}


def _describe_upright(model: Any, options: dict[str, Any], distance: float) -> EnvSpec:
    require_positions(model, 3, "whose position consists of x, z and an angle")
    size = model.nq + model.nv - options["exclude_current_positions_from_observation"]
    info = {**_floats("x_position", "z_distance_from_origin", "x_velocity", "reward_forward"), "reward_ctrl": "action",
            "reward_survive": "float64"}
    return describe_robot(model, size, info, options,
                          {"distance": distance, "lookat": (0.0, 0.0, 1.15), "elevation": -20.0})


@describes_robot(
    "hopper.xml", 4, **_UPRIGHT,
    healthy_state_range=_pair((-100.0, 100.0), "Range of healthy positions and velocities."),
    healthy_z_range=_HEIGHTS.with_default((0.7, math.inf)), healthy_angle_range=_ANGLES.with_default((-0.2, 0.2)),
    **_UPRIGHT_START)
def hopper(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_upright(model, options, 3.0)


@describes_robot("walker2d_v5.xml", 4, **_WALKER)
def walker2d(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_upright(model, options, 4.0)


@describes_robot("walker2d.xml", 4, **_WALKER)
def walker2d_v4(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_upright(model, options, 4.0)


_SEEN = {
    "exclude_current_positions_from_observation": _NO_XY,
    "include_cinert_in_observation": boolean(True, "Observes inertia."),
    "include_cvel_in_observation": boolean(True, "Observes velocity."),
    "include_qfrc_actuator_in_observation": boolean(True, "Observes actuator forces."),
    "include_cfrc_ext_in_observation": ants.SEES_FORCES,
}
_COSTS = _pair((-math.inf, 10.0), "Range to which the cost of contact forces is clipped.")
_WALKING = {"forward_reward_weight": WEIGHT.with_default(1.25), "ctrl_cost_weight": WEIGHT.with_default(0.1)}
_HUMANOID = {
    "healthy_reward": WEIGHT.with_default(5.0),
    "terminate_when_unhealthy": _ENDS,
    "healthy_z_range": _HEIGHTS.with_default((1.0, 2.0), "Range of healthy torso heights."),
    "reset_noise_scale": _NOISE.with_default(1e-2),
}


def _describe_person(model: Any, options: dict[str, Any], info: tuple[str, ...], height: float,
                     tendons: bool = True) -> EnvSpec:
    """Returns the spec of a humanoid that observes the parts of version 5, or all of them as in version 4."""
    if "include_cvel_in_observation" in options:
        if model.nv < 6:
            raise ValueError(f"xml_file: expected a robot that moves freely, found {model.nv} degrees of freedom")
        bodies = model.nbody - 1
        size = (10 * bodies * options["include_cinert_in_observation"]
                + 6 * bodies * options["include_cvel_in_observation"]
                + (model.nv - 6) * options["include_qfrc_actuator_in_observation"]
                + 6 * bodies * options["include_cfrc_ext_in_observation"])
    else:
        require_positions(model, 3, "that moves in space")
        size = model.nv + 22 * model.nbody
    size += model.nq + model.nv - 2 * options.get("exclude_current_positions_from_observation", True)
    kinds = _floats(*info)
    if tendons and model.ntendon > 0:
        kinds |= dict.fromkeys(("tendon_length", "tendon_velocity"), ("float64", model.ntendon))
    return describe_robot(model, size, kinds, options,
                          {"distance": 4.0, "lookat": (0.0, 0.0, height), "elevation": -20.0})


@describes_robot("humanoid.xml", 5, **_WALKING, contact_cost_weight=WEIGHT.with_default(5e-7),
                 contact_cost_range=_COSTS, **_HUMANOID, **_SEEN)
def humanoid(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_person(model, options, (*_POSITIONS, "reward_survive", "reward_forward", "reward_ctrl",
                                             "reward_contact"), 2.0)


@describes_robot("humanoid.xml", 5, **_WALKING, **_HUMANOID, exclude_current_positions_from_observation=_NO_XY)
def humanoid_v4(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_person(model, options, (*_POSITIONS, "reward_alive", "reward_linvel", "reward_quadctrl",
                                             "forward_reward"), 2.0, tendons=False)


_STANDUP = ("x_position", "y_position", "z_distance_from_origin", "reward_linup", "reward_quadctrl", "reward_impact")


@describes_robot(
    "humanoidstandup.xml", 5, uph_cost_weight=WEIGHT.with_default(1.0, "Has no effect, as in Gymnasium."),
    ctrl_cost_weight=WEIGHT.with_default(0.1), impact_cost_weight=WEIGHT.with_default(0.5e-6), impact_cost_range=_COSTS,
    reset_noise_scale=_NOISE.with_default(1e-2), **_SEEN)
def humanoid_standup(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_person(model, options, _STANDUP, 0.8925)


@describes_robot("humanoidstandup.xml", 5)
def humanoid_standup_v4(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_person(model, options, _STANDUP, 0.8925)


def _describe_pendulum(model: Any, options: dict[str, Any], info: dict[str, Any]) -> EnvSpec:
    require_positions(model, 2, "with a cart and a pole")
    return describe_robot(model, model.nq + model.nv, info, options, {"distance": 2.04})


@describes_robot("inverted_pendulum.xml", 2, reset_noise_scale=_NOISE.with_default(0.01))
def inverted_pendulum(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_pendulum(model, options, {"reward_survive": "int64"})


@describes_robot("inverted_pendulum.xml", 2)
def inverted_pendulum_v4(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_pendulum(model, options, {})


def _describe_double(model: Any, options: dict[str, Any], seen_forces: int,
                     camera: Mapping[str, Any] | None = None) -> EnvSpec:
    if model.nv < 3 or model.nsite < 1:
        raise ValueError(f"xml_file: expected a robot with a cart, two poles and a site at the tip, found {model.nv} "
                         f"degrees of freedom and {model.nsite} sites")
    info = _floats("reward_survive", "distance_penalty", "velocity_penalty")
    return describe_robot(model, 2 * model.nq - 1 + model.nv + seen_forces, info, options, camera)


@describes_robot("inverted_double_pendulum.xml", 5,
                 healthy_reward=WEIGHT.with_default(10.0, "Reward for each step except the terminating one."),
                 reset_noise_scale=_NOISE)
def inverted_double_pendulum(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_double(model, options, 1)


@describes_robot("inverted_double_pendulum.xml", 5)
def inverted_double_pendulum_v4(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_double(model, options, model.nv, {"distance": 4.1225, "lookat": (0.0, 0.0, 0.12250000000000005)})


def _describe_reacher(model: Any, options: dict[str, Any], seen_dimensions: int) -> EnvSpec:
    """Returns the spec of an arm that observes this number of dimensions of the vector to its target."""
    _require(model, ("fingertip", "target"), 4)
    return describe_robot(model, 4 + model.nq + seen_dimensions, {"reward_dist": "float64", "reward_ctrl": "action"},
                          options)


@describes_robot("reacher.xml", 2, reward_dist_weight=WEIGHT, reward_control_weight=WEIGHT)
def reacher(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_reacher(model, options, 2)


@describes_robot("reacher.xml", 2)
def reacher_v4(model: Any, options: dict[str, Any]) -> EnvSpec:
    return _describe_reacher(model, options, 3)


def _describe_pusher(model: Any, options: dict[str, Any]) -> EnvSpec:
    _require(model, ("object", "tips_arm", "goal"), 7)
    info = {"reward_dist": "float64", "reward_ctrl": "action", "reward_near": "float64"}
    return describe_robot(model, 23, info, options, {"distance": 4.0})


pusher = describes_robot("pusher_v5.xml", 5, reward_near_weight=WEIGHT.with_default(0.5), reward_dist_weight=WEIGHT,
                         reward_control_weight=WEIGHT.with_default(0.1))(_describe_pusher)
pusher_v4 = describes_robot("pusher.xml", 5)(_describe_pusher)
