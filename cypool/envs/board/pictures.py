"""Pictures of board games."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypool.envs.shared.pixels.grid_picture import GridPicture

# of each game: the color of cells, and those of the two players; whether the lowest row is the last one of the picture
_LOOKS = {
    "tic_tac_toe": ("white", "blue", "red", False), "connect_four": ("blue", "red", "yellow", True),
    "othello": ("green", "black", "white", False), "breakthrough": ("brown", "black", "white", False),
    "hex": ("white", "black", "orange", False), "go": ("orange", "black", "white", False)}
_TILES = ("gray", "brown", "orange", "red", "teal", "blue", "green", "black")


def draw(game: str, tensor: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Returns the picture of a position.

    Args:
        game: The game's id, without the family.
        tensor: The observation of player 0.
    """
    if game == "backgammon":
        return _draw_points(tensor)
    rows, cols = tensor.shape[-2:]
    picture = GridPicture(rows, cols)
    if game == "2048":
        for r, c in np.argwhere(tensor > 0):
            tile = int(tensor[r, c])
            picture.square(r, c, _TILES[(tile.bit_length() - 2) % len(_TILES)])
            picture.number(r, c, tile)
        return picture.pixels
    cells, *players, is_upside_down = _LOOKS[game]
    for r in range(rows):
        for c in range(cols):
            picture.fill(r, c, cells)
    for stones, color in zip(stones_of(game, tensor), players, strict=True):
        for r, c in np.argwhere(stones):
            picture.disk(rows - 1 - r if is_upside_down else r, c, color)
    return picture.pixels


def _draw_points(tensor: NDArray[Any]) -> NDArray[np.uint8]:
    """Returns a picture of backgammon: the points, the bar and dice in between, and checkers borne off at the right."""
    picture = GridPicture(3, 13)
    for c in range(12):
        picture.fill(1, c, "gray")
    for who, color in enumerate(("black", "red")):
        for point, count in enumerate(checkers_of(tensor, who)):
            if count:
                row, col = (0, point - 12) if point >= 12 else (2, 11 - point)
                picture.square(row, col, color)
                picture.number(row, col, int(count))
        if tensor[192 + 3 * who]:
            picture.square(1, 3 + 4 * who, color)
            picture.number(1, 3 + 4 * who, int(tensor[192 + 3 * who]))
        picture.square(2 * who, 12, color)
        picture.number(2 * who, 12, int(tensor[193 + 3 * who]))
    for k in range(2):
        if tensor[198 + k]:
            picture.square(1, 9 + k, "blue")
            picture.number(1, 9 + k, int(tensor[198 + k]))
    return picture.pixels


def checkers_of(tensor: NDArray[Any], who: int) -> NDArray[np.int64]:
    """Returns the number of checkers on each point, of the observing player (0) or the opponent (1)."""
    parts = tensor[96 * who:96 * (who + 1)].reshape(24, 4)
    counts: NDArray[np.int64] = (parts @ (1, 2, 3, 1) + 3 * (parts[:, 3] > 0)).astype(np.int64)
    return counts


def stones_of(game: str, tensor: NDArray[np.float32]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Returns where the stones of both players are."""
    if game == "hex":
        return tensor[5:].max(0), tensor[:4].max(0)
    first, second = {"tic_tac_toe": (2, 1), "othello": (1, 2)}.get(game, (0, 1))
    return tensor[first], tensor[second]
