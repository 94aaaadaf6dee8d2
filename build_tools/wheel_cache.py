"""Whole wheels in the cache, under the hash of all that they are made from."""

import contextlib
import json
import os
import platform
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from . import cache, toolchain

ROOT = Path(__file__).resolve().parents[1]
# files that end up in a wheel, or decide its content
FILES = ("cypool", "include", "build_tools", "setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")
MADE = (".so", ".pyc", ".gch")
# variables of compilers and pip, and cypool's own but for those that decide only where and how fast
VARIABLES = ("CC", "CXX", "CPPFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS", "AR", "NM", "OBJCOPY", "LIBRARY_PATH",
             "SOURCE_DATE_EPOCH", "_PYTHON_HOST_PLATFORM", "PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT")
OURS, NOT_OURS = "CYPOOL_", ("CYPOOL_CACHE", "CYPOOL_JOBS")
# with which a wheel is made; pip decides for which versions
TOOLS = ("Cython", "numpy", "setuptools")


@dataclass(frozen=True)
class Wheel:
    """A wheel in the cache.

    Attributes:
        path: the file.
        name: its file name.
        made_with: the versions of the tools.
    """

    path: Path
    name: str
    made_with: dict


def find(config_settings):
    """Returns the wheel of these sources if the cache has it, else None.

    An isolated build begins without tools. A build that has some takes no wheel that was made with other versions.
    """
    with contextlib.suppress(OSError, cache.UnsafeCache, toolchain.CompileError, ValueError, KeyError, TypeError):
        if found := _is_cacheable() and cache.find("wheels", _key(config_settings), ".whl"):
            path, said = found
            known = json.loads(said)
            if all(now in ("", known["made_with"][tool]) for tool, now in _versions().items()):
                return Wheel(path, known["name"], known["made_with"])
    return None


def keep(wheel, config_settings):
    """Keeps a wheel that was just made; without a cache to write to, it says so."""
    said = json.dumps({"name": wheel.name, "made_with": _versions()})
    try:
        if _is_cacheable():
            cache.put("wheels", _key(config_settings), ".whl", lambda new: shutil.copyfile(wheel, new) and said)
    except (OSError, cache.UnsafeCache) as error:
        print(f"the wheel is not kept for the next time: {error}", flush=True)


def _is_cacheable():
    # a folder of sources may change, and nothing digests it
    return not any(os.environ.get(f"CYPOOL_{name}_SOURCE") for name in ("ALE", "BOX2D", "VIZDOOM"))


def _versions():
    """Returns by tool the version that is installed; "": none is."""
    found = {}
    for tool in TOOLS:
        try:
            found[tool] = version(tool)
        except PackageNotFoundError:
            found[tool] = ""
    return found


def _key(config_settings):
    compiler = [*toolchain.compiler(), *toolchain.words("CXXFLAGS"), *toolchain.words("CYPOOL_CFLAGS")]
    parts = [sys.version, sysconfig.get_config_var("SOABI") or "", sysconfig.get_platform(), *platform.libc_ver(),
             toolchain.compiler_identity(), cache.native_cpu(*compiler),
             repr(sorted((config_settings or {}).items()))]
    for name, value in sorted(os.environ.items()):
        if name in VARIABLES or (name.startswith(OURS) and name not in NOT_OURS):
            parts += [name, value]
            if name.endswith("CONSTRAINT"):
                parts += [Path(word) for word in value.split() if Path(word).is_file()]
    for name in FILES:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix not in MADE:
                parts += [str(file.relative_to(ROOT)), file]
    return cache.digest(*parts)
