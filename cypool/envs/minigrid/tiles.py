"""Pictures of cells for `obs_type="rgb"` and "rgb_partial", identical to minigrid's, with a table for each size."""
from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Shape = Callable[[Any, Any], Any]

SUBDIVISIONS = 3  # pixels that become one, in both directions
COLORS = np.array([(255, 0, 0), (0, 255, 0), (0, 0, 255), (112, 39, 195), (255, 255, 0), (100, 100, 100)])
BLACK, LINE, AGENT, LAVA = (0, 0, 0), (100, 100, 100), (255, 0, 0), (255, 128, 0)
NUM_TYPES, NUM_COLORS, NUM_STATES = 11, 6, 3
# (type, colour, state) of all there is to draw; objects in no cell are as empty as the first
KINDS = [(1, 0, 0), (2, 5, 0), (8, 1, 0), (9, 0, 0),
         *((4, color, state) for color in range(6) for state in range(3)),
         *((type, color, 0) for type in (5, 6, 7) for color in range(6))]


def kind_numbers() -> NDArray[np.uint8]:
    """Returns the index in KINDS for all types, colors and states: uint8, (11, 6, 3)."""
    numbers = np.zeros((NUM_TYPES, NUM_COLORS, NUM_STATES), np.uint8)
    for k, kind in enumerate(KINDS):
        numbers[kind] = k
    return numbers


@functools.lru_cache(4)
def tiles(size: int) -> NDArray[np.uint8]:
    """Returns all tiles of a size; callers must not change them.

    Args:
        size: Side length in pixels.

    Returns:
        uint8, (kind, 5, 2, size, size, 3): without the agent (0) or with it, by its direction plus one; not seen (0) or
        seen (1).
    """
    pixels = np.empty((len(KINDS), 5, 2, size, size, 3), np.uint8)
    # where the centres of pixels are, in units of the side
    x = (np.arange(size * SUBDIVISIONS) + 0.5) / (size * SUBDIVISIONS)
    y = x[:, np.newaxis]
    triangle = _triangle((0.12, 0.19), (0.87, 0.50), (0.12, 0.81))
    agents = [np.zeros((len(x), len(x)), np.bool_), *(_rotated(triangle, quarters)(x, y) for quarters in range(4))]
    for k, (type, color, state) in enumerate(KINDS):
        # numbers of colours are quicker to handle than colours
        numbers = np.zeros((len(x), len(x)), np.uint8)
        paints = [BLACK, AGENT]
        for shape, paint in [(_rectangle(0, 0.031, 0, 1), LINE), (_rectangle(0, 1, 0, 0.031), LINE),
                             *_shapes(type, COLORS[color], state)]:
            numbers[shape(x, y)] = len(paints)
            paints.append(paint)
        colors = np.array(paints).astype(np.uint8)
        seen = (colors + 0.30 * (np.uint8(255) - colors)).clip(0, 255).astype(np.uint8)
        for agent, inside in enumerate(agents):
            pixels[k, agent] = _smaller(np.where(inside, np.uint8(1), numbers), (colors, seen), size)
    pixels.flags.writeable = False
    return pixels


def _shapes(type: int, color: Any, state: int) -> list[tuple[Shape, Any]]:
    """Returns the shapes of an object and their colors, from back to front."""
    if type in (2, 8):
        return [(_rectangle(0, 1, 0, 1), color)]
    if type == 9:
        waves: list[tuple[Shape, Any]] = [(_rectangle(0, 1, 0, 1), LAVA)]
        for k in range(3):
            low, high = 0.3 + 0.2 * k, 0.4 + 0.2 * k
            points = [(0.1, low), (0.3, high), (0.5, low), (0.7, high), (0.9, low)]
            waves += [(_segment(a, b, 0.03), BLACK) for a, b in itertools.pairwise(points)]
        return waves
    if type == 4 and state == 0:
        return [(_rectangle(0.88, 1, 0, 1), color), (_rectangle(0.92, 0.96, 0.04, 0.96), BLACK)]
    if type == 4 and state == 2:
        return [(_rectangle(0, 1, 0, 1), color), (_rectangle(0.06, 0.94, 0.06, 0.94), 0.45 * color),
                (_rectangle(0.52, 0.75, 0.50, 0.56), color)]
    if type == 4:
        return [(_rectangle(0, 1, 0, 1), color), (_rectangle(0.04, 0.96, 0.04, 0.96), BLACK),
                (_rectangle(0.08, 0.92, 0.08, 0.92), color), (_rectangle(0.12, 0.88, 0.12, 0.88), BLACK),
                (_circle(0.75, 0.50, 0.08), color)]
    if type == 5:
        return [(_rectangle(0.50, 0.63, 0.31, 0.88), color), (_rectangle(0.38, 0.50, 0.59, 0.66), color),
                (_rectangle(0.38, 0.50, 0.81, 0.88), color), (_circle(0.56, 0.28, 0.190), color),
                (_circle(0.56, 0.28, 0.064), BLACK)]
    if type == 6:
        return [(_circle(0.5, 0.5, 0.31), color)]
    if type == 7:
        return [(_rectangle(0.12, 0.88, 0.12, 0.88), color), (_rectangle(0.18, 0.82, 0.18, 0.82), BLACK),
                (_rectangle(0.16, 0.84, 0.47, 0.53), color)]
    return []


