"""Pools in the terms of other libraries, `pool.torch()` and `pool.xla()`: the classes that do so are added here.

Adapters know the APIs, so the APIs do not know the adapters.
"""
from __future__ import annotations

from importlib import import_module
from typing import Any

_entry_points: dict[str, str] = {}


def add_conversion(name: str, entry_point: str) -> None:
    """Adds a class that is called with a pool, as "module:Class"; it is imported at the first use."""
    _entry_points[name] = entry_point


def convert(name: str, pool: object, *args: object) -> Any:
    """Returns the pool as this class presents it."""
    module, _, function = _entry_points[name].partition(":")
    return getattr(import_module(module), function)(pool, *args)
