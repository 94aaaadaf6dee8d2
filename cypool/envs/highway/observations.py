"""Checks the options `observation` and `action`, and derives the spaces that they define."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cypool.options import Option, boolean, choice, integer, number, optional
from cypool.spec import Array, Discrete
from cypool.util.arguments import check_choice, check_dict, check_float, check_int, check_list, shown

Check = Callable[[str, Any], Any]
# of vehicles, in the order of observations.h
FEATURES = ("presence", "x", "y", "vx", "vy", "heading", "cos_h", "sin_h", "cos_d", "sin_d", "long_off", "lat_off",
            "ang_off")
MOST = 1e6
PARTS = {"KinematicsGoal": ("observation", "achieved_goal", "desired_goal"),
         "AttributesObservation": ("state", "derivative", "reference_state")}


def interval(name: str, value: Any) -> list[float]:
    """Checks two increasing numbers."""
    low, high = numbers(name, value, 2, 2)
    if not low < high:
        raise ValueError(f"{name}: expected two increasing numbers, got {shown(value)}")
    return [low, high]


def numbers(name: str, value: Any, least: int, most: int, low: float = -MOST) -> list[float]:
    """Checks a list of numbers; ints stay ints."""
    given = _items(name, value, most, "a list of numbers")
    if not least <= len(given) <= most:
        raise ValueError(f"{name}: expected {least} to {most} numbers, got {shown(value)}")
    checked = [check_float(name, each, low, MOST) for each in given]
    return [each if type(each) is int else own for each, own in zip(given, checked, strict=True)]


def _items(name: str, value: Any, most: int, expected: str) -> list[Any]:
    """Returns a list, or an array converted to Python numbers."""
    if isinstance(value, np.ndarray):
        # one number's view may have more rows than there is memory
        if max(value.size, *value.shape, 0) > most:
            raise ValueError(f"{name}: expected {expected}, got an array of shape {value.shape}")
        value = value.tolist()
    return check_list(name, value, expected)


def _dict(name: str, value: Any, keys: Iterable[str], expected: str) -> dict[str, Any]:
    given = check_dict(name, value, None, expected)
    unknown = [key for key in given if key not in keys]
    if unknown:
        raise ValueError(f"{name}: expected only {', '.join(sorted(keys))}, got {shown(unknown[0])}")
    return given


def _texts(name: str, value: Any, expected: str) -> list[str]:
    given = check_list(name, value, expected)
    # arrays compare item by item
    if not all(isinstance(each, str) for each in given):
        raise TypeError(f"{name}: expected {expected}, got {shown(value)}")
    return given


def _features(known: tuple[str, ...]) -> Check:
    def check(name: str, value: Any) -> list[str]:
        given = _texts(name, value, "a list of features")
        if not 1 <= len(given) <= 16 or not all(each in known for each in given):
            raise ValueError(f"{name}: expected 1 to 16 of {', '.join(known)}, got {shown(value)}")
        return given

    return check


def _ranges(name: str, value: Any) -> dict[str, list[float]]:
    given = _dict(name, value, FEATURES, "a dict from features to ranges")
    return {key: interval(f"{name}[{key!r}]", each) for key, each in given.items()}


def _grid_size(name: str, value: Any) -> list[list[float]]:
    given = _items(name, value, 4, "two ranges")
    if len(given) != 2:
        raise ValueError(f"{name}: expected two ranges, got {shown(value)}")
    return [interval(name, each) for each in given]


def _size(name: str, value: Any) -> list[int]:
    given = check_list(name, value, "a width and a height")
    if len(given) != 2:
        raise ValueError(f"{name}: expected a width and a height, got {shown(value)}")
    return [check_int(name, each, 8, 2000) for each in given]


def _speeds(name: str, value: Any) -> list[float]:
    given = numbers(name, value, 2, 16)
    if not given[0] < given[-1]:
        raise ValueError(f"{name}: expected the last speed to be greater than the first, got {shown(value)}")
    return given


def _attributes(name: str, value: Any) -> list[str]:
    known = list(PARTS["AttributesObservation"])
    given = _texts(name, value, f"{known}")
    if given != known:
        raise ValueError(f"{name}: expected {known}, got {shown(value)}")
    return given


_KINEMATICS = {
    "features": optional(_features(FEATURES), ""), "vehicles_count": integer(5, 2, 1000, ""),
    "features_range": optional(_ranges, ""), "absolute": boolean(False, ""),
    "order": choice("sorted", ("sorted", "shuffled", "unsorted"), ""), "normalize": boolean(True, ""),
    "clip": boolean(True, ""), "see_behind": boolean(False, ""), "observe_intentions": boolean(False, ""),
    "include_obstacles": boolean(True, ""),
    # in configs of intersections; has no effect
    "flatten": boolean(False, "")}
_OBSERVATIONS: dict[str, dict[str, Option]] = {
    "Kinematics": _KINEMATICS,
    "ExitObservation": _KINEMATICS,
    "TimeToCollision": {"horizon": number(10, 1, 1000, "")},
    "OccupancyGrid": {
        "features": optional(_features((*FEATURES, "on_road")), ""),
        "grid_size": optional(_grid_size, ""),
        "grid_step": optional(lambda name, value: numbers(name, value, 2, 2, 1e-3), ""),
        "features_range": optional(_ranges, ""),
        "align_to_vehicle_axes": boolean(False, ""), "clip": boolean(True, ""), "as_image": boolean(False, "")},
    "KinematicsGoal": {
        "features": Option(FEATURES[1:5] + FEATURES[6:8], _features(FEATURES[:8]), ""),
        "scales": Option((100, 100, 5, 5, 1, 1), lambda name, value: numbers(name, value, 1, 16, 1e-6), ""),
        "normalize": boolean(True, "")},
    "AttributesObservation": {"attributes": Option(PARTS["AttributesObservation"], _attributes, "")},
    "LidarObservation": {"cells": integer(16, 1, 1000, ""), "maximum_range": number(60, 0.1, MOST, ""),
                         "normalize": boolean(True, "")},
    "GrayscaleObservation": {
        "observation_shape": Option((128, 64), _size, ""), "stack_size": integer(4, 1, 64, ""),
        "weights": Option((0.2989, 0.587, 0.114), lambda name, value: numbers(name, value, 3, 3), ""),
        "scaling": number(None, 0.1, 100, ""),
        "centering_position": optional(lambda name, value: numbers(name, value, 2, 2), "")}}
OBSERVATIONS = tuple(_OBSERVATIONS)
_AXES = {"longitudinal": boolean(True, ""), "lateral": boolean(True, "")}
_SPEEDS = optional(_speeds, "")
_CONTINUOUS = {
    "acceleration_range": optional(interval, ""), "steering_range": optional(interval, ""),
    **_AXES, "dynamical": boolean(False, ""), "clip": boolean(True, ""), "target_speeds": _SPEEDS}
_ACTIONS: dict[str, dict[str, Option]] = {
    "DiscreteMetaAction": {**_AXES, "target_speeds": _SPEEDS},
    "ContinuousAction": {**_CONTINUOUS, "speed_range": optional(interval, "")},
    "DiscreteAction": {**_CONTINUOUS, "actions_per_axis": integer(3, 2, 64, "")}}
ACTIONS = tuple(_ACTIONS)


def _checked(name: str, value: Any, kinds: dict[str, dict[str, Option]], around: dict[str, str]) -> dict[str, Any]:
    """Returns a complete dict of one of these kinds, or a dict that wraps others: `around` maps its type to the key.

    A wrapping dict may contain a list.
    """
    given = _dict(name, value, {"type", *around.values(), *(key for each in kinds.values() for key in each)},
                  "a dict with a type")
    kind = check_choice(f"{name}['type']", given.get("type"), (*kinds, *around))
    if kind in around:
        key = around[kind]
        if given.keys() - {"type", key}:
            raise ValueError(f"{name}: expected only {key} with {kind}, got {min(given.keys() - {'type', key})!r}")
        inner, place = given.get(key), f"{name}[{key!r}]"
        if key.endswith("s"):
            each = [_checked(f"{place}[{k}]", own, kinds, {}) for k, own in
                    enumerate(check_list(place, inner, "a list of observations"))]
            if not 1 <= len(each) <= 8:
                raise ValueError(f"{place}: expected 1 to 8 observations, got {len(each)}")
            return {"type": kind, key: each}
        return {"type": kind, key: _checked(place, inner, kinds, {})}
    unknown = given.keys() - kinds[kind].keys() - {"type"}
    if unknown:
        raise ValueError(f"{name}: expected only {', '.join(kinds[kind])} with {kind}, got {min(unknown)!r}")
    return {"type": kind, **{key: option.check(f"{name}[{key!r}]", given.get(key, option.default))
                             for key, option in kinds[kind].items()}}


def check_observation(name: str, value: Any) -> dict[str, Any]:
    """Checks the option `observation`."""
    checked = _checked(name, value, _OBSERVATIONS, {"MultiAgentObservation": "observation_config",
                                                    "TupleObservation": "observation_configs"})
    for own in parts_of(checked):
        if own["type"] in PARTS and checked["type"] == "TupleObservation":
            raise ValueError(f"{name}: expected single-array observations in a TupleObservation, got {own['type']}")
        if own["type"] == "KinematicsGoal" and len(own["scales"]) != len(own["features"]):
            raise ValueError(f"{name}['scales']: expected one scale per feature, got {shown(own['scales'])}")
        if own["type"] == "OccupancyGrid" and not 1 <= math.prod(grid_shape(own)) <= 10_000:
            raise ValueError(f"{name}['grid_size']: expected 1 to 10000 cells, got {shown(own['grid_size'])} with "
                             f"steps {shown(own['grid_step'])}")
    return checked


def check_action(name: str, value: Any) -> dict[str, Any]:
    """Checks the option `action`."""
    checked = _checked(name, value, _ACTIONS, {"MultiAgentAction": "action_config"})
    own = of_one(checked)
    if not (own["longitudinal"] or own["lateral"]):
        raise ValueError(f"{name}: expected longitudinal, lateral or both, got neither")
    return checked


def of_one(checked: dict[str, Any]) -> dict[str, Any]:
    """Returns the configuration for one agent's observation or action."""
    inner: dict[str, Any] = checked.get("observation_config") or checked.get("action_config") or checked
    return inner