def _smaller(numbers: NDArray[np.uint8], palettes: tuple[NDArray[np.uint8], ...], size: int) -> NDArray[np.uint8]:
    """Returns an image of color numbers in the size of a tile: uint8, (palette, size, size, 3)."""
    blocks = numbers.reshape(size, SUBDIVISIONS, size, SUBDIVISIONS).transpose(0, 2, 1, 3)
    first = blocks[:, :, 0, 0]
    # most blocks have one colour, which is their mean
    mixed = np.zeros(first.shape, np.bool_)
    for i, j in itertools.product(range(SUBDIVISIONS), repeat=2):
        mixed |= blocks[:, :, i, j] != first
    smaller = np.stack([palette[first] for palette in palettes])
    for image, palette in zip(smaller, palettes, strict=True):
        # one axis after the other, so that the sums are rounded as minigrid's
        image[mixed] = palette[blocks[mixed]].mean(axis=2).mean(axis=1)
    return smaller


def _rectangle(left: float, right: float, top: float, bottom: float) -> Shape:
    return lambda x, y: (x >= left) & (x <= right) & (y >= top) & (y <= bottom)


def _circle(center_x: float, center_y: float, radius: float) -> Shape:
    return lambda x, y: (x - center_x) * (x - center_x) + (y - center_y) * (y - center_y) <= radius * radius


def _segment(start: tuple[float, float], end: tuple[float, float], radius: float) -> Shape:
    a, b = np.array(start, np.float32), np.array(end, np.float32)
    length = np.linalg.norm(b - a)
    along = (b - a) / length

    def inside(x: Any, y: Any) -> Any:
        near = ((x >= min(start[0], end[0]) - radius) & (x <= max(start[0], end[0]) + radius)
                & (y >= min(start[1], end[1]) - radius) & (y <= max(start[1], end[1]) + radius))
        at = np.clip((x - a[0]) * along[0] + (y - a[1]) * along[1], 0, length)
        return near & (np.hypot(x - (a[0] + at * along[0]), y - (a[1] + at * along[1])) <= radius)

    return inside


def _triangle(*corners: tuple[float, float]) -> Shape:
    a, b, c = (np.array(corner, np.float32) for corner in corners)
    p, q = c - a, b - a
    pp, pq, qq = np.dot(p, p), np.dot(p, q), np.dot(q, q)
    scale = 1 / (pp * qq - pq * pq)

    def inside(x: Any, y: Any) -> Any:
        rx, ry = x - a[0], y - a[1]
        pr, qr = p[0] * rx + p[1] * ry, q[0] * rx + q[1] * ry
        u, v = (qq * pr - pq * qr) * scale, (pp * qr - pq * pr) * scale
        return (u >= 0) & (v >= 0) & (u + v < 1)

    return inside


def _rotated(shape: Shape, quarters: int) -> Shape:
    """Returns a shape turned to the right around the middle."""
    cos, sin = math.cos(-0.5 * math.pi * quarters), math.sin(-0.5 * math.pi * quarters)
    return lambda x, y: shape(0.5 + (x - 0.5) * cos - (y - 0.5) * sin, 0.5 + (y - 0.5) * cos + (x - 0.5) * sin)
