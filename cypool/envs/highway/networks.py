"""The roads of each task, as numbers for roads.h. NumPy computes them, so that results are bit-identical."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Config = dict[str, Any]

STRAIGHT, SINE, CIRCLE = range(3)
FIELDS = ("kind", "start", "end", "priority", "forbidden", "has_limit", "length", "width", "limit", "x", "y", "dx",
          "dy", "lx", "ly", "heading", "amplitude", "pulsation", "phase", "radius", "start_phase", "turn")
_INTS = FIELDS[:6]


class Roads:
    """A graph of lanes, by start, then by end, in order of creation."""

    def __init__(self) -> None:
        self.graph: dict[str, dict[str, list[dict[str, Any]]]] = {}

    def add(self, start: str, end: str, lane: dict[str, Any]) -> None:
        """Adds a lane."""
        self.graph.setdefault(start, {}).setdefault(end, []).append(lane)

    def straight(self, start: str, end: str, a: Any, b: Any, **more: Any) -> None:
        """Adds a straight lane from one point to another."""
        self.add(start, end, straight(a, b, **more))

    def parallel(self, start: str, end: str, count: int, begin: float, length: float, limit: float = 30) -> None:
        """Adds lanes along the x axis, four meters apart."""
        rotation = np.array([[np.cos(0.0), np.sin(0.0)], [-np.sin(0.0), np.cos(0.0)]])
        for k in range(count):
            a, b = (rotation @ np.array([x, k * 4]) for x in (begin, begin + length))
            self.straight(start, end, a, b, limit=limit)

    def sine(self, start: str, end: str, a: Any, b: Any, amplitude: float, pulsation: float, phase: float,
             **more: Any) -> None:
        """Adds a lane that winds around a straight line."""
        self.add(start, end, {**straight(a, b, **more), "kind": SINE, "amplitude": amplitude, "pulsation": pulsation,
                              "phase": phase})

    def circle(self, start: str, end: str, centre: Any, radius: float, begin: float, stop: float,
               clockwise: bool = True, width: float = 4, limit: float = 20, **more: Any) -> None:
        """Adds an arc."""
        turn = 1 if clockwise else -1
        self.add(start, end, {
            "kind": CIRCLE, "x": centre[0], "y": centre[1], "radius": radius, "start_phase": begin, "turn": turn,
            "length": radius * (stop - begin) * turn, "width": width, "limit": limit, **more})

    def arcs(self, start: str, end: str, centre: Any, *lanes: Any, clockwise: bool = False, **more: Any) -> None:
        """Adds arcs around one point: radius, and where they begin and stop in degrees."""
        for radius, begin, stop in lanes:
            self.circle(start, end, centre, radius, np.deg2rad(begin), np.deg2rad(stop), clockwise, **more)

    def numbers(self) -> tuple[list[dict[str, Any]], dict[str, int]]:
        """Returns the lanes in the graph's order, and the number of each node by name."""
        names = sorted({n for a, ends in self.graph.items() for n in (a, *ends)})
        nodes = {name: k for k, name in enumerate(names)}
        lanes = []
        for a, ends in self.graph.items():
            for b, each in ends.items():
                for lane in each:
                    filled = {**lane, "start": nodes[a], "end": nodes[b], "has_limit": lane["limit"] is not None}
                    lanes.append({name: int(filled.get(name, 0)) if name in _INTS else float(filled.get(name) or 0)
                                  for name in FIELDS})
        return lanes, nodes


def straight(a: Any, b: Any, width: float = 4, limit: float = 20, **more: Any) -> dict[str, Any]:
    """Returns a straight lane from one point to another."""
    a, b = np.array(a), np.array(b)
    length = np.linalg.norm(b - a)
    dx, dy = (b - a) / length
    return {"kind": STRAIGHT, "x": a[0], "y": a[1], "dx": dx, "dy": dy, "lx": -dy, "ly": dx, "length": length,
            "heading": np.arctan2(b[1] - a[1], b[0] - a[0]), "width": width, "limit": limit, **more}


def highway(roads: Roads, c: Config) -> None:
    roads.parallel("0", "1", c["lanes_count"], 0.0, 10000.0)


