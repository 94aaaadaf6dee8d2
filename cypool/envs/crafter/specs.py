"""The spec of Crafter: its options, spaces and infos."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from cypool.envs.crafter.assets import ACHIEVEMENTS, ACTIONS, ITEMS, crafter_folder, rows_of_items
from cypool.options import Option, boolean, choice, describes
from cypool.spec import Array, Discrete, EnvSpec
from cypool.util.arguments import check_int, check_list, shown

OBS_TYPES = ("rgb", "semantic", "symbolic")
# as in observations.h
_SYMBOLS_OF_CELL, _SYMBOLS_OF_PLAYER = 21, 22
_LARGEST_AREA, _LARGEST_VIEW, _LARGEST_PICTURE, _LONGEST = 1024, 128, 2048, 2**30
_INFO = {
    "inventory": Array((len(ITEMS),), np.int32, 0, 9),
    "achievements": Array((len(ACHIEVEMENTS),), np.int32, 0),
    "discount": Array((), np.float64, 0, 1),
    "player_pos": Array((2,), np.int64, 0),
    "reward": Array((), np.float64)}


def _check_pair(name: str, value: Any, *, most: int, takes_one: bool = True) -> tuple[int, int]:
    if takes_one and hasattr(type(value), "__index__") and not isinstance(value, np.ndarray):
        value = (value, value)
    expected = "an int or a pair (x, y)" if takes_one else "a pair (x, y)"
    pair = check_list(name, value, expected)
    if len(pair) != 2:
        raise ValueError(f"{name}: expected {expected}, got {shown(value)}")
    return check_int(f"{name}[0]", pair[0], 1, most), check_int(f"{name}[1]", pair[1], 1, most)


def _check_length(name: str, value: Any) -> int:
    return check_int(name, 0 if value is None else value, 0, _LONGEST)


_SIZE = functools.partial(_check_pair, most=_LARGEST_PICTURE)


@describes(
    area=Option((64, 64), functools.partial(_check_pair, most=_LARGEST_AREA, takes_one=False),
                "Width and height of the world in cells."),
    view=Option((9, 9), functools.partial(_check_pair, most=_LARGEST_VIEW),
                "Columns and rows of the image in cells, including the rows of items; an int sets both."),
    size=Option((64, 64), _SIZE, "Width and height of the image in pixels; an int sets both."),
    reward=boolean(True, "Whether rewards are given."),
    length=Option(10000, _check_length, "Maximum number of steps per episode; 0 or None: unlimited."),
    obs_type=choice("rgb", OBS_TYPES, 'The observation: "rgb", an image; "semantic", the view as numbers; or '
                                      '"symbolic", a vector, as in Craftax-Classic.'),
    semantic=boolean(True, "Adds the map of the whole world to the infos, as `semantic`."),
    render_size=Option((512, 512), _SIZE, "Size of images from `render`: an int or a pair (width, height)."))
def crafter(options: dict[str, Any]) -> EnvSpec:
    crafter_folder()
    view, obs_type = options["view"], options["obs_type"]
    rows = view[1] - rows_of_items(view[0])
    if rows < (obs_type != "rgb"):
        raise ValueError(f"view: expected at least {view[1] - rows + (obs_type != 'rgb')} rows for {view[0]} columns, "
                         f"got {view[1]}")
    for name in ("size", "render_size"):
        pixels = options[name]
        if pixels[0] < 2 * view[0] or pixels[1] < 2 * view[1]:
            raise ValueError(f"{name}: expected at least two pixels for each cell of a view of {view}, got {pixels}")
    observation: Any
    if obs_type == "rgb":
        observation = Array((*options["size"][::-1], 3), np.uint8)
    elif obs_type == "semantic":
        observation = {"view": Array((rows, view[0]), np.uint8, 0, 18),
                       "inventory": Array((len(ITEMS),), np.uint8, 0, 9)}
    else:
        observation = Array((rows * view[0] * _SYMBOLS_OF_CELL + _SYMBOLS_OF_PLAYER,), np.float32, 0, 1)
    info = _INFO | ({"semantic": Array(options["area"], np.uint8, 1, 18)} if options["semantic"] else {})
    return EnvSpec(observation=observation, action=Discrete(len(ACTIONS)), info=info, options=options, render_fps=5,
                   max_episode_steps=options["length"] or None, has_own_chance=True)
