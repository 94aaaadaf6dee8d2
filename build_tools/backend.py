"""The build backend: setuptools', which is asked only if the cache has no wheel of the same files.

A build that the cache has needs no packages: the hooks import the standard library alone until then.
"""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from . import wheel_cache


def get_requires_for_build_wheel(config_settings=None):
    """The packages that a build needs; none if the cache has the wheel."""
    return [] if wheel_cache.find(config_settings) else _requires()


def get_requires_for_build_editable(config_settings=None):
    """The packages that a build in place needs."""
    return _requires()


def get_requires_for_build_sdist(config_settings=None):
    """The packages that an archive of the sources needs."""
    return _extra("build")


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Writes the metadata; returns the name of its folder."""
    wheel = wheel_cache.find(config_settings)
    if not wheel:
        return _setuptools().prepare_metadata_for_build_wheel(metadata_directory, config_settings)
    with zipfile.ZipFile(wheel.path) as file:
        names = [name for name in file.namelist() if name.partition("/")[0].endswith(".dist-info")]
        file.extractall(metadata_directory, names)
    return names[0].partition("/")[0]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel; returns its name."""
    wheel = wheel_cache.find(config_settings)
    if wheel:
        print(f"the cache has this wheel: {wheel.path}, made with {wheel.made_with}", flush=True)
        shutil.copyfile(wheel.path, Path(wheel_directory, wheel.name))
        return wheel.name
    name = _setuptools().build_wheel(wheel_directory, config_settings, metadata_directory)
    wheel_cache.keep(Path(wheel_directory, name), config_settings)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Writes an archive of the sources; returns its name."""
    return _setuptools().build_sdist(sdist_directory, config_settings)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Compiles in place; writes the wheel that points there, and returns its name."""
    return _setuptools().build_editable(wheel_directory, config_settings, metadata_directory)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    """Writes the metadata; returns the name of its folder."""
    return _setuptools().prepare_metadata_for_build_editable(metadata_directory, config_settings)


def _setuptools():
    from setuptools import build_meta

    return build_meta


def _requires():
    numpy = next(line for line in _project()["dependencies"] if line.startswith("numpy"))
    wanted = [*_extra("build"), numpy]
    # `sdist` asks pip where packages come from: the one of the environment that this installs to, as -I hides those
    # of the build, or else one more
    if subprocess.run([sys.executable, "-I", "-c", "import pip"], capture_output=True).returncode:
        wanted.append("pip")
    return wanted


def _extra(name):
    return _project()["optional-dependencies"][name]


def _project():
    return tomllib.loads((wheel_cache.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
