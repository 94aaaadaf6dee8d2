"""Pictures of the Box2D environments, drawn with pygame in Gymnasium's order, so that the pixels are identical.

They use our own code, because Gymnasium's cannot be imported without the package Box2D.
"""
from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = Sequence[tuple[float, float]]
Picture = NDArray[np.uint8]
SCALE = 30.0
_SMOOTH, _PLAIN = 0, 1  # kinds of shapes, as in car_picture.h


def draw_lunar_lander(smooth_y: Sequence[float], particles: Sequence[tuple[float, float, float]],
                      outlines: Sequence[Points]) -> Picture:
    """Draws the picture of a LunarLander.

    Args:
        smooth_y: The height of the moon's surface at 11 places, in meters.
        particles: Flames: their positions in pixels, and how long they last.
        outlines: Outlines of the lander and its legs, in pixels.

    Returns:
        uint8, (400, 600, 3).
    """
    pygame, gfxdraw = _pygame()
    surface = pygame.Surface((600, 400))
    surface.fill((255, 255, 255))
    width, height = 600 / SCALE, 400 / SCALE
    xs = [width / 10 * i for i in range(11)]
    for i in range(10):
        sky = [(xs[i], smooth_y[i]), (xs[i + 1], smooth_y[i + 1]), (xs[i + 1], height), (xs[i], height)]
        sky = [(x * SCALE, y * SCALE) for x, y in sky]
        pygame.draw.polygon(surface, (0, 0, 0), sky)
        gfxdraw.aapolygon(surface, sky, (0, 0, 0))
    radius = float(np.float32(2 / SCALE)) * SCALE
    for x, y, ttl in particles:
        color = (int(max(0.2, 0.15 + ttl) * 255), int(max(0.2, 0.5 * ttl) * 255), int(max(0.2, 0.5 * ttl) * 255))
        for _ in range(2):
            pygame.draw.circle(surface, color, (x, y), radius)
        _draw_flags(pygame, gfxdraw, surface, xs)
    for outline in outlines:
        pygame.draw.polygon(surface, (128, 102, 230), outline)
        gfxdraw.aapolygon(surface, outline, (128, 102, 230))
        pygame.draw.aalines(surface, (77, 77, 128), True, outline)
        _draw_flags(pygame, gfxdraw, surface, xs)
    return _upright(pygame, surface)


def _draw_flags(pygame: Any, gfxdraw: Any, surface: Any, xs: Sequence[float]) -> None:
    # once for each thing that is drawn, as their edges are blended with the picture
    foot = 400 / SCALE / 4 * SCALE
    top = foot + 50
    for x in (xs[4] * SCALE, xs[6] * SCALE):
        pygame.draw.line(surface, (255, 255, 255), (x, foot), (x, top), 1)
        flag = [(x, top), (x, top - 10), (x + 25, top - 5)]
        pygame.draw.polygon(surface, (204, 204, 0), flag)
        gfxdraw.aapolygon(surface, flag, (204, 204, 0))


def draw_bipedal_walker(scroll: float, ground: Points, clouds: Sequence[Points], renders: int,
                        ray_from: tuple[float, float], ray_to: Points, outlines: Sequence[Points]) -> Picture:
    """Draws the picture of a BipedalWalker.

    Args:
        scroll: Left edge of the picture, in meters.
        ground: The line of the ground, in meters.
        clouds: Corners of the clouds, in meters.
        renders: Number of pictures drawn since the reset, modulo 100, which selects the ray to show.
        ray_from, ray_to: Ends of the rays, in meters.
        outlines: Outlines, in pixels, of the pieces of ground, the last one first, of stumps, stairs and pits, of the
            four parts of the legs, and of the hull.

    Returns:
        uint8, (400, 600, 3).
    """
    pygame, gfxdraw = _pygame()
    surface = pygame.Surface((600 + max(0.0, scroll) * SCALE, 400))
    left = scroll * SCALE
    pygame.draw.polygon(surface, (215, 215, 255), [(left, 0), (left + 600, 0), (left + 600, 400), (left, 400)])
    for cloud in clouds:
        xs = [x for x, _ in cloud]
        if max(xs) < scroll / 2 or min(xs) > scroll / 2 + 600 / SCALE:
            continue
        corners = [(x * SCALE + scroll * SCALE / 2, y * SCALE) for x, y in cloud]
        pygame.draw.polygon(surface, (255, 255, 255), corners)
        gfxdraw.aapolygon(surface, corners, (255, 255, 255))
    for begin, end in itertools.pairwise(ground):
        if end[0] < scroll or begin[0] > scroll + 600 / SCALE:
            continue
        earth = [(x * SCALE, y * SCALE) for x, y in (begin, end, (end[0], 0), (begin[0], 0))]
        pygame.draw.polygon(surface, (102, 153, 76), earth)
        gfxdraw.aapolygon(surface, earth, (102, 153, 76))
    if renders < 2 * len(ray_to):
        x, y = ray_to[renders if renders < len(ray_to) else len(ray_to) - renders - 1]
        pygame.draw.line(surface, (255, 0, 0), (ray_from[0] * SCALE, ray_from[1] * SCALE), (x * SCALE, y * SCALE), 1)
    num_edges = len(ground) - 1
    num_blocks = len(outlines) - num_edges - 5
    blocks = [((255, 255, 255), (153, 153, 153))] * num_blocks
    legs = [((153 - i * 25, 76 - i * 25, 127 - i * 25), (102 - i * 25, 51 - i * 25, 76 - i * 25))
            for i in (-1, -1, 1, 1)]
    for k, outline in enumerate(outlines):
        if len(outline) == 2:
            i = num_edges - 1 - k
            pygame.draw.aaline(surface, (76, 255 if i % 2 == 0 else 204, 76), *outline)
            continue
        color, edge_color = [*blocks, *legs, ((127, 51, 229), (76, 76, 127))][k - num_edges]
        pygame.draw.polygon(surface, color, outline)
        gfxdraw.aapolygon(surface, outline, color)
        closed = [*outline, outline[0]]
        pygame.draw.polygon(surface, edge_color, closed, 1)
        gfxdraw.aapolygon(surface, closed, edge_color)
    foot = 400 / SCALE / 4 * SCALE
    top = foot + 50
    x = 14 / SCALE * 3 * SCALE
    pygame.draw.aaline(surface, (0, 0, 0), (x, foot), (x, top))
    flag = [(x, top), (x, top - 10), (x + 25, top - 5)]
    pygame.draw.polygon(surface, (230, 51, 0), flag)
    pygame.draw.lines(surface, (0, 0, 0), False, [*flag, flag[0]], 1)
    return _upright(pygame, surface)[:, -600:]


