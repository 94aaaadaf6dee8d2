"""MuJoCo: what the families that it simulates share.

The extension modules that use MuJoCo need the very version they were compiled for: each has another layout of its
structs. It is loaded here, before any of them.
"""
from importlib.metadata import PackageNotFoundError, version

from cypool.envs.common.mujoco_version import VERSION
from cypool.envs.common.opengl import import_without_opengl

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
    import_without_opengl("mujoco")
except Exception as error:
    raise ImportError(f"MuJoCo's environments: import mujoco failed: {error!r}", name="mujoco") from error
