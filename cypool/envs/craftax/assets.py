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
_ARMOURS = ("helmet", "chestplate", "pants", "boots")
_DARKNESS = 18


class Pictures(NamedTuple):
    """The parts of pictures with tiles of a size, as picture.h reads them.

    Attributes:
        tile: Pixels of a side of a cell.
        ground: uint8 (block and thing, y, x, channel).
        sprites: uint8 (sprite, y, x, 4): the player, creatures, and shots in four directions.
        cells: uint8 (cell of the inventory with its number, y, x, channel).
        noise: float32 (y, x): how strong the noise of a night is.
    """

    tile: int
    ground: Bytes
    sprites: Bytes
    cells: Bytes
    noise: NDArray[np.float32]


@functools.lru_cache(4)
def pictures(game: str, tile: int) -> Pictures:
    """Returns the parts of the pictures of a game.

    Raises:
        ImportError: craftax, a texture or Pillow is missing, or craftax is of another version.
    """
    require_version("Pictures of Craftax need", "craftax", (VERSION,), INSTALL)
    return _Classic(tile).pictures() if game == "Craftax-Classic" else _Full(tile).pictures()


class _Textures:
    folder: str
    number_part: float
    # how many pixels an icon is nearer to the corner than to the middle
    shift = 0

    def __init__(self, tile: int):
        self.tile, self.small, self.digit = tile, int(0.8 * tile), int(self.number_part * tile)
        self.left = (tile - self.small) // 2 - self.shift

    def load(self, name: str, size: int, clamps: bool = True) -> Bytes:
        """Returns a texture with its alpha: 0 or 1, or as it is."""
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

    def add_digit(self, cell: Bytes, digit: int, place: int, has_zero: bool = False) -> None:
        """Draws a digit; the places are counted from the right."""
        if digit == 0 and not has_zero:
            return
        texture = self.load(str(digit), self.digit)
        end = self.tile - self.shift
        area = cell[end - self.digit:end, end - (place + 1) * self.digit:end - place * self.digit]
        area[...] = np.where(texture[..., 3:] > 0, texture[..., :3], area)

    def blocks(self, names: Sequence[str]) -> Bytes:
        """Returns the tiles of all blocks."""
        tiles = np.stack([self.load(name, self.tile)[..., :3] for name in ("debug_tile", "debug_tile", *names)])
        tiles[1] = 128
        return tiles


class _Classic(_Textures):
    folder, number_part, shift = "craftax_classic", 0.6, 1

    def pictures(self) -> Pictures:
        """Returns all parts."""
        tile = self.tile
        # these have an alpha of any kind
        sprites = [self.load(name, tile, clamps=False) for name in (*_PLAYER, _MELEE[0], _PASSIVE[0], _RANGED[0])]
        arrow = self.load("arrow-up", tile)
        arrow[..., 3] *= 255
        sprites += _turned(arrow)
        icons: list[Bytes] = [self.icon(name) for name in (
            "health", "food", "drink", "energy", "sapling", "wood", "stone", "coal", "iron", "diamond", "wood_pickaxe")]
        icons += [self.icon(name, True) for name in ("stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword",
                                                     "iron_sword")]
        cells = []
        for icon in icons:
            for number in range(10):
                cells.append(self.cell(icon if number else None))
                self.add_digit(cells[-1], number, 0)
        xs, ys = np.meshgrid(np.linspace(-1, 1, 7 * tile), np.linspace(-1, 1, 9 * tile))
        noise = (1 - np.exp(-0.5 * (xs**2 + ys**2) / 0.5**2)).T.astype(np.float32)
        return Pictures(tile, self.blocks(_BLOCKS), np.stack(sprites), np.stack(cells), noise)


