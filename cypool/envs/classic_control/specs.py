"""The spec of each environment: its options and spaces."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from cypool.options import boolean, describes, integer, number
from cypool.spec import Array, Discrete, EnvSpec

_GOAL_VELOCITY = number(0.0, -1e6, 1e6, "Minimum velocity at the goal.")


@describes()
def acrobot(options: dict[str, Any]) -> EnvSpec:
    high = np.array([1, 1, 1, 1, 4 * math.pi, 9 * math.pi], np.float32)
    return EnvSpec(observation=Array((6,), np.float32, -high, high), action=Discrete(3), options=options,
                   render_fps=15)


@describes(
    sutton_barto_reward=boolean(False, "Uses the rewards from Sutton and Barto's book."))
def cartpole(options: dict[str, Any]) -> EnvSpec:
    # twice the limits at which an episode ends: 2.4, and 12 degrees
    high = np.array([4.8, np.inf, 2 * (12 * 2 * math.pi / 360), np.inf], np.float32)
    return EnvSpec(observation=Array((4,), np.float32, -high, high), action=Discrete(2), options=options,
                   render_fps=50, brief_steps=True)


@describes(goal_velocity=_GOAL_VELOCITY)
def mountain_car(options: dict[str, Any]) -> EnvSpec:
    return _car(Discrete(3), options)


@describes(goal_velocity=_GOAL_VELOCITY)
def mountain_car_continuous(options: dict[str, Any]) -> EnvSpec:
    return _car(Array((1,), np.float32, -1, 1), options)


def _car(action: Array | Discrete, options: dict[str, Any]) -> EnvSpec:
    return EnvSpec(observation=Array((2,), np.float32, [-1.2, -0.07], [0.6, 0.07]), action=action, options=options,
                   render_fps=30, brief_steps=True)


@describes(
    g=number(10.0, -1e6, 1e6, "Gravity, in m/s^2."),
    version=integer(1, 0, 1, "1: clips the velocity to 8 before it changes the angle; 0: clips it afterward."))
def pendulum(options: dict[str, Any]) -> EnvSpec:
    high = np.array([1, 1, 8], np.float32)
    return EnvSpec(observation=Array((3,), np.float32, -high, high), action=Array((1,), np.float32, -2, 2),
                   options=options, render_fps=30, brief_steps=True)
