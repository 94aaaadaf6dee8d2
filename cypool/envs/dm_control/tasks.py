"""The domains and tasks of the suite, with their observations and defaults, without importing dm_control."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

# names and shapes of an observation, in dm_control's order; a number n stands for (n,)
Parts = dict[str, Any]


class Domain(NamedTuple):
    """A domain of the suite.

    Attributes:
        entry_point: The environment's class.
        tasks: Names of its tasks.
        default: The default task.
        time_limit: Length of an episode, in seconds.
        parts: The observation.
        control_timestep: Length of a step, in seconds; None: one MuJoCo step.
        further: By task, the rest of the observation, which `fully_observable` turns off if the domain has this option.
        note: What the names of tasks mean.
    """

    entry_point: str
    tasks: tuple[str, ...]
    default: str
    time_limit: float
    parts: Parts
    control_timestep: float | None = None
    further: Mapping[str, Parts] = {}
    note: str = ""


def _humanoid(joints: int) -> Parts:
    return {"joint_angles": joints, "head_height": (), "extremities": 12, "torso_vertical": 3, "com_velocity": 3,
            "velocity": joints + 6}


def _stacked(boxes: int) -> Parts:
    return {"hand_pos": 4, "box_pos": (boxes, 4), "box_vel": 3 * boxes, "target_pos": 2}


_ARM = {"arm_pos": (8, 2), "arm_vel": 8, "touch": 5}
_BROUGHT = {"hand_pos": 4, "object_pos": 4, "object_vel": 3, "target_pos": 4}
_TURNED = {"target_position": 2, "dist_to_target": ()}

DOMAINS = {
    "acrobot": Domain("Acrobot", ("swingup", "swingup_sparse"), "swingup", 10, {"orientations": 4, "velocity": 2}),
    "ball_in_cup": Domain("BallInCup", ("catch",), "catch", 20, {"position": 4, "velocity": 4}, 0.02),
    "cartpole": Domain(
        "Cartpole", ("balance", "balance_sparse", "swingup", "swingup_sparse", "two_poles", "three_poles"), "swingup",
        10, {"position": 3, "velocity": 2}, further={"two_poles": {"position": 5, "velocity": 3},
                                                     "three_poles": {"position": 7, "velocity": 4}}),
    "cheetah": Domain("Cheetah", ("run",), "run", 10, {"position": 8, "velocity": 9}),
    "dog": Domain(
        "Dog", ("stand", "walk", "trot", "run", "fetch"), "walk", 15,
        {"joint_angles": 73, "joint_velocites": 73, "torso_pelvis_height": 2, "z_projection": 9,
         "torso_com_velocity": 3, "inertial_sensors": 9, "foot_forces": 12, "touch_sensors": 4, "actuator_state": 38},
        0.015, {"fetch": {"ball_state": 6, "target_position": 3}}),
    "finger": Domain("Finger", ("spin", "turn_easy", "turn_hard"), "spin", 20,
                     {"position": 4, "velocity": 3, "touch": 2}, 0.02, {"turn_easy": _TURNED, "turn_hard": _TURNED}),
    "fish": Domain("Fish", ("upright", "swim"), "swim", 40, {"joint_angles": 7, "upright": ()}, 0.04,
                   {"upright": {"velocity": 13}, "swim": {"target": 3, "velocity": 13}}),
    "hopper": Domain("Hopper", ("stand", "hop"), "stand", 20, {"position": 6, "velocity": 7, "touch": 2}, 0.02),
    "humanoid": Domain("Humanoid", ("stand", "walk", "run", "run_pure_state"), "walk", 25, {}, 0.025, {
        **dict.fromkeys(("stand", "walk", "run"), _humanoid(21)), "run_pure_state": {"position": 28, "velocity": 27}}),
    "humanoid_CMU": Domain("HumanoidCMU", ("stand", "walk", "run"), "walk", 20, _humanoid(56), 0.02),
    "lqr": Domain("LQR", ("lqr_2_1", "lqr_6_2"), "lqr_2_1", float("inf"), {}, further={
        "lqr_2_1": {"position": 2, "velocity": 2}, "lqr_6_2": {"position": 6, "velocity": 6}},
        note="the number of masses, and how many of them are driven"),
    "manipulator": Domain(
        "Manipulator", ("bring_ball", "bring_peg", "insert_ball", "insert_peg"), "bring_ball", 10, _ARM, 0.01,
        dict.fromkeys(("bring_ball", "bring_peg", "insert_ball", "insert_peg"), _BROUGHT)),
    "pendulum": Domain("Pendulum", ("swingup",), "swingup", 20, {"orientation": 2, "velocity": 1}),
    "point_mass": Domain("PointMass", ("easy", "hard"), "easy", 20, {"position": 2, "velocity": 2}),
    "quadruped": Domain(
        "Quadruped", ("walk", "run", "escape", "fetch"), "walk", 20,
        {"egocentric_state": 44, "torso_velocity": 3, "torso_upright": (), "imu": 6, "force_torque": 24}, 0.02,
        {"escape": {"origin": 3, "rangefinder": 20}, "fetch": {"ball_state": 9, "target_position": 3}}),
    "reacher": Domain("Reacher", ("easy", "hard"), "easy", 20, {"position": 2, "to_target": 2, "velocity": 2},
                      note="the target's size"),
    "stacker": Domain("Stacker", ("stack_2", "stack_4"), "stack_2", 10, _ARM, 0.01,
                      {"stack_2": _stacked(2), "stack_4": _stacked(4)}, "the number of boxes"),
    "swimmer": Domain("Swimmer", ("swimmer6", "swimmer15"), "swimmer6", 30, {}, 0.03, {
        "swimmer6": {"joints": 5, "to_target": 2, "body_velocities": 18},
        "swimmer15": {"joints": 14, "to_target": 2, "body_velocities": 45}}, "the number of links"),
    "walker": Domain("Walker", ("stand", "walk", "run"), "walk", 25,
                     {"orientations": 14, "height": (), "velocity": 9}, 0.025),
}


def envpool_id(domain: str, task: str) -> str:
    """Returns EnvPool's name for a task: WalkerWalk-v1, HumanoidCMURun-v1."""
    words = f"{domain}_{task}".split("_")
    return "".join(word[:1].upper() + word[1:] for word in words) + "-v1"
