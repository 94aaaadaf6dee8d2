"""Pictures of environments, drawn by the Gymnasium environments that they follow."""
import importlib
import threading

import numpy as np

_painters = {}
# one painter, one canvas: two threads would draw over each other
_lock = threading.Lock()


def draw(entry_point, options, state):
    """Has a Gymnasium environment draw a state.

    Args:
        entry_point: "module:Class" of the Gymnasium environment; made at the first use and kept.
        options: What to make it with, as far as the picture depends on it; hashable values.
        state: Attributes to set before it draws.

    Returns:
        uint8, (height, width, 3).

    Raises:
        ImportError: pygame is not installed.
    """
    try:
        import pygame  # noqa: F401
    except ImportError:
        raise ImportError("render: expected pygame, which draws this environment: pip install pygame") from None
    key = entry_point, tuple(sorted(options.items()))
    with _lock:
        if key not in _painters:
            module, name = entry_point.split(":")
            _painters[key] = getattr(importlib.import_module(module), name)(render_mode="rgb_array", **options)
        painter = _painters[key]
        for name, value in state.items():
            setattr(painter, name, value)
        return np.ascontiguousarray(painter.render())
