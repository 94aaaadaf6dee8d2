"""The textures of the installed craftax, as parts of pictures. The package is not imported."""
from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypool.util.packages import folder_of, require_version

VERSION = "1.6.1"
INSTALL = 'pip install "cypool[craftax]"'
Bytes = NDArray[np.uint8]

# of all cells of both games, in the order of their numbers; the first two are not textures
_BLOCKS = ("grass", "water", "stone", "tree", "wood", "path", "coal", "iron", "diamond", "table", "furnace", "sand",
           "lava", "plant_on_grass", "ripe_plant_on_grass")
_FULL_BLOCKS = ("wall2", "debug_tile", "wall_moss", "stalagmite", "sapphire", "ruby", "chest", "fountain", "fire_grass",
                "ice_grass", "gravel", "fire_tree", "ice_shrub", "enchantment_table_fire", "enchantment_table_ice",
                "necromancer", "grave", "grave2", "grave3", "necromancer_vulnerable")
_THINGS = ("torch_in_inventory", "ladder_down", "ladder_up", "ladder_down_blocked")
_PLAYER = ("player-left", "player-right", "player-up", "player-down", "player-sleep")
_MELEE = ("zombie", "gnome_warrior", "orc_soldier", "lizard", "knight", "troll", "pigman", "frost_troll")
_PASSIVE = ("cow", "bat", "snail")
_RANGED = ("skeleton", "gnome_archer", "orc_mage", "kobold", "knight_archer", "deep_thing", "fire_elemental",
           "ice_elemental")
_SHOTS = ("arrow-up", "dagger", "fireball", "iceball", "arrow-up", "slimeball", "fireball", "iceball")
_DARKNESS = 18


class Pictures(NamedTuple):
    """The parts of pictures for one tile size, as picture.h reads them: (number, y, x, channel), noise (y, x)."""

    tile: int
    ground: Bytes  # by block and thing
    sprites: Bytes  # with alpha: the player, creatures, and shots in four directions
    cells: Bytes  # of the inventory, by their numbers
    noise: NDArray[np.float32]  # how strong it is by night


@functools.lru_cache(4)
def pictures(game: str, tile: int) -> Pictures:
    """Returns the parts of a game's pictures.

    Raises:
        ImportError: craftax, a texture or Pillow is missing, or craftax has a different version.
    """
    require_version("Craftax's images need", "craftax", (VERSION,), INSTALL)
    return _classic(tile) if game == "Craftax-Classic" else _full(tile)


class _Textures:
    """Makes parts of pictures.

    Args:
        folder: The game's folder.
        tile: Side length of a cell, in pixels.
        digit: Size of digits, as a fraction of a tile.
        shift: How many pixels icons are moved from the middle toward the corner.
    """

    def __init__(self, folder: str, tile: int, digit: float, shift: int):
        self.folder, self.tile, self.small, self.digit = folder, tile, int(0.8 * tile), int(digit * tile)
        self.left, self.end = (tile - self.small) // 2 - shift, tile - shift

    def load(self, name: str, size: int, clamps: bool = True) -> Bytes:
        """Returns a texture with its alpha, either rounded to 0 or 1, or unchanged."""
        texture = _original(self.folder, name).copy()
        if clamps:
            texture[..., 3] //= 255
        return texture if size == 16 else _resized(texture, size).copy()

    def icon(self, name: str, with_alpha: bool = False) -> Bytes:
        texture = self.load(name, self.small)
        return texture[..., :3] * texture[..., 3:] if with_alpha else texture[..., :3]

    def cell(self, icon: Bytes | None) -> Bytes:
        """Returns a cell of the inventory with an icon."""
        cell = np.zeros((self.tile, self.tile, 3), np.uint8)
        if icon is not None:
            cell[self.left:self.left + self.small, self.left:self.left + self.small] = icon
        return cell

    def numbered(self, icon: Bytes | None, count: int, is_always_there: bool = False) -> list[Bytes]:
        """Returns the cells of an item by its number."""
        cells = []
        for number in range(count):
            cells.append(self.cell(icon if number or is_always_there else None))
            for place, digit in enumerate(reversed(str(number) if number else "")):
                texture = self.load(digit, self.digit)
                area = cells[-1][self.end - self.digit:self.end, self.end - (place + 1) * self.digit:][:, :self.digit]
                area[...] = np.where(texture[..., 3:] > 0, texture[..., :3], area)
        return cells

    def enchanted(self, cells: Sequence[Bytes], name: str) -> list[Bytes]:
        """Returns cells without magic, with fire magic and with ice magic."""
        found = list(cells)
        for magic in ("fire", "ice"):
            texture = self.load(f"{name}_{magic}_enchantment", self.small)
            over = self.cell(texture[..., :3] * texture[..., 3:])
            is_over = self.cell(np.repeat(texture[..., 3:], 3, -1))
            found += [np.where(is_over > 0, over, cell) for cell in cells]
        return found

    def blocks(self, names: Sequence[str]) -> Bytes:
        """Returns the tiles of all blocks."""
        tiles = np.stack([self.load(name, self.tile)[..., :3] for name in ("debug_tile", "debug_tile", *names)])
        tiles[1] = 128
        return tiles


