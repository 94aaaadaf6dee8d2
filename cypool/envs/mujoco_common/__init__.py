"""MuJoCo: what the families that it simulates share.

The extension modules that use MuJoCo need the very version they were compiled for: each has another layout of its
structs. It is loaded here, before any of them.
"""
import os
from importlib.metadata import PackageNotFoundError, version

# as in build_tools/mujoco.py
VERSION = "3.17.0"

try:
    _installed = version("mujoco")
except PackageNotFoundError:
    _installed = "none"
if _installed != VERSION:
    raise ImportError(f"MuJoCo's environments need mujoco {VERSION}, found {_installed}: "
                      f'pip install "mujoco=={VERSION}"', name="mujoco")

try:
    import mujoco  # noqa: F401
except Exception as error:
    # it looks for the OpenGL that MUJOCO_GL names, and that may raise anything
    raise ImportError(f"MuJoCo's environments: import mujoco failed, with MUJOCO_GL={os.environ.get('MUJOCO_GL')!r}: "
                      f"{error!r}", name="mujoco") from error
