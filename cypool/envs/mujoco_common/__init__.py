"""MuJoCo: what the families that it simulates share.

The extension modules that use MuJoCo need the very version they were compiled for: each has another layout of its
structs. It is loaded here, before any of them.
"""
import os
from importlib.metadata import PackageNotFoundError, version

from cypool.envs.common.mujoco_version import VERSION

try:
    _installed = version("mujoco")
except PackageNotFoundError:
    _installed = ""
if _installed != VERSION:
    raise ImportError(f"MuJoCo's environments were built for mujoco {VERSION}, found {_installed or 'none'}: "
                      f'pip install "mujoco=={VERSION}"'
                      + f", or build cypool again: CYPOOL_MUJOCO={_installed} pip install ." * bool(_installed),
                      name="mujoco")

try:
    import mujoco  # noqa: F401
except Exception as error:
    # it looks for the OpenGL that MUJOCO_GL names, and that may raise anything
    raise ImportError(f"MuJoCo's environments: import mujoco failed, with MUJOCO_GL={os.environ.get('MUJOCO_GL')!r}: "
                      f"{error!r}", name="mujoco") from error
