"""MuJoCo: what the families that it simulates share.

The extension modules that use MuJoCo need the very version they were compiled for: each has another layout of its
structs. It is loaded here, before any of them.
"""
from cypool.envs.common.mujoco_version import VERSION
from cypool.envs.common.opengl import import_without_opengl
from cypool.util.packages import need, version_of

_again = f", or build cypool again: CYPOOL_MUJOCO={version_of('mujoco')} pip install ."
need("MuJoCo's environments were built for", "mujoco", (VERSION,),
     f'pip install "mujoco=={VERSION}"' + _again * (version_of("mujoco") != "none"))

try:
    import_without_opengl("mujoco")
except Exception as error:
    raise ImportError(f"MuJoCo's environments: import mujoco failed: {error!r}", name="mujoco") from error