def parts_of(checked: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the configurations of the parts of an agent's observation."""
    return list(checked.get("observation_configs") or [of_one(checked)])


def grid_shape(own: dict[str, Any]) -> list[int]:
    """Returns the numbers of cells of a grid along its axes."""
    size = np.array(own["grid_size"] or [[-27.5, 27.5], [-27.5, 27.5]], float)
    step = np.array(own["grid_step"] or [5, 5], float)
    found: list[int] = np.floor((size[:, 1] - size[:, 0]) / step).astype(int).tolist()
    return found


def features_of(own: dict[str, Any]) -> list[str]:
    """Returns the features of an observation."""
    default = ["presence", "vx", "vy", "on_road"] if own["type"] == "OccupancyGrid" else list(FEATURES[:5])
    return list(own["features"] or default)


def horizon_of(own: dict[str, Any], policy_frequency: float) -> int:
    """Returns the number of time steps that times to collision cover."""
    return int(own["horizon"] / (1 / policy_frequency))


def observation_space(own: dict[str, Any], policy_frequency: float) -> Any:
    """Returns the space of one agent's observation."""
    match own["type"]:
        case "Kinematics" | "ExitObservation":
            return Array((own["vehicles_count"], len(features_of(own))), np.float32)
        case "TimeToCollision":
            return Array((3, 3, horizon_of(own, policy_frequency)), np.float32, 0, 1)
        case "OccupancyGrid":
            dtype = np.uint8 if own["as_image"] else np.float32
            return Array((len(features_of(own)), *grid_shape(own)), dtype)
        case "GrayscaleObservation":
            return Array((own["stack_size"], *own["observation_shape"]), np.uint8, stack=(0, own["stack_size"]))
        case "TupleObservation":
            return tuple(observation_space(each, policy_frequency) for each in parts_of(own))
        case "LidarObservation":
            high = 1 if own["normalize"] else own["maximum_range"]
            return Array((own["cells"], 2), np.float32, -high, high)
        case kind:
            shape = (len(own["features"]),) if kind == "KinematicsGoal" else (4, 1)
            return {part: Array(shape, np.float64) for part in PARTS[kind]}


def observation_bytes(own: dict[str, Any], policy_frequency: float) -> int:
    """Returns the bytes of one agent's observation."""
    space = observation_space(own, policy_frequency)
    parts = space.values() if isinstance(space, dict) else (space,)
    return sum(math.prod(part.shape) * part.dtype.itemsize for part in parts)


def action_space(own: dict[str, Any]) -> Array | Discrete:
    """Returns the space of one agent's action."""
    axes = own["longitudinal"] + own["lateral"]
    match own["type"]:
        case "DiscreteMetaAction":
            return Discrete(5 if axes == 2 else 3)
        case "ContinuousAction":
            return Array((axes,), np.float32, -1, 1)
        case _:
            return Discrete(own["actions_per_axis"] ** axes)