def _classic(tile: int) -> Pictures:
    textures = _Textures("craftax_classic", tile, 0.6, 1)
    # these have an alpha of any kind
    sprites = [textures.load(name, tile, clamps=False) for name in (*_PLAYER, _MELEE[0], _PASSIVE[0], _RANGED[0])]
    arrow = textures.load("arrow-up", tile)
    arrow[..., 3] *= 255
    icons = [textures.icon(name) for name in (
        "health", "food", "drink", "energy", "sapling", "wood", "stone", "coal", "iron", "diamond", "wood_pickaxe")]
    icons += [textures.icon(name, True) for name in ("stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword",
                                                     "iron_sword")]
    cells = [cell for icon in icons for cell in textures.numbered(icon, 10)]
    xs, ys = np.meshgrid(np.linspace(-1, 1, 7 * tile), np.linspace(-1, 1, 9 * tile))
    noise = (1 - np.exp(-0.5 * (xs**2 + ys**2) / 0.5**2)).T.astype(np.float32)
    return Pictures(tile, textures.blocks(_BLOCKS), np.stack(sprites + _turned(arrow)), np.stack(cells), noise)


def _full(tile: int) -> Pictures:
    textures = _Textures("craftax", tile, 0.4, 0)
    blocks = textures.blocks((*_BLOCKS, *_FULL_BLOCKS))
    blocks[_DARKNESS] = 0
    ground = np.repeat(blocks[:, np.newaxis], 1 + len(_THINGS), 1)
    for k, name in enumerate(_THINGS, 1):
        texture = textures.load(name, tile)
        ground[:, k] = np.where(texture[..., 3:] > 0, texture[..., :3], ground[:, k])
    sprites = [textures.load(name, tile) for name in (*_PLAYER, *_MELEE, *_PASSIVE, *_RANGED)]
    for name in _SHOTS:
        sprites += _turned(textures.load(name, tile))
    # an alpha of 1 is a whole one
    colors = np.stack(sprites)
    colors[..., 3] *= 255
    cells: list[Bytes] = []
    for name in ("health", "food", "drink", "energy", "mana", "wood", "stone", "coal", "iron", "diamond", "sapphire",
                 "ruby", "sapling", "torch_in_inventory", "book", *(
                     f"potion_{color}" for color in ("red", "green", "blue", "pink", "cyan", "yellow"))):
        cells += textures.numbered(textures.icon(name), 100)
    cells += textures.enchanted(textures.numbered(textures.icon("arrow-up", True), 100), "arrow")
    cells += textures.numbered(None, 10) + textures.numbered(textures.icon("xp"), 10)
    for name in ("dexterity", "strength", "intelligence"):
        cells += textures.numbered(textures.icon(name), 10, True)

    def made_of(metals: Sequence[str], thing: str) -> list[Bytes]:
        return [textures.cell(None), *(textures.cell(textures.icon(f"{metal}_{thing}", True)) for metal in metals)]

    metals = ("wood", "stone", "iron", "diamond")
    cells += made_of(metals, "pickaxe") + textures.enchanted(made_of(metals, "sword"), "sword")
    cells += [textures.cell(None), textures.cell(textures.icon("bow"))]
    for part in ("helmet", "chestplate", "pants", "boots"):
        cells += textures.enchanted(made_of(metals[2:], part), part)
    for name in ("fireball", "iceball"):
        cells += [textures.cell(None), textures.cell(textures.icon(name))]
    xs, ys = np.mgrid[:9 * tile, :11 * tile].astype(np.float32)
    away = np.sqrt((xs - 9 * tile // 2)**2 + (ys - 11 * tile // 2)**2)
    # XLA multiplies
    return Pictures(tile, ground.reshape(-1, tile, tile, 3), colors, np.stack(cells), away * (1 / away.max()))


def _turned(texture: Bytes) -> list[Bytes]:
    """Returns a shot as it flies up, down, left and right."""
    flipped = texture[::-1]
    return [texture, flipped, texture.transpose(1, 0, 2), flipped.transpose(1, 0, 2)]


def _resized(texture: Bytes, size: int) -> Bytes:
    from PIL.Image import Resampling, fromarray

    return np.asarray(fromarray(texture).resize((size, size), Resampling.NEAREST))


@functools.lru_cache(512)
def _original(folder: str, name: str) -> Bytes:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(f"craftax: Pillow, which is needed to read textures, is not installed: {INSTALL}") from error
    path = Path(folder_of("craftax") or "") / folder / "assets" / f"{name}.png"
    try:
        with Image.open(path) as image:
            texture = np.asarray(image.convert("RGBA"))
    except (OSError, SyntaxError) as error:
        raise ImportError(f"craftax: the texture {path} cannot be read: {error}: {INSTALL}") from error
    if texture.shape != (16, 16, 4):
        raise ImportError(f"craftax: expected 16 x 16 pixels in {path}, got {texture.shape}: {INSTALL}")
    return texture
