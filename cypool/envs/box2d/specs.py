"""The spec of each environment: its options, spaces and infos."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from cypool.options import Option, boolean, choice, describes, number
from cypool.spec import Array, Discrete, EnvSpec
from cypool.util.arguments import check_float, shown
from cypool.util.warn import warn_caller

_FPS = 50
_FRESH_WORLD = boolean(False, "Creates a new world for each episode, so that episodes do not depend on earlier ones.")
_ACTION_DTYPE = choice("float32", ("float32", "float64"),
                       'Dtype of actions: "float32", or "float64" to match Gymnasium with float64 actions.')
_CONTINUOUS_DTYPE = _ACTION_DTYPE.with_default("float32", 'Dtype of continuous actions: "float32", or "float64" to '
                                                                  "match Gymnasium with float64 actions.")


@describes(
    hardcore=boolean(False, "Adds stumps, stairs and pits."),
    fresh_world=_FRESH_WORLD, action_dtype=_ACTION_DTYPE)
def bipedal_walker(options: dict[str, Any]) -> EnvSpec:
    leg = [math.pi, 5, math.pi, 5]
    high = np.array([math.pi, 5, 5, 5, *leg, 5, *leg, 5, *[1] * 10], np.float32)
    low = -high
    low[[8, 13]] = -0.0
    return EnvSpec(observation=Array((24,), np.float32, low, high), action=Array((4,), options["action_dtype"], -1, 1),
                   options=options, render_fps=_FPS)


@describes(
    continuous=boolean(True, "Uses continuous actions of three numbers instead of discrete actions."),
    lap_complete_percent=number(0.95, 0, 1, "The fraction of tiles, 0 to 1, above which a lap counts as complete."),
    domain_randomize=boolean(False, "Draws new colors for each episode."),
    fresh_world=_FRESH_WORLD, action_dtype=_CONTINUOUS_DTYPE)
def car_racing(options: dict[str, Any]) -> EnvSpec:
    low, high = np.array([-1, 0, 0], np.float32), np.ones(3, np.float32)
    action = Array((3,), options["action_dtype"], low, high) if options["continuous"] else Discrete(5)
    return EnvSpec(observation=Array((96, 96, 3), np.uint8), action=action, options=options, render_fps=_FPS,
                   info={"lap_finished": Array((), np.bool_)})


def _check_gravity(name: str, value: Any) -> float:
    gravity = check_float(name, value, -12, 0)
    if gravity in (-12, 0):
        raise ValueError(f"{name}: expected a number strictly between -12 and 0, got {shown(value)}")
    return gravity


def _power(default: float, recommended: float, meaning: str) -> Option:
    def check(name: str, value: Any) -> float:
        power = check_float(name, value, -1000, 1000)
        if not 0 <= power <= recommended:
            warn_caller(f"{name}: the recommended range is 0 to {recommended}, got {power}", RuntimeWarning)
        return power
    return Option(default, check, meaning)


@describes(
    continuous=boolean(False, "Uses continuous actions of two numbers instead of discrete actions."),
    gravity=Option(-10.0, _check_gravity, "Gravity, greater than -12 and less than 0."),
    enable_wind=boolean(False, "Adds wind while no leg touches the ground."),
    wind_power=_power(15.0, 20, "Maximum wind force; as in Gymnasium, a value outside 0 to 20 causes a warning."),
    turbulence_power=_power(1.5, 2, "Maximum wind torque; a value outside 0 to 2 causes a warning."),
    action_dtype=_CONTINUOUS_DTYPE)
def lunar_lander(options: dict[str, Any]) -> EnvSpec:
    high = np.array([2.5, 2.5, 10, 10, 2 * math.pi, 10, 1, 1], np.float32)
    low = np.append(-high[:6], np.array([-0.0, -0.0], np.float32))
    action = Array((2,), options["action_dtype"], -1, 1) if options["continuous"] else Discrete(4)
    return EnvSpec(observation=Array((8,), np.float32, low, high), action=action, options=options, render_fps=_FPS)
