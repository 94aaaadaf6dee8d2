"""minigrid itself: the reference for `cypool.testing.check_parity`, which also draws pictures."""
from __future__ import annotations

import functools
import importlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypool.envs.shared.pixels.pictures import draw
from cypool.util.packages import require_version

VERSION = "3.2.0"


def need_minigrid(what: str) -> None:
    """Raises an ImportError unless minigrid is installed in the version that our levels match."""
    require_version(f"{what} needs", "minigrid", (VERSION,), 'pip install "cypool[minigrid]"')


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns minigrid's environment with the same id and options in a `SyncVectorEnv`, and its name and version."""
    need_minigrid("check_parity")
    from gymnasium.vector import SyncVectorEnv

    # BabyAI's prints a line for each level that it rejects
    vars(importlib.import_module("minigrid.envs.babyai.core.roomgrid_level"))["print"] = lambda *_: None
    id = ours.env_spec.id
    make = functools.partial(_make, id, **options)
    # that there is a newer version of the level
    with warnings.catch_warnings(action="ignore"):
        theirs = SyncVectorEnv([make] * ours.num_envs, autoreset_mode=ours.metadata["autoreset_mode"])
    return theirs, f"{id} of minigrid {VERSION}"


def _make(id: str, obs_type: str = "partial", action_prob: float | None = None, random_action: int | None = None,
          no_death_types: tuple[str, ...] = (), death_cost: float = -1.0, obs_tile_size: int = 8,
          view_size: int | None = None, image_only: bool = False, goal_direction: str | None = None,
          bonus: str | None = None, bonus_scale: float = 1.0, **options: Any) -> Any:
    """Returns minigrid's environment in the wrappers that the options stand for."""
    import gymnasium
    from minigrid import wrappers

    env: Any = gymnasium.make(id, disable_env_checker=True, **options)
    if no_death_types:
        env = wrappers.NoDeath(env, no_death_types, death_cost)
    if action_prob is not None:
        env = wrappers.StochasticActionWrapper(env, action_prob, random_action)
    if bonus == "action":
        env = wrappers.ActionBonus(env)
    elif bonus == "position":
        env = wrappers.PositionBonus(env, bonus_scale)
    if view_size is not None:
        env = wrappers.ViewSizeWrapper(env, view_size)
    if goal_direction is not None:
        env = wrappers.DirectionObsWrapper(env, goal_direction)
    kind = {"full": wrappers.FullyObsWrapper, "onehot": wrappers.OneHotPartialObsWrapper,
            "symbolic": wrappers.SymbolicObsWrapper, "flat": wrappers.FlatObsWrapper,
            "rgb": functools.partial(wrappers.RGBImgObsWrapper, tile_size=obs_tile_size),
            "rgb_partial": functools.partial(wrappers.RGBImgPartialObsWrapper, tile_size=obs_tile_size)}.get(obs_type)
    if kind is not None:
        env = kind(env)
    return wrappers.ImgObsWrapper(env) if image_only else env


def draw_level(codes: NDArray[np.uint8], agent: tuple[int, int], direction: int, carried: tuple[int, int, int],
               see_through_walls: bool, agent_view_size: int, highlight: bool, tile_size: int,
               agent_pov: bool) -> NDArray[np.uint8]:
    """Draws a level with minigrid's own code.

    Args:
        codes: uint8, (width, height, 3): type, color and state of all cells.
        agent: Its column and row.
        direction: Its direction: right, down, left, up.
        carried: Type, color and state of the object that the agent carries; type 1: nothing.
        see_through_walls, agent_view_size: The level's options.
        highlight, tile_size, agent_pov: As in minigrid's constructors.

    Returns:
        uint8, (height, width, 3), with `tile_size` pixels per cell.

    Raises:
        ImportError: minigrid is not installed, or has a different version.
    """
    need_minigrid("render")
    from minigrid.core.grid import Grid
    from minigrid.core.world_object import WorldObj

    width, height = codes.shape[:2]
    # any level draws all of them
    picture: NDArray[np.uint8] = draw("minigrid.envs:EmptyEnv", {}, {
        "grid": Grid.decode(codes)[0], "width": width, "height": height, "agent_pos": agent, "agent_dir": direction,
        "carrying": WorldObj.decode(*carried), "see_through_walls": see_through_walls,
        "agent_view_size": agent_view_size, "highlight": highlight, "tile_size": tile_size, "agent_pov": agent_pov})
    return picture