def draw_car_racing(shapes: Sequence[tuple[int, int, Points]], num_flipped: int, total: float) -> Picture:
    """Draws the picture of a CarRacing.

    Args:
        shapes: Their kinds and colors, as in car_picture.h, and their points in pixels.
        num_flipped: Number of the first shapes, for which the first row is the lowest one.
        total: The sum of rewards.

    Returns:
        uint8, (400, 600, 3).
    """
    pygame, gfxdraw = _pygame()
    surface = pygame.Surface((1000, 800))
    for k, (kind, number, points) in enumerate(shapes):
        color = number >> 16, number >> 8 & 255, number & 255
        if k == num_flipped:
            surface = pygame.transform.flip(surface, False, True)
        if kind == _SMOOTH:
            gfxdraw.aapolygon(surface, points, color)
            gfxdraw.filled_polygon(surface, points, color)
        elif kind == _PLAIN:
            pygame.draw.polygon(surface, color, points)
        else:
            pygame.draw.lines(surface, color, False, points, 2)
    text = _font(pygame).render(f"{total:04.0f}", True, (255, 255, 255), (0, 0, 0))
    surface.blit(text, text.get_rect(center=(60, 750)))
    pixels = pygame.surfarray.array3d(pygame.transform.smoothscale(surface, (600, 400)))
    return np.ascontiguousarray(pixels.transpose(1, 0, 2))


def draw_numbers() -> tuple[int, list[Picture]]:
    """Draws the numbers that CarRacing's observations show.

    Returns:
        The first number, and gray levels, uint8 (height, width), for each number from this one to 1000, then for -0.

    Raises:
        ImportError: pygame is not installed, or cannot draw the polygons in CarRacing's observations.
    """
    pygame, gfxdraw = _pygame("CarRacing")
    _check_polygons(pygame, gfxdraw)
    font, first = _font(pygame), -1000
    numbers = []
    for number in [*range(first, 1001), -0.0]:
        text = font.render(f"{number:04.0f}", True, (255, 255, 255), (0, 0, 0))
        numbers.append(np.ascontiguousarray(pygame.surfarray.array3d(text)[..., 0].T))
    return first, numbers


# SHA-256 of the drawing of pygame-ce 2.4 to 2.5, which is that of CarRacing
POLYGONS = "9633f7d16a1e9c32865444a22059f8160364a9f96baf3bf76737981f7fe0a642"


def _check_polygons(pygame: Any, gfxdraw: Any) -> None:
    surface = pygame.Surface((250, 200))
    quads = [[(3.7, 5.2), (190.3, 40.9), (120.6, 150.1), (-20.2, 90.7)],
             [(60.5, -10.5), (240.1, 100.4), (200.9, 190.2), (90.0, 120.0)],
             [(10.2, 180.1), (30.9, 120.6), (33.3, 199.9), (20.0, 190.0)]]
    for k, points in enumerate(quads):
        gfxdraw.aapolygon(surface, points, (40 + 70 * k, 200 - 60 * k, 90))
        gfxdraw.filled_polygon(surface, points, (40 + 70 * k, 200 - 60 * k, 90))
        pygame.draw.polygon(surface, (255 - 50 * k, 20, 120), [(x / 2 + 60, y / 2 + 30) for x, y in points])
    pixels = [pygame.surfarray.array3d(each).tobytes()
              for each in (surface, pygame.transform.smoothscale(surface, (24, 24)))]
    if hashlib.sha256(b"".join(pixels)).hexdigest() != POLYGONS:
        kind = "pygame-ce" if getattr(pygame, "IS_CE", False) else "pygame"
        raise ImportError(f"CarRacing: expected a pygame that draws polygons like pygame-ce 2.5, got {kind} "
                          f"{pygame.version.ver}, whose pixels differ: pip uninstall pygame; pip install "
                          '"pygame-ce==2.5.*"')


def _font(pygame: Any) -> Any:
    pygame.font.init()
    return pygame.font.Font(pygame.font.get_default_font(), 42)


def _upright(pygame: Any, surface: Any) -> Picture:
    """Returns the pixels of a surface whose first row is the lowest one."""
    pixels = pygame.surfarray.array3d(pygame.transform.flip(surface, False, True))
    return np.ascontiguousarray(pixels.transpose(1, 0, 2))


def _pygame(what: str = "render") -> Any:
    try:
        import pygame
        from pygame import gfxdraw
    except ImportError as error:
        raise ImportError(f"{what}: pygame is needed for rendering: pip install pygame-ce") from error
    return pygame, gfxdraw
