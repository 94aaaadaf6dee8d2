"""The domains and tasks of the suite, with their names and defaults, without importing dm_control."""
from __future__ import annotations

from typing import NamedTuple


class Domain(NamedTuple):
    """A domain of the suite.

    Attributes:
        entry_point: The environment's class.
        tasks: Names of its tasks.
        time_limit: Length of an episode, in seconds.
        control_timestep: Length of a step, in seconds; None: one MuJoCo step.
    """

    entry_point: str
    tasks: tuple[str, ...]
    time_limit: float
    control_timestep: float | None = None


DOMAINS = {
    "acrobot": Domain("Acrobot", ("swingup", "swingup_sparse"), 10),
    "ball_in_cup": Domain("BallInCup", ("catch",), 20, 0.02),
    "cartpole": Domain("Cartpole", ("balance", "balance_sparse", "swingup", "swingup_sparse", "two_poles",
                                              "three_poles"), 10),
    "cheetah": Domain("Cheetah", ("run",), 10),
    "dog": Domain("Dog", ("stand", "walk", "trot", "run", "fetch"), 15, 0.015),
    "finger": Domain("Finger", ("spin", "turn_easy", "turn_hard"), 20, 0.02),
    "fish": Domain("Fish", ("upright", "swim"), 40, 0.04),
    "hopper": Domain("Hopper", ("stand", "hop"), 20, 0.02),
    "humanoid": Domain("Humanoid", ("stand", "walk", "run", "run_pure_state"), 25, 0.025),
    "humanoid_CMU": Domain("HumanoidCMU", ("stand", "walk", "run"), 20, 0.02),
    "lqr": Domain("LQR", ("lqr_2_1", "lqr_6_2"), float("inf")),
    "manipulator": Domain("Manipulator", ("bring_ball", "bring_peg", "insert_ball", "insert_peg"), 10, 0.01),
    "pendulum": Domain("Pendulum", ("swingup",), 20),
    "point_mass": Domain("PointMass", ("easy", "hard"), 20),
    "quadruped": Domain("Quadruped", ("walk", "run", "escape", "fetch"), 20, 0.02),
    "reacher": Domain("Reacher", ("easy", "hard"), 20),
    "stacker": Domain("Stacker", ("stack_2", "stack_4"), 10, 0.01),
    "swimmer": Domain("Swimmer", ("swimmer6", "swimmer15"), 30, 0.03),
    "walker": Domain("Walker", ("stand", "walk", "run"), 25, 0.025),
}


def envpool_id(domain: str, task: str) -> str:
    """Returns EnvPool's name for a task: WalkerWalk-v1, HumanoidCMURun-v1."""
    words = f"{domain}_{task}".split("_")
    return "".join(word[:1].upper() + word[1:] for word in words) + "-v1"
