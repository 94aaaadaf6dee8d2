"""The observation spaces of minigrid's wrappers, by option."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypool.spec import Array, Discrete, Text

LETTERS = 28  # bits for a letter of a mission in "flat"


def observation_of(width: int, height: int, mission_length: int, shared: dict[str, Any]) -> Any:
    """Returns the space of a level's observation.

    Args:
        width, height: Size of its grid.
        mission_length: Bytes of its missions.
        shared: The options that all levels share, checked.
    """
    image = _image(width, height, mission_length, shared)
    if shared["obs_type"] == "flat" or shared["image_only"]:
        return image
    direction = {}
    if shared["goal_direction"]:
        bound = {"slope": math.inf, "angle": math.pi / 2, "angle_atan2": math.pi}[shared["goal_direction"]]
        direction["goal_direction"] = Array((), np.float64, -bound, bound)
    return {"direction": Discrete(4), **direction, "image": image, "mission": Text(mission_length)}


def _image(width: int, height: int, mission_length: int, shared: dict[str, Any]) -> Array:
    view, tile, obs_type = shared["view_size"] or shared["agent_view_size"], shared["obs_tile_size"], shared["obs_type"]
    if obs_type == "symbolic":
        return Array((width, height, 3), np.int64, (0, 0, -1), (width - 1, height - 1, 10))
    shapes = {"partial": (view, view, 3), "onehot": (view, view, 20), "full": (width, height, 3),
              "rgb": (height * tile, width * tile, 3), "rgb_partial": (view * tile, view * tile, 3),
              "flat": (view * view * 3 + mission_length * LETTERS,)}
    return Array(shapes[obs_type], np.uint8)


def goal_directions(kind: str, width: int, height: int) -> NDArray[np.float64]:
    """Returns the numbers of `DirectionObsWrapper`, computed by NumPy, whose functions may differ from C++'s.

    Args:
        kind: Its `type`.
        width, height: Size of the grid.

    Returns:
        float64, (2 * height - 1, 2 * width - 1): for dy from 1 - height, and dx from 1 - width.
    """
    dx = np.arange(1 - width, width, dtype=np.float64)
    dy = np.arange(1 - height, height, dtype=np.float64)[:, np.newaxis]
    if kind == "angle_atan2":
        directions = np.arctan2(dy, dx)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            # a zero without a sign
            directions = dy / (dx + 0.0)
        if kind == "angle":
            directions = np.arctan(directions)
    directions[height - 1, width - 1] = 0
    return directions
