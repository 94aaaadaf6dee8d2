"""`GridPicture`: a simple picture of a grid, for families whose packages depend on outdated drawing libraries."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CELL = 24  # pixels
COLORS = {"white": (255, 255, 255), "gray": (170, 170, 170), "black": (0, 0, 0), "red": (205, 60, 50),
          "green": (60, 150, 70), "blue": (50, 90, 190), "orange": (235, 150, 40), "yellow": (245, 220, 90),
          "brown": (140, 100, 60), "teal": (40, 150, 150)}
# of each digit 5 rows of 3 bits
_FONT = {digit: [int(row) for row in rows] for digit, rows in zip(
    "0123456789", ("75557", "26227", "71747", "71717", "55711", "74717", "74757", "71222", "75757", "75717"),
    strict=True)}


class GridPicture:
    """A picture of a grid of cells.

    Args:
        rows, cols: The size of the grid.

    Attributes:
        pixels: uint8, (rows * 24 + 1, cols * 24 + 1, 3).
    """

    def __init__(self, rows: int, cols: int):
        self.pixels: NDArray[np.uint8] = np.full((rows * CELL + 1, cols * CELL + 1, 3), 255, np.uint8)
        self.pixels[::CELL] = self.pixels[:, ::CELL] = COLORS["gray"]

    def _inside(self, row: int, col: int) -> NDArray[np.uint8]:
        return self.pixels[row * CELL + 1:(row + 1) * CELL, col * CELL + 1:(col + 1) * CELL]

    def fill(self, row: int, col: int, color: str) -> None:
        """Fills a whole cell."""
        self._inside(row, col)[:] = COLORS[color]

    def square(self, row: int, col: int, color: str) -> None:
        """Draws a square in a cell, with a margin."""
        self._inside(row, col)[4:-4, 4:-4] = COLORS[color]

    def disk(self, row: int, col: int, color: str) -> None:
        """Draws a disk in a cell, with a margin."""
        y, x = np.mgrid[:CELL - 1, :CELL - 1] - (CELL // 2 - 1)
        self._inside(row, col)[y * y + x * x <= 81] = COLORS[color]

    def arrow(self, row: int, col: int, direction: tuple[int, int]) -> None:
        """Draws a black line from the middle of a cell toward an edge.

        Args:
            row, col: The cell.
            direction: A step of 1 or -1 along rows, or along columns.
        """
        middle = CELL // 2 - 1
        for k in range(middle):
            y, x = middle + k * direction[0], middle + k * direction[1]
            self._inside(row, col)[y - 1:y + 2, x - 1:x + 2] = COLORS["black"]

    def number(self, row: int, col: int, number: int) -> None:
        """Writes a white number in the middle of a cell."""
        text = str(number)
        size = 2 if len(text) < 3 else 1
        bits = np.zeros((5, 4 * len(text) - 1), bool)
        for k, digit in enumerate(text):
            for y, line in enumerate(_FONT[digit]):
                bits[y, 4 * k:4 * k + 3] = line & 4, line & 2, line & 1
        bits = bits.repeat(size, 0).repeat(size, 1)
        top, left = ((CELL - 1 - n) // 2 for n in bits.shape)
        self._inside(row, col)[top:top + bits.shape[0], left:left + bits.shape[1]][bits] = COLORS["white"]
