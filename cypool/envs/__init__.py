"""The built-in families, found as folders with an `ids.py`. Importing this registers their ids without loading them.
"""
from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING

from cypool.registration.registry import unregister

if TYPE_CHECKING:
    from cypool.envs.family import Family


def _declared(folder: str, path: str) -> Family:
    """Runs a family's `ids.py` and returns its record."""
    # an import would run the package around it first, which may need another package
    name = f"cypool.envs.{folder}.ids"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    family: Family = module.FAMILY
    if not family.is_built:
        unregister(f"cypool.envs.{folder}.", f"{family.title} is not compiled in: {family.build}")
    return family


def _found() -> tuple[Family, ...]:
    here = os.path.dirname(__file__)
    paths = {folder: os.path.join(here, folder, "ids.py") for folder in sorted(os.listdir(here))}
    return tuple(_declared(folder, path) for folder, path in paths.items() if os.path.isfile(path))


FAMILIES = _found()


def family_of(entry_point: str) -> Family | None:
    """Returns the family of the class registered for an id, or None."""
    return next((family for family in FAMILIES if family.has(entry_point)), None)
