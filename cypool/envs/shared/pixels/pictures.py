"""Pictures and texts of environments that follow Gymnasium's, drawn by Gymnasium itself; pictures need pygame."""
from __future__ import annotations

import functools
import importlib
import os
import threading
from typing import Any

import numpy as np

from cypool.util.lock_guard import LockGuard

# whose attributes are set
WRITTEN_FOR = {"gymnasium": "gymnasium==1.4.*", "minigrid": "minigrid==3.2.*"}

# two pools may draw at once, and both with the same environment
_lock = threading.Lock()
# a thread that draws while another one forks is not there in the child
os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))


def drawing() -> LockGuard:
    """Returns the guard of a block in which only one thread draws."""
    return LockGuard(_lock)


def draw(entry_point: str, options: dict[str, Any], state: dict[str, Any],
         render_mode: str = "rgb_array") -> Any:
    """Draws a state of a Gymnasium environment.

    Args:
        entry_point: "module:Class" of the environment.
        options: Its arguments, all hashable.
        state: Names and values of the attributes that `render()` reads.
        render_mode: "rgb_array" or "ansi".

    Returns:
        uint8, (height, width, 3), or a text.

    Raises:
        ImportError: pygame is not installed, or the installed environment keeps its state elsewhere.
    """
    with drawing():
        env = _env(entry_point, tuple(sorted(options.items())), render_mode)
        for name, value in state.items():
            if not hasattr(env, name):
                from importlib.metadata import version  # takes 10 ms, and is for this only

                package = entry_point.partition(".")[0]
                raise ImportError(f"render: expected {entry_point} with an attribute {name!r}, which {package} "
                                  f"{version(package)} does not have: pip install {WRITTEN_FOR[package]!r}")
            setattr(env, name, value)
        return env.render() if render_mode == "ansi" else np.ascontiguousarray(env.render())


@functools.lru_cache(maxsize=32)
def _env(entry_point: str, options: tuple[tuple[str, Any], ...], render_mode: str) -> Any:
    # never closed: that would end all of pygame
    try:
        if render_mode == "rgb_array":
            # SDL would take SIGINT and SIGTERM
            os.environ.setdefault("SDL_NO_SIGNAL_HANDLERS", "1")
            import pygame  # noqa: F401
    except ImportError as error:
        raise ImportError("render: pygame is not installed: pip install pygame-ce") from error
    module, name = entry_point.split(":")
    env = getattr(importlib.import_module(module), name)(render_mode=render_mode, **dict(options))
    # only then has it all its attributes
    env.reset(seed=0)
    return env