def exit_(roads: Roads, c: Config) -> None:
    n = c["lanes_count"]
    for a, b, count, begin, length in (("0", "1", n, 0, 400), ("1", "2", n + 1, 400, 100), ("2", "3", n, 500, 500)):
        roads.parallel(a, b, count, begin, length)
        for k, lane in enumerate(roads.graph[a][b]):
            lane["limit"] = 26 - 3.4 * k
    centre = np.array([500, n * 4]) + np.array([0, 150])
    roads.circle("2", "exit", centre, 150, 3 * np.pi / 2, 2 * np.pi, forbidden=True)


def merge(roads: Roads, c: Config) -> None:
    for k in range(2):
        for a, b, begin, end in (("a", "b", 0, 230), ("b", "c", 230, 310), ("c", "d", 310, 460)):
            roads.straight(a, b, [begin, 4 * k], [end, 4 * k])
    ramp = straight([0, 14.5], [150, 14.5], forbidden=True)

    def of(lane: dict[str, Any], s: float, lateral: float) -> Any:
        at = np.array([lane["x"], lane["y"]])
        return at + s * np.array([lane["dx"], lane["dy"]]) + lateral * np.array([lane["lx"], lane["ly"]])

    roads.add("j", "k", ramp)
    amplitude, pulsation, phase = 3.25, 2 * np.pi / (2 * 80), np.pi / 2
    roads.sine("k", "b", of(ramp, 150, -amplitude), of(ramp, 230, -amplitude), amplitude, pulsation, phase,
               forbidden=True)
    curve = roads.graph["k"]["b"][0]
    end = of(curve, 80, 0 + amplitude * np.sin(pulsation * 80 + phase))
    roads.straight("b", "c", end, end + [80, 0], forbidden=True)


def merge_generic(roads: Roads, c: Config) -> None:
    n = c["lanes_count"]
    before, converge, parallel, after = (c[f"{k}_merge_length"] for k in ("before", "converge", "parallel", "after"))
    for a, b, begin, length in (("a", "b", 0, before + converge), ("b", "c", before + converge, parallel),
                                ("c", "d", before + converge + parallel, after)):
        roads.parallel(a, b, n, begin, length)
    amplitude, y = 3.25, n * 4
    roads.straight("j", "k", [0, y + 2 * amplitude], [before, y + 2 * amplitude], forbidden=True, limit=30)
    roads.sine("k", "b", [before, y + amplitude], [before + converge, y + amplitude], amplitude,
               2 * np.pi / (2 * converge), np.pi / 2, forbidden=True, limit=30)
    roads.straight("b", "c", [before + converge, y], [before + converge + parallel, y], forbidden=True, limit=30)


def two_way(roads: Roads, c: Config) -> None:
    roads.straight("a", "b", [0, 0], [800, 0])
    roads.straight("a", "b", [0, 4], [800, 4])
    roads.straight("b", "a", [800, 0], [0, 0])


def u_turn(roads: Roads, c: Config) -> None:
    for y in (4, 0):
        roads.straight("c", "d", [128, y], [0, y])
    roads.arcs("b", "c", [128, 24], (20, 90, -90), (24, 90, -90))
    for y in (44, 48):
        roads.straight("a", "b", [0, y], [128, y])


RING = ["se", "ex", "ee", "nx", "ne", "wx", "we", "sx", "se"]
# for south, east, north, west: how x and y of the southern arm lie there
ARMS: dict[str, Callable[[float, float], list[float]]] = {
    "s": lambda x, y: [x, y], "e": lambda x, y: [y, -x], "n": lambda x, y: [-x, -y], "w": lambda x, y: [-y, x]}
ARCS = [(66, 24), (24, -24), (-24, -66), (-66, -114), (-114, -156), (-156, -204), (156, 114), (114, 66)]


def ring(roads: Roads, radii: Any) -> None:
    """Adds the lanes of a roundabout."""
    for radius in radii:
        for a, b, (begin, end) in zip(RING[:-1], RING[1:], ARCS, strict=True):
            roads.arcs(a, b, [0, 0], (radius, begin, end))


