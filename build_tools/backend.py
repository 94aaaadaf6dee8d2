"""The build backend: setuptools', which also asks for the MuJoCo that is chosen; pyproject.toml can name only one."""

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

from .commands import left_out
from .mujoco import MUJOCO


def get_requires_for_build_wheel(config_settings=None):
    """The requirements of a build that pyproject.toml does not name."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_wheels()]


def get_requires_for_build_editable(config_settings=None):
    """The same, for a build in place."""
    return [*build_meta.get_requires_for_build_editable(config_settings), *_wheels()]


def _wheels():
    wheels = ["numpy>=2.0.0"]  # and not in pyproject.toml: mujoco needs it, and pip would install it twice
    if MUJOCO.family not in left_out():
        wheels.append(f"{MUJOCO.project}=={MUJOCO.chosen() or MUJOCO.default}")
    return wheels
