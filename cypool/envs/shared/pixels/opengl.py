"""Imports packages that look for OpenGL on import, even if nothing will be drawn."""
from __future__ import annotations

import importlib
import os
from typing import Any


def import_without_opengl(name: str) -> Any:
    """Imports a module that imports the library in MUJOCO_GL; if that is missing, the module does without it.

    Raises:
        Exception: The import failed.
    """
    chosen = os.environ.get("MUJOCO_GL")
    try:
        return importlib.import_module(name)
    except Exception:
        if chosen is None:
            raise
    # MuJoCo and dm_control both know this word
    os.environ["MUJOCO_GL"] = "disable"
    try:
        return importlib.import_module(name)
    finally:
        os.environ["MUJOCO_GL"] = chosen