def roundabout(roads: Roads, c: Config) -> None:
    ring(roads, (20, 24))
    access, dev, a = 170, 85, 5
    short = 0.2 * dev
    long, w = dev - short, 2 * np.pi / dev
    half, back = dev / 2, -np.pi / 2 + w * long
    for name, at in ARMS.items():
        roads.straight(f"{name}er", f"{name}es", at(2, access), at(2, half))
        roads.sine(f"{name}es", f"{name}e", at(2 + a, half), at(2 + a, half - short), a, w, -np.pi / 2)
        roads.sine(f"{name}x", f"{name}xs", at(-2 - a, -half + long), at(-2 - a, half), a, w, back)
        roads.straight(f"{name}xs", f"{name}xr", at(-2, half), at(-2, access))


def roundabout_generic(roads: Roads, c: Config) -> None:
    radius, n = c["roundabout_radius"], c["roundabout_lanes"]
    radii = [radius + 4 * k for k in range(n)]
    ring(roads, radii)
    outer = radii[-1]

    dev = max(100.0, 2 * outer + 40.0)
    access, far = dev + 40.0, dev / 2
    entries, exits = (66, -24, -114, 156), (114, 24, -66, -156)

    def on_ring(degrees: float, turned: int) -> list[float]:
        """Returns a point of the outer lane, as the southern arm has it."""
        angle = np.deg2rad(degrees)
        at = list(ARMS.values())[-turned % 4]
        return at(outer * np.cos(angle), outer * np.sin(angle))

    for k, (name, at) in enumerate(ARMS.items()):
        x, y = on_ring(entries[k], k)
        a = (x - 2) / 2
        roads.straight(f"{name}er", f"{name}es", at(2, access), at(2, far))
        roads.sine(f"{name}es", f"{name}e", at(2 + a, far), at(2 + a, y), a, np.pi / (far - y), -np.pi / 2)
        x, y = on_ring(exits[k], k)
        a = (x + 2) / 2
        roads.sine(f"{name}x", f"{name}xs", at(x - a, y), at(x - a, far), a, np.pi / (far - y), -np.pi / 2)
        roads.straight(f"{name}xs", f"{name}xr", at(-2, far), at(-2, access))


def intersection(roads: Roads, c: Config) -> None:
    right, left, outer, access = 9, 13, 11.0, 100
    for k in range(4):
        angle = np.radians(90 * k)
        rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        start, end, there, here, middle, away, back = (rotation @ np.array(point) for point in (
            (2.0, access + outer), (2.0, outer), (2.0, -outer), (outer, outer), (-left + 2.0, left - 2.0),
            (outer, 2.0), (access + outer, 2.0)))
        priority = 3 if k % 2 else 1
        more: dict[str, Any] = {"priority": priority, "limit": 10.0}
        o, ir, before = f"o{k}", f"ir{k}", f"il{(k - 1) % 4}"
        across, after = f"il{(k + 2) % 4}", f"il{(k + 1) % 4}"
        roads.straight(o, ir, start, end, **more)
        roads.circle(ir, before, here, right, angle + np.radians(180), angle + np.radians(270), **more)
        roads.circle(ir, after, middle, left, angle + np.radians(0), angle + np.radians(-90), clockwise=False,
                     **{**more, "priority": priority - 1})
        roads.straight(ir, across, end, there, **more)
        roads.straight(before, f"o{(k - 1) % 4}", away, back, **more)


def parking(roads: Roads, c: Config) -> None:
    for k in range(14):
        x = (k + 1 - 7) * 4.0 - 4.0 / 2
        roads.straight("a", "b", [x, 10], [x, 18], width=4.0)
        roads.straight("b", "c", [x, -10], [x, -18], width=4.0)


