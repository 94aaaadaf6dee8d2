"""Options and infos of the ant, which also walks in mazes."""
from __future__ import annotations

import math
from typing import Any

from cypool.envs.shared.mujoco.specs import check_pair
from cypool.options import Option, boolean, number, unchecked
from cypool.util.arguments import check_int

WEIGHT = number(1.0, -math.inf, math.inf, "Weight of this part of the reward.")
CTRL_COST_WEIGHT = WEIGHT.with_default(0.5)
COSTS = {"contact_cost_weight": WEIGHT.with_default(5e-4), "healthy_reward": WEIGHT}
RANGES = {
    "terminate_when_unhealthy": boolean(True, "Ends an episode when the robot is unhealthy."),
    "healthy_z_range": Option((0.2, 1.0), check_pair, "Range of healthy heights."),
    "contact_force_range": Option((-1.0, 1.0), check_pair, "Range to which contact forces are clipped."),
}
MAIN_BODY = unchecked(1, "The body whose velocity counts, by name or number.")
SEES_FORCES = boolean(True, "Observes contact forces.")
USE_CONTACT_FORCES = boolean(False, "Observes contact forces, and includes their cost.")


def check_main_body(model: Any, name: Any) -> Any:
    """Returns the name or number of a body.

    Raises:
        TypeError, ValueError: The model has no such body.
    """
    if not isinstance(name, str):
        name = check_int("main_body", name, 0, model.nbody - 1)
    try:
        model.body(name)
    except ValueError as error:
        raise ValueError(f"main_body: {error}") from error
    return name


def info(ctrl: str, last: str) -> dict[str, Any]:
    """Returns the infos of an ant; `reward_ctrl` has the given kind, and the last info has the given name."""
    names = ("x_position", "y_position", "distance_from_origin", "x_velocity", "y_velocity", "reward_forward",
             "reward_ctrl", "reward_survive", last)
    return dict.fromkeys(names, "float64") | {"reward_ctrl": ctrl}
