"""NetHack's tiles, a picture of each glyph, read from the texts in nle."""
from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cypool.envs.nethack.library import GET, TILES, TILES_FOLDER, VERSION

SIDE = 16
# which tiles are of which glyphs: runs (first tile, how many). There are tiles of monsters that this NetHack has not
_MONSTERS = ((0, 27), (28, 5), (34, 102), (137, 9), (147, 33), (181, 48), (230, 59), (290, 28), (319, 34), (355, 13),
             (369, 12), (382, 11))
_NUM_MONSTERS = sum(count for _, count in _MONSTERS)
_INVISIBLE, _OBJECTS, _CELLS, _WARNINGS = ((393, 1),), ((394, 84), (479, 9), (489, 246)), ((736, 296),), ((1032, 6),)
_CORPSE, _STATUE, _SWALLOWED = 636, 845, ((929, 8),)


@functools.cache
def of_glyphs() -> NDArray[np.int64]:
    """Returns the index of each glyph's tile."""
    # monsters, pets, felt objects, detected monsters, corpses, steeds, objects, cells and effects, those who swallow
    # the player, warnings, statues
    parts = [*_MONSTERS * 2, *_INVISIBLE, *_MONSTERS, *((_CORPSE, 1),) * _NUM_MONSTERS, *_MONSTERS, *_OBJECTS, *_CELLS,
             *_SWALLOWED * _NUM_MONSTERS, *_WARNINGS, *((_STATUE, 1),) * _NUM_MONSTERS]
    return np.concatenate([np.arange(first, first + count) for first, count in parts])


@functools.cache
def pictures(folder: Path) -> NDArray[np.uint8]:
    """Returns the tiles of all glyphs, uint8 (glyph, y, x, channel), from nle's folder.

    Raises:
        ImportError: The tiles are missing, or have a different version.
    """
    try:
        texts = [(folder / TILES_FOLDER / f"{name}.txt").read_bytes() for name in ("monsters", "objects", "other")]
    except OSError as error:
        raise ImportError(f"nethack: cannot read the tiles in {folder / TILES_FOLDER}: {error.strerror}: "
                          f"{GET}") from error
    if hashlib.sha256(b"".join(texts)).hexdigest() != TILES:
        raise ImportError(f"nethack: expected the tiles of nle {VERSION}, got different ones in "
                          f"{folder / TILES_FOLDER}: {GET}")
    return np.concatenate([_tiles_in(text.decode()) for text in texts])[of_glyphs()]


def _tiles_in(text: str) -> NDArray[np.uint8]:
    """Returns the tiles in a file, in which each color has a letter."""
    palette = np.zeros((128, 3), np.uint8)
    for letter, *colour in re.findall(r"^(.) = \((\d+), *(\d+), *(\d+)\)", text, re.MULTILINE):
        palette[ord(letter)] = [int(part) for part in colour]
    rows = "".join(re.findall(rf"^ +(\S{{{SIDE}}})$", text, re.MULTILINE))
    return palette[np.frombuffer(rows.encode(), np.uint8).reshape(-1, SIDE, SIDE)]


def drawn(glyphs: NDArray[np.int16], folder: Path) -> NDArray[np.uint8]:
    """Returns a map as a picture, uint8 (height, width, channel)."""
    rows, columns = glyphs.shape
    # (row, column, y, x, channel)
    return pictures(folder)[glyphs].swapaxes(1, 2).reshape(rows * SIDE, columns * SIDE, 3)
