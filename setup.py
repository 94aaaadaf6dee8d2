"""The extension modules, and which of them need a native library: the part that pyproject.toml cannot express."""

import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).resolve().parent))

from build_tools.commands import BuildExt, BuildPy, EggInfo, extensions
from build_tools.mujoco import MUJOCO

# every .pyx below cypool/ is a module; all see include/ and NumPy, and these or those with a build.py also a library
LIBRARIES = {
    "cypool.envs.common.mujoco_version": MUJOCO,
    "cypool.envs.mujoco": MUJOCO,
    "cypool.envs.mujoco_common": MUJOCO,
    "cypool.envs.dm_control": MUJOCO,
    "cypool.envs.robotics": MUJOCO,
    "cypool.envs.metaworld": MUJOCO,
}

setup(
    ext_modules=extensions("cypool", LIBRARIES),
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy, "egg_info": EggInfo},
)
