"""mpe2 itself: its environments with our options, and its pictures."""
from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.envs.shared.pixels.pictures import drawing
from cypool.util.packages import require_version

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = "1.1.1"


def need_mpe2(what: str) -> None:
    """Raises an ImportError unless mpe2 is installed in the version that our environments match."""
    require_version(f"{what} needs", "mpe2", (VERSION,), 'pip install "cypool[mpe2]"')


def module_of(id: str) -> str:
    """Returns mpe2's name of an environment, such as "simple_spread_v3"."""
    return id.removeprefix("mpe2/").replace("-", "_")


def make_env(module: str, kind: str, options: dict[str, Any], render_mode: str | None = None) -> Any:
    """Returns an mpe2 environment, a "parallel_env" or "raw_env", with our options."""
    given = dict(options)
    stage = given.pop("curriculum_stage", None)
    if stage is not None:
        given["curriculum"] = True
    # of packages that they import
    with warnings.catch_warnings(action="ignore"):
        env = getattr(importlib.import_module(f"mpe2.{module}"), kind)(render_mode=render_mode, **given)
    if stage is not None:
        # a property of mpe2's, which cannot be set, is always 0
        scenario = env.unwrapped.scenario
        scenario.__class__ = type("Staged", (type(scenario),), {"curriculum_stage": stage})
    return env


class _Chosen:
    """Replaces a random stream: draws the goals that were chosen, and no positions."""

    def __init__(self, goals: Sequence[int]):
        self.goals: Iterator[int] = iter(goals)

    def integers(self, *bounds: int) -> int:
        return next(self.goals, 0)

    def uniform(self, low: float, high: float, size: int | None = None) -> Any:
        return 0.0 if size is None else np.zeros(size)

    def __deepcopy__(self, memo: Any) -> _Chosen:
        return self


@functools.lru_cache(maxsize=32)
def _painter(module: str, options: tuple[tuple[str, Any], ...]) -> Any:
    painter = make_env(module, "raw_env", dict(options), "rgb_array")
    painter.reset(seed=0)
    return painter


def draw_world(id: str, options: Mapping[str, Any], state: dict[str, Any]) -> NDArray[np.uint8]:
    """Draws a world with mpe2's own code.

    Args:
        id: The environment's id.
        options: Ours.
        state: The numbers in world.h.

    Returns:
        uint8, (700, 700, 3).

    Raises:
        ImportError: mpe2 is not installed, or has a different version.
    """
    need_mpe2("render")
    with drawing():
        painter = _painter(module_of(id), tuple(sorted(options.items())))
        world = painter.world
        # goals have colours
        painter.scenario.reset_world(world, _Chosen((state["goal"], state["key"])))
        painter.original_cam_range = state["camera_range"]
        messages = np.reshape(state.get("message", []), (len(world.agents), -1))
        for agent, position, message in zip(world.agents, state["position"], messages, strict=True):
            agent.state.p_pos, agent.state.c = np.array([position["x"], position["y"]]), message
        for landmark, place in zip(world.landmarks, state["landmark"], strict=True):
            landmark.state.p_pos = np.array([place["x"], place["y"]])
        for landmark, treasure in zip(world.landmarks, state.get("treasure", ()), strict=False):
            landmark.color, landmark.alive = world.treasure_colors[treasure["kind"]], bool(treasure["is_there"])
        for agent, kind in zip(world.agents, state.get("held", ()), strict=False):
            if kind >= 0:
                agent.color = 0.85 * world.treasure_colors[kind]
        return np.ascontiguousarray(painter.render())
