"""Finds the installed MuJoCo without importing it."""
from __future__ import annotations

import warnings
from pathlib import Path

from packaging.version import Version

from cypool.util.packages import folder_of

# with which environments that `mj_step` steps were compared with the reference packages, bit by bit
# (docs/reference/systems.md); those with which lanes are proven are PROVEN in shared/lanes/description.h
COMPARED = ("3.3.0", "3.3.7", "3.9.0", "3.11.0", "3.12.0", "3.14.0", "3.17.0", "4.0.1")
# as pyproject.toml has it
_INSTALL = 'pip install "mujoco>=3.3.0,!=4.0.0,<4.1"'
# pip does not remove the distributions that only mujoco 4 has
_REPLACE = f"pip uninstall -y mujoco mujoco-core mujoco-studio && {_INSTALL}"


def find() -> tuple[Path, str]:
    """Returns the installed package's folder and its version.

    Since 4.0, the package comes with the distribution mujoco-core, so the version is taken from the name of the
    library's file.

    Raises:
        ImportError: MuJoCo is missing, or its version is not supported.
    """
    found = folder_of("mujoco")
    folder = Path(found) if found else None
    libraries = sorted(folder.glob("libmujoco.so.*")) if folder else []
    if folder is None or not libraries:
        where = f"{folder} without its library" if folder else "none"
        raise ImportError(f"MuJoCo environments: expected mujoco {COMPARED[0]} to {COMPARED[-1]}, found {where}: "
                          f"{_INSTALL}", name="mujoco")
    if len(libraries) > 1:
        raise ImportError(f"MuJoCo environments: expected one library, found {libraries[0].name} and "
                          f"{libraries[1].name} in {folder}: {_REPLACE}", name="mujoco")
    version = libraries[0].name.removeprefix("libmujoco.so.")
    if Version(version) < Version(COMPARED[0]):
        raise ImportError(f"MuJoCo environments: expected mujoco {COMPARED[0]} or later, found {version}: {_INSTALL}",
                          name="mujoco")
    if version == "4.0.0":
        raise ImportError("MuJoCo environments: mujoco 4.0.0 incorrectly factorizes a matrix in its Newton solver, "
                          f"which 4.0.1 fixes: {_REPLACE}", name="mujoco")
    return folder, version


def warn_of(version: str) -> None:
    """Warns about a version that was not compared with the reference packages."""
    if version not in COMPARED:
        warnings.warn(f"mujoco {version} has not been compared with the reference packages; "
                      f"{', '.join(COMPARED)} have been", stacklevel=2)
