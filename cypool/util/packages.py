"""Installed packages: their versions and files, without importing them."""
from __future__ import annotations

import os
from collections.abc import Sequence


def version_of(distribution: str) -> str:
    """Returns the version of an installed distribution; "none" if there is none."""
    from importlib.metadata import PackageNotFoundError, version  # takes 10 ms

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"


def require_version(what: str, distribution: str, versions: Sequence[str], install: str, package: str = "") -> None:
    """Checks that an accepted version of a distribution is installed.

    Args:
        what: The package that needs it, with the verb: "Crafter needs".
        distribution: Its name.
        versions: The accepted versions, in order.
        install: The command that installs one.
        package: The name to import, where that differs.

    Raises:
        ImportError: It is missing, or has a different version.
    """
    found = version_of(distribution)
    if found not in versions:
        expected = " or ".join(versions) if len(versions) < 3 else f"{versions[0]} to {versions[-1]}"
        raise ImportError(f"{what} {distribution} {expected}, found {found}: {install}",
                          name=package or distribution)


def folder_of(package: str) -> str | None:
    """Returns the folder of an installed package; None if there is none."""
    from importlib.util import find_spec

    spec = find_spec(package)
    return spec.submodule_search_locations[0] if spec is not None and spec.submodule_search_locations else None


def file_of(what: str, package: str, path: str, install: str) -> str:
    """Returns the path of a file of an installed package.

    Args:
        what: The package that needs it, for the message.
        package: The name to import.
        path: Path of the file, relative to the package.
        install: The command that installs the package.

    Raises:
        ImportError: The package is not installed, or has no such file.
    """
    found = os.path.join(folder_of(package) or "", path)
    if not os.path.isabs(found) or not os.path.isfile(found):
        raise ImportError(f"{what}: {package} has no {path}: {install}", name=package)
    return found