def racetrack(roads: Roads, c: Config) -> None:
    more: dict[str, Any] = {"width": 5, "limit": 10.0}
    for y in (0, 5):
        roads.straight("a", "b", [42, y], [100, y], **more)
    roads.arcs("b", "c", [100, -20], (20, 90, -1), (25, 90, -1), **more)
    for x in (120, 125):
        roads.straight("c", "d", [x, -20], [x, -30], **more)
    roads.arcs("d", "e", [105, -30], (15, 0, -181), (20, 0, -181), **more)
    roads.arcs("e", "f", [70, -30], (20, 0, 136), (15, 0, 137), clockwise=True, **more)
    roads.straight("f", "g", [55.7, -15.7], [35.7, -35.7], **more)
    roads.straight("f", "g", [59.3934, -19.2], [39.3934, -39.2], **more)
    roads.arcs("g", "h", [18.1, -18.1], (25, 315, 170), (30, 315, 165), **more)
    roads.arcs("h", "i", [18.1, -18.1], (25, 170, 56), (30, 170, 58), **more)
    roads.arcs("i", "a", [43.2, 23.4], (23.5, 240, 270), (18.5, 238, 268), clockwise=True, **more)


def racetrack_large(roads: Roads, c: Config) -> None:
    more = {"width": 5, "limit": c["speed_limit"]}
    for y in (0, 5, 10):
        roads.straight("a", "b", [42, y], [200, y], **more)
    roads.arcs("b", "c", [200, -20], *[(r, 90, -1) for r in (20, 25, 30)], **more)
    for x in (220, 225, 230):
        roads.straight("c", "d", [x, -20], [x, -61.0], **more)
    roads.arcs("d", "e", [205, -60], *[(r, 0, -181) for r in (15, 20, 25)], **more)
    roads.arcs("e", "f", [170, -60], (20, 0, 136), (15, 0, 137), (10, 0, 137), clockwise=True, **more)
    away = np.array([-30, -30])
    a, b = np.array([155.7, -45.7]), np.array([135.7, -65.7]) + away
    a2, b2 = np.array([159.3934, -49.2]), np.array([139.3934, -69.2]) + away
    a3, b3 = (np.array([p[0] + 2 * (q[0] - p[0]), p[1] + 2 * (q[1] - p[1])]) for p, q in ((a, a2), (b, b2)))
    for start, end in ((a, b), (a2, b2), (a3, b3)):
        roads.straight("f", "g", start, end, **more)
    centre = np.array([118.1, -48.1]) + away
    roads.arcs("g", "h", centre, (25, 317, 202), (30, 317, 205), (35, 317, 205), **more)
    leave, join = np.deg2rad(205), np.deg2rad(30)
    for k in (0, 5, 10):
        start = np.array([centre[0] + (25 + k) * np.cos(leave), centre[1] + (25 + k) * np.sin(leave)])
        end = np.array([42 - (15 + k) * np.cos(join), -15 - (15 + k) * np.sin(join)])
        roads.straight("h", "i", start, end, **more)
    roads.arcs("i", "a", np.array([42, -15]), (15, 210, 88), (20, 210, 90), (25, 212, 88), **more)


def racetrack_oval(roads: Roads, c: Config) -> None:
    length, n = c["length"], c["no_lanes"]
    more: dict[str, Any] = {"width": 5, "limit": 10}
    offsets = [0] + [5 * k for k in range(1, n - 1)] + [5 * (n - 1)]
    for k in offsets:
        roads.straight("a", "b", [0, k], [length + 1, k], **more)
    roads.arcs("b", "c", [length, -20], *[(20 + k, 90, 0) for k in offsets], **more)
    for k in offsets:
        roads.straight("c", "d", [length + 20 + k, -20], [length + 20 + k, -50], **more)
    roads.arcs("d", "e", [length + 5, -50], *[(15 + k, 0, -90) for k in offsets], **more)
    for k in offsets:
        roads.straight("e", "f", [length + 5, -(65 + k)], [-5, -(65 + k)], **more)
    roads.arcs("f", "g", [-5, -50], *[(15 + k, -90, -180) for k in offsets], **more)
    for k in offsets:
        roads.straight("g", "h", [-20 - k, -50], [-20 - k, -20], **more)
    roads.arcs("h", "a", [0, -20], *[(20 + k, 180, 90) for k in offsets], **more)


def lane_keeping(roads: Roads, c: Config) -> None:
    roads.sine("a", "b", [0, 0], [500, 0], 5, 2 * np.pi / 100, 0, width=10)
    roads.straight("c", "d", [50, 50], [115, 15], width=10)
    roads.straight("d", "a", [115, 15], [135, 15 + 20 * (15 - 50) / (115 - 50)], width=10)
