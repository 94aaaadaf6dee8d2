"""Files of the installed gymnasium-robotics, which is not imported: that prints and changes Gymnasium's registry."""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

from cypool.envs.robotics import INSTALL
from cypool.util.packages import file_of

# of each model nq, nv, nu, nbody and nsensordata
SIZES = {
    "point/point.xml": (2, 2, 2, 2, 0),
    "fetch/reach.xml": (15, 15, 0, 32, 0),
    **dict.fromkeys(("fetch/push.xml", "fetch/slide.xml"), (22, 21, 0, 33, 0)),
    "fetch/pick_and_place.xml": (22, 21, 2, 33, 0),
    "hand/reach.xml": (24, 24, 20, 28, 29),
    **{f"hand/manipulate_{thing}{touch}.xml": (38, 36, 20, 30, sensors)
       for thing in ("block", "egg", "pen") for touch, sensors in (("", 29), ("_touch_sensors", 121))},
    "adroit_hand/adroit_door.xml": (30, 30, 28, 31, 65),
    "adroit_hand/adroit_hammer.xml": (33, 33, 26, 31, 66),
    "adroit_hand/adroit_pen.xml": (30, 30, 24, 30, 65),
    "adroit_hand/adroit_relocate.xml": (36, 36, 30, 29, 65),
    "kitchen_franka/kitchen_assets/kitchen_env_model.xml": (30, 29, 9, 44, 0),
}

Cells = tuple[tuple[float, float], ...]


def asset_path(path: str) -> str:
    """Returns the path of a file of the package's assets.

    Raises:
        ImportError: The package is not installed, or has no such file.
    """
    return file_of("robots with goals", "gymnasium_robotics", f"envs/assets/{path}", INSTALL)


class Maze(NamedTuple):
    """A maze around a robot.

    Attributes:
        text: The XML of the model.
        goals: Centers of the cells with goals.
        starts: Centers of the cells where episodes begin.
    """

    text: bytes
    goals: Cells
    starts: Cells


def centre(row: int, column: int, maze_map: tuple[tuple[int | str, ...], ...], scale: float) -> tuple[float, float]:
    """Returns x and y of the center of a cell."""
    return ((column + 0.5) * scale - len(maze_map[0]) / 2 * scale, len(maze_map) / 2 * scale - (row + 0.5) * scale)


def make_maze(path: str, maze_map: tuple[tuple[int | str, ...], ...], scale: float, height: float,
              shares_empty: bool) -> Maze:
    """Returns a maze, as the package builds it.

    Args:
        path: The XML of the robot.
        maze_map: Rows of cells: 1 is a wall, 0 is empty, "g" is for goals, "r" for starts and "c" for both.
        scale: The width of a cell.
        height: Height of walls, as a multiple of `scale`.
        shares_empty: Whether empty cells become goals if no cell is a goal, and starts if none is a start; otherwise
            they become both if there is neither.

    Raises:
        ValueError: Walls cannot be added to the user's robot.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise ValueError(f"xml_file: {path} cannot be read: {error}") from error
    world = root.find(".//worldbody")
    if world is None:
        raise ValueError(f"xml_file: expected a worldbody in {path}, found none")
    half = height / 2 * scale
    cells: dict[int | str, list[tuple[float, float]]] = {}
    for i, row in enumerate(maze_map):
        for j, cell in enumerate(row):
            x, y = centre(i, j, maze_map, scale)
            if cell != 1:
                cells.setdefault(cell, []).append((x, y))
                continue
            ElementTree.SubElement(world, "geom", {
                "name": f"block_{i}_{j}", "pos": f"{x} {y} {half}", "type": "box", "material": "",
                "size": f"{0.5 * scale} {0.5 * scale} {half}", "contype": "1", "conaffinity": "1",
                "rgba": "0.7 0.5 0.3 1.0"})
    ElementTree.SubElement(world, "site", {"name": "target", "pos": f"0 0 {half}", "size": f"{0.2 * scale}",
                                           "rgba": "1 0 0 0.7", "type": "sphere"})
    goals, starts, both, empty = (cells.get(cell, []) for cell in ("g", "r", "c", 0))
    if not (goals or starts or both):
        both = empty
    elif shares_empty and not (starts or both):
        starts = empty
    elif shares_empty and not (goals or both):
        goals = empty
    return Maze(ElementTree.tostring(root), tuple(goals + both), tuple(starts + both))


def kitchen_limits() -> dict[str, tuple[float, ...]]:
    """Returns noise amplitudes and bounds of the positions and velocities of all 29 joints."""
    path = asset_path("kitchen_franka/franka_assets/franka_config.xml")
    limits = {}
    try:
        root = ElementTree.parse(path).getroot()
        joints = [element for k in range(29) for element in root.findall(f"qpos{k}")]
        for name in ("pos_noise_amp", "vel_noise_amp", "pos_bound", "vel_bound"):
            limits[name] = tuple(float(number) for joint in joints for number in joint.attrib[name].split())
        if len(joints) != 29:
            raise ValueError(f"limits of {len(joints)} joints")
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise ImportError(f"gymnasium_robotics: expected limits for 29 joints in {path}, got {error!r}") from error
    return limits
