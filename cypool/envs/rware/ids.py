"""The ids of the robotic warehouse: those that rware registers, and all others that follow its names."""
from __future__ import annotations

from typing import Any

from cypool.envs.family import Family
from cypool.registration.registry import register_pattern

FAMILY = Family(
    name="rware",
    title="Robotic warehouse",
    description="agents bring requested shelves to goals and return them",
    extra="rware",
    reference="rware 2.0.0",
    reference_package="rware",
    fidelity="everything except rendering",
    smoke_ids=("rware-tiny-2ag-v2",),
    keys={"*": {"up": 1, "left": 2, "right": 3, "space": 4}})

# rows and columns of shelves
_SIZES = {"tiny": (1, 3), "small": (2, 3), "medium": (2, 5), "large": (3, 5)}
_REQUESTS = {None: 1.0, "-easy": 2.0, "-hard": 0.5}
_TYPES = {None: "flattened", "-img": "image", "-imgdict": "image_dict"}
_REWARDS = {"indiv": "individual", "global": "global", "twostage": "two_stage"}
_COMMON = r"rware(?P<kind>-img|-imgdict)?(?P<undirected>-Nd)?(-(?P<sight>\d{1,6})s)?"
PATTERN = _COMMON + (r"-(?P<size>tiny|small|medium|large)(-(?P<height>\d{1,6})h)?-(?P<agents>\d{1,6})ag"
                     r"(?P<difficulty>-easy|-hard)?-v2")
PATTERN_OF_SHELVES = _COMMON + (r"-(?P<rows>\d{1,6})x(?P<cols>\d{1,6})-(?P<height>\d{1,6})h-(?P<agents>\d{1,6})ag"
                                r"-(?P<requests>\d{1,6})req-(?P<reward>indiv|global|twostage)-v2")


def _common(kind: str | None, undirected: str | None, sight: str | None, agents: str) -> dict[str, Any]:
    return {"observation_type": _TYPES[kind], "image_observation_directional": undirected is None,
            "sensor_range": int(sight or 1), "n_agents": int(agents)}


def options_of(*, size: str, height: str | None, agents: str, difficulty: str | None,
               **common: str | None) -> dict[str, Any]:
    """Returns the options that an id with a size encodes."""
    rows, cols = _SIZES[size]
    return {**_common(agents=agents, **common), "shelf_rows": rows, "shelf_columns": cols,
            "column_height": int(height or 8), "request_queue_size": int(int(agents) * _REQUESTS[difficulty])}


def options_of_shelves(*, rows: str, cols: str, height: str, agents: str, requests: str, reward: str,
                       **common: str | None) -> dict[str, Any]:
    """Returns the options that an id with rows and columns of shelves encodes."""
    return {**_common(agents=agents, **common), "shelf_rows": int(rows), "shelf_columns": int(cols),
            "column_height": int(height), "request_queue_size": int(requests), "reward_type": _REWARDS[reward]}


for _pattern, _parse, _examples in (
        (PATTERN, options_of, ("rware-tiny-2ag-v2", "rware-tiny-4ag-v2", "rware-small-4ag-v2", "rware-medium-4ag-v2",
                               "rware-large-8ag-v2", "rware-tiny-2ag-hard-v2", "rware-img-tiny-4ag-v2",
                               "rware-imgdict-Nd-small-4ag-easy-v2")),
        (PATTERN_OF_SHELVES, options_of_shelves, ("rware-2s-1x3-4h-6ag-3req-twostage-v2",))):
    register_pattern(_pattern, _parse, entry_point="cypool.envs.rware.rware:Warehouse", examples=_examples,
                     reference="cypool.envs.rware.reference:make_reference")
