"""Merges infos of single environments into those of a batch."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def add_info(infos: dict[str, Any], info: dict[str, Any], row: int, num_rows: int,
             own: Iterable[str] = ("env_id", "elapsed_step")) -> None:
    """Adds the infos of one environment to those of a batch, in the layout of Gymnasium's vector environments.

    Args:
        infos: Arrays of `num_rows` rows, where `_key` marks the rows with a `key`; dicts of these for dicts. A value
            that does not match those of other environments turns the array into an array of objects.
        info: The environment's info.
        row: The environment's row.
        num_rows: The number of rows.
        own: The engine's infos of all rows, which do not change.
    """
    for key, value in info.items():
        if key in own:
            continue
        if isinstance(value, dict) and isinstance(infos.setdefault(key, {}), dict):
            add_info(infos[key], value, row, num_rows, ())
        else:
            if key not in infos:
                infos[key] = _column_for(value, num_rows)
            try:
                if isinstance(value, dict):
                    raise TypeError("others have none")
                infos[key][row] = value
            except (TypeError, ValueError, OverflowError):
                # of another shape or kind than the first; Gymnasium fails here
                objects = np.full(num_rows, None, object)
                for other in np.flatnonzero(infos.get(f"_{key}", ())):
                    objects[other] = infos[key][other]
                objects[row] = value
                infos[key] = objects
        if f"_{key}" not in infos:
            infos[f"_{key}"] = np.zeros(num_rows, np.bool_)
        infos[f"_{key}"][row] = True


def _column_for(value: Any, num_rows: int) -> NDArray[Any]:
    """Returns an array for an info of all environments; `value` is its first value."""
    kind = type(value)
    if kind in (int, float, bool) or issubclass(kind, np.number):
        return np.zeros(num_rows, kind)
    if isinstance(value, np.ndarray):
        return np.zeros((num_rows, *value.shape), value.dtype)
    return np.full(num_rows, None, object)
