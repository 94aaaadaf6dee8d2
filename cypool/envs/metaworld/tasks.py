"""The fifty tasks of Meta-World in numbers, and the numbers that a reset draws for them."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cypool.util.arguments import check_array

Point = tuple[float, ...]
Box = tuple[Point, Point]

MOST_GOALS = 100_000  # of a task

# where the hand begins, which the package rounds to float32 in half of the tasks
_BEHIND, _BEFORE = (0.0, 0.6, 0.2), (0.0, 0.4, 0.2)
_BEHIND_32 = (0.0, 0.6000000238418579, 0.20000000298023224)
_BEFORE_32 = (0.0, 0.4000000059604645, 0.20000000298023224)
# where it can move
_TABLE = ((-0.5, 0.4, 0.05), (0.5, 1.0, 0.5))
_LOWER = ((-0.5, 0.4, -0.15), (0.5, 1.0, 0.5))


class Task(NamedTuple):
    """The numbers in which the tasks differ.

    Attributes:
        file: The model, without the common part of all paths.
        draws: Bounds of the three or six numbers that a reset draws as its goal.
        goals: Range of goals, to which observed ones are clipped.
        hand: Initial position of the hand.
        mocap: Range in which it can move.
        apart: Minimum distance between the two places of a goal; closer ones are drawn again.
    """

    file: str
    draws: Box
    goals: Box
    hand: Point = _BEHIND
    mocap: Box = _TABLE
    apart: float = 0.0


def _drawn(file: str, draws: Box, **more: Any) -> Task:
    """Returns a task in which the last three numbers that a reset draws are the goal."""
    return Task(file, draws, (draws[0][3:], draws[1][3:]), **more)


TASKS = {
    "assembly-v3": _drawn("assembly_peg", ((0.0, 0.6, 0.02, -0.1, 0.75, 0.1), (0.0, 0.6, 0.02, 0.1, 0.85, 0.1)),
        hand=_BEHIND_32, apart=0.1),
    "basketball-v3": Task("basketball", ((-0.1, 0.6, 0.0299, -0.1, 0.85, 0.0), (0.1, 0.7, 0.0301, 0.1, 0.9000001, 0.0)),
        ((-0.1, 0.767, 0.2499), (0.1, 0.8170001, 0.2501)), hand=_BEHIND_32, apart=0.15),
    "bin-picking-v3": _drawn("bin_picking",
        ((-0.21, 0.65, 0.02, 0.1199, 0.699, -0.001), (-0.03, 0.75, 0.02, 0.1201, 0.701, 0.001)),
        mocap=((-0.5, 0.4, 0.07), (0.5, 1.0, 0.5))),
    "box-close-v3": _drawn("box", ((-0.05, 0.5, 0.02, -0.1, 0.7, 0.133), (0.05, 0.55, 0.02, 0.1, 0.8, 0.133)),
        hand=_BEHIND_32, apart=0.25),
    "button-press-topdown-v3": Task("button_press_topdown", ((-0.1, 0.8, 0.115), (0.1, 0.9, 0.115)), _TABLE,
        hand=_BEFORE_32),
    "button-press-topdown-wall-v3": Task("button_press_topdown_wall", ((-0.1, 0.8, 0.115), (0.1, 0.9, 0.115)), _TABLE,
        hand=_BEFORE_32),
    "button-press-v3": Task("button_press", ((-0.1, 0.85, 0.115), (0.1, 0.9, 0.115)), _TABLE, hand=_BEFORE_32),
    "button-press-wall-v3": Task("button_press_wall", ((-0.05, 0.85, 0.1149), (0.05, 0.9, 0.1151)), _TABLE,
        hand=_BEFORE_32),
    "coffee-button-v3": Task("coffee", ((-0.1, 0.8, -0.001), (0.1, 0.9, 0.001)),
        ((-0.101, 0.6100000000000001, 0.298), (0.101, 0.71, 0.302)), hand=_BEFORE),
    "coffee-pull-v3": _drawn("coffee",
        ((-0.05, 0.7, -0.001, -0.1, 0.55, -0.001), (0.05, 0.75, 0.001, 0.1, 0.65, 0.001)), hand=_BEFORE, apart=0.15),
    "coffee-push-v3": _drawn("coffee",
        ((-0.1, 0.55, -0.001, -0.05, 0.7, -0.001), (0.1, 0.65, 0.001, 0.05, 0.75, 0.001)), hand=_BEFORE, apart=0.15),
    "dial-turn-v3": Task("dial", ((-0.1, 0.7, 0.0), (0.1, 0.8, 0.0)), ((-0.1, 0.73, 0.0299), (0.1, 0.83, 0.0301)),
        hand=_BEHIND_32),
    "disassemble-v3": Task("assembly_peg",
        ((0.0, 0.6, 0.025, -0.1, 0.6, 0.1699), (0.1, 0.75, 0.02501, 0.1, 0.75, 0.1701)),
        ((-0.1, 0.6, 0.1749), (0.1, 0.75, 0.1751)), hand=_BEFORE_32, apart=0.1),
    "door-close-v3": Task("door_pull", ((0.0, 0.85, 0.15), (0.1, 0.95, 0.15)),
        ((0.2, 0.65, 0.1499), (0.3, 0.75, 0.1501)), hand=(-0.5, 0.6000000238418579, 0.20000000298023224)),
    "door-lock-v3": Task("door_lock", ((-0.1, 0.8, 0.15), (0.1, 0.85, 0.15)), _LOWER, hand=_BEHIND_32, mocap=_LOWER),
    "door-open-v3": Task("door_pull", ((0.0, 0.85, 0.15), (0.1, 0.95, 0.15)),
        ((-0.3, 0.4, 0.1499), (-0.2, 0.5, 0.1501))),
    "door-unlock-v3": Task("door_lock", ((-0.1, 0.8, 0.15), (0.1, 0.85, 0.15)), ((0.0, 0.64, 0.21), (0.2, 0.7, 0.2111)),
        hand=_BEHIND_32, mocap=_LOWER),
    "hand-insert-v3": _drawn("table_with_hole",
        ((-0.1, 0.6, 0.05, -0.04, 0.8, -0.0201), (0.1, 0.7, 0.05, 0.04, 0.88, -0.0199)), hand=_BEHIND_32, mocap=_LOWER,
        apart=0.15),
    "drawer-close-v3": Task("drawer", ((-0.1, 0.9, 0.0), (0.1, 0.9, 0.0)), _TABLE, hand=_BEHIND_32),
    "drawer-open-v3": Task("drawer", ((-0.1, 0.9, 0.0), (0.1, 0.9, 0.0)), _TABLE, hand=_BEHIND_32),
    "faucet-open-v3": Task("faucet", ((-0.05, 0.8, 0.0), (0.05, 0.85, 0.0)), _LOWER, hand=_BEFORE, mocap=_LOWER),
    "faucet-close-v3": Task("faucet", ((-0.1, 0.8, 0.0), (0.1, 0.85, 0.0)), _LOWER, hand=_BEFORE, mocap=_LOWER),
    "hammer-v3": Task("hammer", ((-0.1, 0.4, 0.0), (0.1, 0.5, 0.0)), ((0.2399, 0.7399, 0.109), (0.2401, 0.7401, 0.111)),
        hand=_BEFORE),
    "handle-press-side-v3": Task("handle_press_sideways", ((-0.35, 0.65, -0.001), (-0.25, 0.75, 0.001)), _TABLE),
    "handle-press-v3": Task("handle_press", ((-0.1, 0.8, -0.001), (0.1, 0.9, 0.001)),
        ((-0.1, 0.55, 0.04), (0.1, 0.7, 0.08))),
    "handle-pull-side-v3": Task("handle_press_sideways", ((-0.35, 0.65, 0.0), (-0.25, 0.75, 0.0)), _TABLE),
    "handle-pull-v3": Task("handle_press", ((-0.1, 0.8, -0.001), (0.1, 0.9, 0.001)),
        ((-0.1, 0.55, 0.04), (0.1, 0.7, 0.18))),
    "lever-pull-v3": Task("lever_pull", ((-0.1, 0.7, 0.0), (0.1, 0.8, 0.0)), _LOWER, hand=_BEFORE_32, mocap=_LOWER),
    "pick-place-wall-v3": _drawn("pick_place_wall_v3",
        ((-0.05, 0.6, 0.015, -0.05, 0.85, 0.05), (0.05, 0.65, 0.015, 0.05, 0.9, 0.3)), apart=0.15),
    "pick-out-of-hole-v3": _drawn("pick_out_of_hole",
        ((0.0, 0.75, 0.02, -0.1, 0.5, 0.15), (0.0, 0.75, 0.02, 0.1, 0.6, 0.3)),
        mocap=((-0.5, 0.4, -0.05), (0.5, 1.0, 0.5)), apart=0.15),
    "pick-place-v3": _drawn("pick_place_v3", ((-0.1, 0.6, 0.02, -0.1, 0.8, 0.05), (0.1, 0.7, 0.02, 0.1, 0.9, 0.3)),
        apart=0.15),
    "plate-slide-v3": _drawn("plate_slide", ((0.0, 0.6, 0.0, -0.1, 0.85, 0.0), (0.0, 0.6, 0.0, 0.1, 0.9, 0.0)),
        hand=_BEHIND_32),
    "plate-slide-side-v3": _drawn("plate_slide_sideway",
        ((0.0, 0.6, 0.0, -0.3, 0.54, 0.0), (0.0, 0.6, 0.0, -0.25, 0.66, 0.0)), hand=_BEHIND_32),
    "plate-slide-back-v3": _drawn("plate_slide",
        ((0.0, 0.85, 0.0, -0.1, 0.6, 0.015), (0.0, 0.85, 0.0, 0.1, 0.6, 0.015)), hand=_BEHIND_32),
    "plate-slide-back-side-v3": _drawn("plate_slide_sideway",
        ((-0.25, 0.6, 0.0, -0.05, 0.6, 0.015), (-0.25, 0.6, 0.0, 0.15, 0.6, 0.015)), hand=_BEHIND_32),
    "peg-insert-side-v3": Task("peg_insertion_side",
        ((0.0, 0.5, 0.02, -0.35, 0.4, -0.001), (0.2, 0.7, 0.02, -0.25, 0.7, 0.001)),
        ((-0.31999999999999995, 0.4, 0.129), (-0.22, 0.7, 0.131)), apart=0.1),
    "peg-unplug-side-v3": Task("peg_unplug_side", ((-0.25, 0.6, -0.001), (-0.15, 0.8, 0.001)),
        ((-0.055999999999999994, 0.6, 0.13), (0.04400000000000001, 0.8, 0.132))),
    "soccer-v3": _drawn("soccer", ((-0.1, 0.6, 0.03, -0.1, 0.8, 0.0), (0.1, 0.7, 0.03, 0.1, 0.9, 0.0)), apart=0.15),
    "stick-push-v3": _drawn("stick_obj",
        ((-0.08, 0.58, 0.0, 0.399, 0.55, 0.1319), (-0.03, 0.62, 0.001, 0.401, 0.6, 0.1321)), apart=0.1),
    "stick-pull-v3": _drawn("stick_obj",
        ((-0.1, 0.55, 0.0, 0.35, 0.45, 0.0199), (0.0, 0.65, 0.001, 0.45, 0.55, 0.0201)),
        mocap=((-0.5, 0.35, 0.05), (0.5, 1.0, 0.5)), apart=0.1),
    "push-v3": _drawn("push_v3", ((-0.1, 0.6, 0.02, -0.1, 0.8, 0.01), (0.1, 0.7, 0.02, 0.1, 0.9, 0.02)), apart=0.15),
    "push-wall-v3": _drawn("push_wall_v3",
        ((-0.05, 0.6, 0.015, -0.05, 0.85, 0.01), (0.05, 0.65, 0.015, 0.05, 0.9, 0.02)), apart=0.15),
    "push-back-v3": _drawn("push_back_v3", ((-0.1, 0.8, 0.02, -0.1, 0.6, 0.0199), (0.1, 0.85, 0.02, 0.1, 0.7, 0.0201)),
        hand=_BEHIND_32, apart=0.15),
    "reach-v3": _drawn("reach_v3", ((-0.1, 0.6, 0.02, -0.1, 0.8, 0.05), (0.1, 0.7, 0.02, 0.1, 0.9, 0.3)), apart=0.15),
    "reach-wall-v3": _drawn("reach_wall_v3",
        ((-0.05, 0.6, 0.015, -0.05, 0.85, 0.05), (0.05, 0.65, 0.015, 0.05, 0.9, 0.3)), apart=0.15),
    "shelf-place-v3": _drawn("shelf_placing",
        ((-0.1, 0.5, 0.019, -0.1, 0.8, 0.299), (0.1, 0.6, 0.021, 0.1, 0.9, 0.301)), hand=_BEHIND_32, apart=0.1),
    "sweep-into-v3": _drawn("table_with_hole",
        ((-0.1, 0.6, 0.02, -0.001, 0.8399, 0.0199), (0.1, 0.7, 0.02, 0.001, 0.8401, 0.0201)), apart=0.15),
    "sweep-v3": Task("sweep_v3", ((-0.1, 0.6, 0.02), (0.1, 0.7, 0.02)), ((0.49, 0.6, 0.0), (0.51, 0.7, 0.02))),
    "window-open-v3": Task("window_horizontal", ((-0.1, 0.7, 0.16), (0.1, 0.9, 0.16)), _TABLE, hand=_BEFORE_32),
    "window-close-v3": Task("window_horizontal", ((0.0, 0.75, 0.2), (0.0, 0.9, 0.2)), _TABLE, hand=_BEFORE_32),
}


def check_goals(name: str, goals: Any) -> tuple[Point, ...]:
    """Returns goals of a task, a sequence or an array, as tuples of floats.

    Raises:
        TypeError, ValueError: The goals are not such numbers, or there are too many or none.
    """
    size = len(TASKS[name].draws[0])
    expected = f"1 to {MOST_GOALS} goals of {size} finite numbers for {name}"
    array = check_array("goals", goals, expected)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"goals: expected {expected}, got {array.dtype}")
    # before a copy is made: a view of one number may say that it has millions
    if array.ndim != 2 or array.shape[1] != size or not 1 <= len(array) <= MOST_GOALS:
        raise ValueError(f"goals: expected {expected}, got an array of shape {array.shape}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"goals: expected {expected}, got non-finite numbers")
    return tuple(map(tuple, array.tolist()))


def draw(name: str, stream: Any) -> list[float]:
    """Returns the numbers that a reset draws for a task from a NumPy stream, a `RandomState` or a `Generator`."""
    task = TASKS[name]
    low, high = task.draws
    while True:
        drawn = stream.uniform(low, high, size=len(low))
        # of sweep-into, whose goal is a hole in the table
        goal = drawn[3:5] if len(low) == 6 else np.array([0.0, 0.84])
        if not task.apart or not np.linalg.norm(drawn[:2] - goal) < task.apart:
            return list(map(float, drawn))


def draw_goals(names: list[str], seed: int, count: int) -> dict[str, tuple[Point, ...]]:
    """Returns the goals, by task, that the package draws for a benchmark of tasks in this order, without simulating."""
    stream = np.random.RandomState(seed)
    goals = {}
    for name in names:
        # two in each reset, of which the second one stays
        drawn = [tuple(draw(name, stream)) for _ in range(2 * count)]
        goals[name] = tuple(drawn[1::2])
    return goals
