"""Mazes: their maps and models."""
from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from cypool.envs.robotics.models import SIZES, Cells, Maze, asset_path, centre, make_maze
from cypool.envs.shared.mujoco import assets
from cypool.envs.shared.mujoco.mujoco_common import load_model, load_model_text
from cypool.envs.shared.mujoco.specs import check_sizes
from cypool.util.arguments import check_int, shown

MOST_CELLS = 100
U_MAZE = ((1, 1, 1, 1, 1), (1, 0, 0, 0, 1), (1, 1, 1, 0, 1), (1, 0, 0, 0, 1), (1, 1, 1, 1, 1))
# by robot: the width of a cell, and the height of walls
ROBOTS = {"point": (1.0, 0.4), "ant": (4.0, 0.5)}

Map = tuple[tuple["int | str", ...], ...]


def check_map(name: str, value: Any) -> Map:
    """Returns the map of a maze as tuples."""
    if not isinstance(value, (tuple, list)) or not all(isinstance(row, (tuple, list)) for row in value):
        raise TypeError(f"{name}: expected a list of rows, each a list of cells, got {shown(value)}")
    rows = tuple(map(tuple, value))
    if not 1 <= len(rows) <= MOST_CELLS or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError(f"{name}: expected 1 to {MOST_CELLS} rows of the same length, got {shown(value)}")
    if not 1 <= len(rows[0]) <= MOST_CELLS:
        raise ValueError(f"{name}: expected rows of 1 to {MOST_CELLS} cells, got {len(rows[0])}")
    for cell in (cell for row in rows for cell in row):
        if not (isinstance(cell, int) and cell in (0, 1)) and not (isinstance(cell, str) and cell in ("r", "g", "c")):
            raise ValueError(f"{name}: expected cells that are 0, 1, 'r', 'g' or 'c', got {shown(cell)}")
    return tuple(tuple(int(cell) if isinstance(cell, int) else cell for cell in row) for row in rows)


def check_cell(name: str, cell: Any, maze_map: Map, scale: float) -> list[float]:
    """Returns the center of the cell that a reset option names; empty if it names none."""
    if cell is None:
        return []
    if not isinstance(cell, (tuple, list, np.ndarray)) or len(np.shape(cell)) != 1 or len(cell) != 2:
        raise TypeError(f"{name}: expected a row and a column, got {shown(cell)}")
    row = check_int(name, cell[0], 0, len(maze_map) - 1)
    column = check_int(name, cell[1], 0, len(maze_map[0]) - 1)
    if maze_map[row][column] == 1:
        raise ValueError(f"{name}: expected a cell that is not a wall, got {shown(cell)}")
    return list(centre(row, column, maze_map, scale))


@functools.lru_cache(maxsize=16)
def _packaged(robot: str, maze_map: Map, shares_empty: bool) -> Maze:
    """Returns the maze of a robot whose file is part of a package."""
    if robot == "point":
        path = asset_path("point/point.xml")
    else:
        path = assets.asset_path("ant.xml")
        assets.check_asset(path)
    return make_maze(path, maze_map, *ROBOTS[robot], shares_empty)


def load_maze(robot: str, maze_map: Map, is_v3: bool, xml_file: str | None) -> tuple[Any, Cells, Cells]:
    """Returns the model of a maze, and the centers of the cells with goals and of those where episodes begin.

    Raises:
        TypeError, ValueError: The user's robot cannot be used in a maze.
    """
    if xml_file is None:
        maze = _packaged(robot, maze_map, not is_v3)
        model = load_model_text(("maze", maze.text), "the maze", maze.text, {})
        if robot == "point":
            check_sizes(model, SIZES["point/point.xml"], asset_path("point/point.xml"))
        return model, maze.goals, maze.starts
    # without walls, so that messages are about the file
    model = load_model(xml_file)
    if model.nq < 3:
        raise ValueError(f"xml_file: expected a robot that moves in space, with at least 3 coordinates, found "
                         f"{model.nq} in {model.path}")
    maze = make_maze(model.path, maze_map, *ROBOTS[robot], not is_v3)
    try:
        # files that the user's robot includes are not in the text
        beside = assets.stamps_of(os.path.abspath(model.path))
        return load_model_text(("maze", maze.text, beside), "the maze", maze.text, {}), maze.goals, maze.starts
    except ValueError as error:
        raise ValueError(f"xml_file: with walls added, {error}") from error