class _Full(_Textures):
    folder, number_part = "craftax", 0.4

    def numbered(self, icon: Bytes) -> list[Bytes]:
        """Returns the cells of an item by its number, from 0 to 99."""
        cells = []
        for number in range(100):
            cells.append(self.cell(icon if number else None))
            self.add_digit(cells[-1], number % 10, 0, number > 0)
            self.add_digit(cells[-1], number // 10, 1)
        return cells

    def leveled(self, icon: Bytes | None, is_always_there: bool) -> list[Bytes]:
        """Returns the cells of a number of one digit."""
        cells = []
        for number in range(10):
            cells.append(self.cell(icon if number or is_always_there else None))
            self.add_digit(cells[-1], number, 0)
        return cells

    def enchanted(self, cells: Sequence[Bytes], name: str) -> list[Bytes]:
        """Returns cells without magic, with that of fire, and with that of ice."""
        found = list(cells)
        for magic in ("fire", "ice"):
            texture = self.load(f"{name}_{magic}_enchantment", self.small)
            over = self.cell(texture[..., :3] * texture[..., 3:])
            is_over = self.cell(np.repeat(texture[..., 3:], 3, -1))
            found += [np.where(is_over > 0, over, cell) for cell in cells]
        return found

    def pictures(self) -> Pictures:
        """Returns all parts."""
        tile = self.tile
        blocks = self.blocks((*_BLOCKS, *_FULL_BLOCKS))
        blocks[_DARKNESS] = 0
        ground = np.repeat(blocks[:, np.newaxis], 1 + len(_THINGS), 1)
        for k, name in enumerate(_THINGS, 1):
            texture = self.load(name, tile)
            ground[:, k] = np.where(texture[..., 3:] > 0, texture[..., :3], ground[:, k])
        sprites = [self.load(name, tile) for name in (*_PLAYER, *_MELEE, *_PASSIVE, *_RANGED)]
        for name in _SHOTS:
            sprites += _turned(self.load(name, tile))
        cells: list[Bytes] = []
        for name in ("health", "food", "drink", "energy", "mana", "wood", "stone", "coal", "iron", "diamond",
                     "sapphire", "ruby", "sapling", "torch_in_inventory", "book", *(
                         f"potion_{color}" for color in ("red", "green", "blue", "pink", "cyan", "yellow"))):
            cells += self.numbered(self.icon(name))
        cells += self.enchanted(self.numbered(self.icon("arrow-up", True)), "arrow")
        cells += self.leveled(None, True) + self.leveled(self.icon("xp"), False)
        for name in ("dexterity", "strength", "intelligence"):
            cells += self.leveled(self.icon(name), True)
        metals = ("wood", "stone", "iron", "diamond")
        nothing = [self.cell(None)]
        cells += nothing + [self.cell(self.icon(f"{metal}_pickaxe", True)) for metal in metals]
        cells += self.enchanted(nothing + [self.cell(self.icon(f"{metal}_sword", True)) for metal in metals], "sword")
        cells += nothing + [self.cell(self.icon("bow"))]
        for part in _ARMOURS:
            cells += self.enchanted(
                nothing + [self.cell(self.icon(f"{metal}_{part}", True)) for metal in metals[2:]], part)
        for name in ("fireball", "iceball"):
            cells += nothing + [self.cell(self.icon(name))]
        xs, ys = np.mgrid[:9 * tile, :11 * tile].astype(np.float32)
        away = np.sqrt((xs - 9 * tile // 2)**2 + (ys - 11 * tile // 2)**2)
        # an alpha of 1 is a whole one
        colors = np.stack(sprites)
        colors[..., 3] *= 255
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
        raise ImportError(f"craftax: expected Pillow to read its textures, got none: {INSTALL}") from error
    path = Path(folder_of("craftax") or "") / folder / "assets" / f"{name}.png"
    try:
        with Image.open(path) as image:
            texture = np.asarray(image.convert("RGBA"))
    except (OSError, SyntaxError) as error:
        raise ImportError(f"craftax: expected a texture in {path}, got none that can be read: {error}: "
                          f"{INSTALL}") from error
    if texture.shape != (16, 16, 4):
        raise ImportError(f"craftax: expected a texture of 16 x 16 in {path}, got {texture.shape}: {INSTALL}")
    return texture
