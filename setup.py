"""The extension modules, and which of them need a native library: the part that pyproject.toml cannot express."""

import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).resolve().parent))

from build_tools.ale import ALE
from build_tools.box2d import BOX2D
from build_tools.commands import BuildExt, BuildPy, extensions
from build_tools.vizdoom import VIZDOOM

# every .pyx below cypool/ is a module; all see include/ and NumPy, and these also a library
LIBRARIES = {
    "cypool.envs.atari": ALE,
    "cypool.envs.box2d": BOX2D,
    "cypool.envs.vizdoom.vizdoom": VIZDOOM,
}

setup(
    ext_modules=extensions("cypool", LIBRARIES),
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy},
)
