"""Attributes that stay as they were when their object was made."""
from __future__ import annotations

from typing import Any


class _Fixed:
    """See `fixed`."""

    def __set_name__(self, owner: type, name: str) -> None:
        # not in `__dict__`: CPython finds attributes of an object faster if its dict was not asked for
        self._name, self._place = name, f"_fixed_{name}"

    def __get__(self, owner: Any, cls: type) -> Any:
        return self if owner is None else getattr(owner, self._place)

    def __set__(self, owner: Any, value: Any) -> None:
        if not hasattr(owner, self._place):
            setattr(owner, self._place, value)
        held = getattr(owner, self._place)
        if held is value:
            return
        try:
            same = held == value
            same = same if isinstance(same, bool) else same.all()
        except Exception:
            same = False
        if not same:
            raise AttributeError(f"{type(owner).__name__}.{self._name}: cannot be set to a different value, "
                                 "because it is read-only")


def fixed() -> Any:
    """Makes an attribute of a class that is assigned once; it may be assigned an equal value again."""
    return _Fixed()
