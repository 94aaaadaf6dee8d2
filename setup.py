"""The extension modules: the part that pyproject.toml cannot express."""

import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).resolve().parent))

from build_tools.commands import BuildExt, BuildPy, EggInfo, extensions

setup(
    ext_modules=extensions("cypool"),
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy, "egg_info": EggInfo},
)
