"""The rules of the installed crafter, which must match world.h, and its textures."""
from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypool.util.packages import folder_of, require_version

if TYPE_CHECKING:
    from PIL.Image import Image

VERSION = "1.8.3"
# SHA-256 of data.yaml
RULES = "41ec28a266e74d7f98e0b7381ff5f11ed491c2a6cf39a460eda8bbd751b8630f"
INSTALL = 'pip install "cypool[crafter]"'

# as data.yaml has them, in its order; world.h has the same
ACTIONS = ("noop", "move_left", "move_right", "move_up", "move_down", "do", "sleep", "place_stone", "place_table",
           "place_furnace", "place_plant", "make_wood_pickaxe", "make_stone_pickaxe", "make_iron_pickaxe",
           "make_wood_sword", "make_stone_sword", "make_iron_sword")
MATERIALS = ("water", "grass", "stone", "path", "sand", "tree", "lava", "coal", "iron", "diamond", "table", "furnace")
ITEMS = ("health", "food", "drink", "energy", "sapling", "wood", "stone", "coal", "iron", "diamond", "wood_pickaxe",
         "stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword", "iron_sword")
ACHIEVEMENTS = ("collect_coal", "collect_diamond", "collect_drink", "collect_iron", "collect_sapling", "collect_stone",
                "collect_wood", "defeat_skeleton", "defeat_zombie", "eat_cow", "eat_plant", "make_iron_pickaxe",
                "make_iron_sword", "make_stone_pickaxe", "make_stone_sword", "make_wood_pickaxe", "make_wood_sword",
                "place_furnace", "place_plant", "place_stone", "place_table", "wake_up")
# of objects; the first one stands for none
TEXTURES = (None, "player-left", "player-right", "player-up", "player-down", "player-sleep", "cow", "zombie",
            "skeleton", "arrow-left", "arrow-right", "arrow-up", "arrow-down", "plant", "plant-ripe")
MAX_ITEMS = 9
UNKNOWN = 127  # beyond the edge of the world
LANES = 8  # planes of pixels are padded to a multiple


class Pictures(NamedTuple):
    """The parts of pictures of one size.

    Attributes:
        tiles: uint8, (material, texture, channel, pixel), pixels column by column: a cell with an object; material 0
            is beyond the edge.
        vignette: float64, (pixel,), column by column: strength of the noise at night.
        items: uint8, (item, amount, y, x, channel): a cell of the item list.
        size: Width and height of a picture.
        grid: Columns and rows of cells, without the item list.
        view: Columns and rows including the item list.
    """

    tiles: NDArray[np.uint8]
    vignette: NDArray[np.float64]
    items: NDArray[np.uint8]
    size: tuple[int, int]
    grid: tuple[int, int]
    view: tuple[int, int]


@functools.cache
def crafter_folder() -> Path:
    """Finds the installed crafter, without importing it.

    Raises:
        ImportError: It is missing, or has a different version or different rules.
    """
    require_version("Crafter needs", "crafter", (VERSION,), INSTALL)
    folder = Path(folder_of("crafter") or "")
    path = folder / "data.yaml"
    try:
        rules = path.read_bytes()
    except OSError as error:
        raise ImportError(f"crafter: its rules are missing from {path}: {INSTALL}") from error
    if hashlib.sha256(rules).hexdigest() != RULES:
        raise ImportError(f"crafter: expected the rules of crafter {VERSION} in {path}, got different ones: {INSTALL}")
    return folder


def rows_of_items(columns: int) -> int:
    """Returns the number of rows of the item list."""
    return -(-len(ITEMS) // columns)


# those of a pool: for its observations and for its rendering. Of 2,048 pixels they take 81 MB
@functools.lru_cache(2)
def pictures(view: tuple[int, int], size: tuple[int, int]) -> Pictures:
    """Draws the parts of pictures as crafter does, bit for bit.

    Args:
        view: Columns and rows of cells, including the item list.
        size: Width and height.

    Raises:
        ImportError: A texture, or Pillow, is missing.
    """
    width, height = size[0] // view[0], size[1] // view[1]
    columns, rows = view[0], view[1] - rows_of_items(view[0])
    plane = _padded(width * height)
    tiles = np.full((1 + len(MATERIALS), len(TEXTURES), 3, plane), UNKNOWN, np.uint8)
    objects = [None if name is None else _texture(name, width, height) for name in TEXTURES]
    for m, material in enumerate(MATERIALS, 1):
        ground = _texture(material, width, height)[..., :3]
        for t, texture in enumerate(objects):
            tile = ground.copy()
            if texture is not None:
                _blend(tile, 0, 0, texture)
            tiles[m, t, :, :width * height] = tile.transpose(2, 1, 0).reshape(3, -1)
    items = np.zeros((len(ITEMS), MAX_ITEMS + 1, height, width, 3), np.uint8)
    numbers = [_texture(str(amount), int(0.6 * width), int(0.6 * height)) for amount in range(1, MAX_ITEMS + 1)]
    for k, item in enumerate(ITEMS):
        texture = _texture(item, int(0.8 * width), int(0.8 * height))
        for amount, number in enumerate(numbers, 1):
            _blend(items[k, amount], int(0.1 * width), int(0.1 * height), texture)
            _blend(items[k, amount], int(0.4 * width), int(0.4 * height), number)
    vignette = np.zeros(_padded(columns * width * rows * height))
    xs, ys = np.meshgrid(np.linspace(-1, 1, columns * width), np.linspace(-1, 1, rows * height))
    vignette[:xs.size] = (1 - np.exp(-0.5 * (xs**2 + ys**2) / 0.5**2)).T.ravel()
    return Pictures(tiles, vignette, items, size, (columns, rows), view)


def _padded(pixels: int) -> int:
    return -(-pixels // LANES) * LANES


def _texture(name: str, width: int, height: int) -> NDArray[np.uint8]:
    from PIL.Image import Resampling

    return np.asarray(_original(name).resize((width, height), Resampling.NEAREST))


@functools.cache
def _original(name: str) -> Image:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(f"crafter: Pillow, which is needed to read textures, is not installed: {INSTALL}") from error
    path = crafter_folder() / "assets" / f"{name}.png"
    try:
        with Image.open(path) as image:
            if image.mode not in ("RGB", "RGBA"):
                raise OSError(f"expected a color image, got mode {image.mode}")
            return image.copy()
    except (OSError, SyntaxError) as error:
        raise ImportError(f"crafter: the texture {path} cannot be read: {error}: {INSTALL}") from error


def _blend(canvas: NDArray[np.uint8], x: int, y: int, texture: NDArray[np.uint8]) -> None:
    """Draws a texture; transparent parts may change by one, because crafter rounds its numbers."""
    target = canvas[y:y + texture.shape[0], x:x + texture.shape[1]]
    if texture.shape[-1] == 4:
        alpha = texture[..., 3:].astype(np.float32) / 255
        blended = alpha * (texture[..., :3].astype(np.float32) / 255) + (1 - alpha) * (target.astype(np.float32) / 255)
        texture = (255 * blended).astype(np.uint8)
    target[...] = texture
