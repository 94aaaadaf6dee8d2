"""The option `randomize`: which numbers of a model vary, and how."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from cypool.util.arguments import check_choice, check_float, shown, suggestion

OPERATIONS = ("scale", "add", "set")
# the kind of thing a field's rows belong to, by the beginning of its name
_OBJECTS = {"body": mujoco.mjtObj.mjOBJ_BODY, "jnt": mujoco.mjtObj.mjOBJ_JOINT, "geom": mujoco.mjtObj.mjOBJ_GEOM,
            "site": mujoco.mjtObj.mjOBJ_SITE, "tendon": mujoco.mjtObj.mjOBJ_TENDON,
            "actuator": mujoco.mjtObj.mjOBJ_ACTUATOR}


class VariedRange(NamedTuple):
    """Numbers of a field that vary.

    Attributes:
        field: The index of the field in `Model.fields`.
        begin: Index of the first number.
        end: Index after the last number.
        operation: The index in `OPERATIONS`.
        low: The smallest number drawn.
        high: The largest.
    """

    field: int
    begin: int
    end: int
    operation: int
    low: float
    high: float


# by model and `randomize`: all environments of a pool have the same
_ranges: WeakKeyDictionary[Any, dict[tuple[Any, ...], list[VariedRange]]] = WeakKeyDictionary()


def check_randomize(model: Any, randomize: Any) -> dict[str, tuple[str, float, float]] | None:
    """Returns `randomize` with each value as (operation, low, high), or None for None.

    Raises:
        TypeError: `randomize` is not a dict from str to tuples.
        ValueError: A field or object does not exist, or an operation or range is wrong.
    """
    if randomize is None:
        return None
    if not isinstance(randomize, Mapping):
        raise TypeError(f"randomize: expected a dict or None, got {shown(randomize)}")
    checked = {}
    for name, value in randomize.items():
        if not isinstance(name, str) or not isinstance(value, (tuple, list)) or len(value) not in (2, 3):
            raise TypeError(f"randomize: expected field names with (low, high) or (operation, low, high), got "
                            f"{shown(name)}: {shown(value)}")
        operation, low, high = ("scale", *value) if len(value) == 2 else value
        place = f"randomize[{name!r}]"
        low, high = (check_float(place, bound, -1e300, 1e300) for bound in (low, high))
        if low > high:
            raise ValueError(f"{place}: expected low to be no greater than high, got {low} and {high}")
        checked[name] = (check_choice(place, operation, OPERATIONS), low, high)
    # finds missing fields
    ranges_of(model, checked)
    return checked


def ranges_of(model: Any, randomize: dict[str, tuple[str, float, float]]) -> list[VariedRange]:
    """Returns the ranges of numbers of a model that vary, from a result of `check_randomize`, except None.

    Raises:
        ValueError: A field or object does not exist, or the model cannot have such values.
    """
    if not randomize:
        return []
    known, key = _ranges.setdefault(model, {}), tuple(randomize.items())
    if key not in known:
        fields = model.fields()
        known[key] = [_range_of(model, fields, name, *value) for name, value in randomize.items()]
    return known[key]


def _range_of(model: Any, fields: list[Any], key: str, operation: str, low: float, high: float) -> VariedRange:
    name, _, owner = key.partition(":")
    names = [field[0] for field in fields]
    if name not in names:
        # which have numbers in this model
        known = [each for each, rows, columns, dtype in fields if rows * columns and dtype and each != "opt.timestep"]
        hint = suggestion(name, known) or f"; these can vary: {', '.join(known)}"
        raise ValueError(f"randomize: expected mjModel fields, got {shown(name)}{hint}")
    _, rows, columns, dtype = fields[number := names.index(name)]
    if dtype is None or name == "opt.timestep":
        raise ValueError(f"randomize: expected a real-valued field other than the time step, got {shown(name)}")
    first, end = (0, rows) if owner == "" else _row_of(model, name, owner)
    if first == end or columns == 0:
        raise ValueError(f"randomize: {model.path} has no objects with a {name!r} field")
    varied = VariedRange(number, first * columns, end * columns, OPERATIONS.index(operation), low, high)
    values = np.array(model.numbers(number)[varied.begin:varied.end])
    with np.errstate(all="ignore"):
        ends = [{"scale": values * bound, "add": values + bound, "set": np.full_like(values, bound)}[operation]
                for bound in (low, high)]
    # MuJoCo would refuse the model only in an episode. The world has no mass
    if name in ("body_mass", "body_inertia") and (ends[0][values > 0] < 0).any():
        raise ValueError(f"randomize[{key!r}]: expected nonnegative values, got {operation!r}, {low}, {high}")
    if not all((abs(each) <= np.finfo(dtype).max).all() for each in ends):
        raise ValueError(f"randomize[{key!r}]: expected values that fit {dtype}, got {operation!r}, {low}, {high}")
    return varied


def _row_of(model: Any, name: str, owner: str) -> tuple[int, int]:
    """Returns an object's row of a field, and the next row."""
    kind = name.partition("_")[0]
    if kind not in _OBJECTS:
        raise ValueError(f"randomize: expected a name after the colon only for fields that start with "
                         f"{', '.join(_OBJECTS)}, got {shown(name)}")
    found = model.named(int(_OBJECTS[kind]), owner)
    if found < 0:
        raise ValueError(f"randomize: expected the name of an object of type {kind} in {model.path}, got "
                         f"{shown(owner)}")
    return found, found + 1
