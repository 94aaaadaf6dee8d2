"""Gymnasium-Robotics: hands, arms and mazes with goals, simulated by MuJoCo; models come from the installed package."""
from importlib.metadata import PackageNotFoundError, version

from cypool.envs import mujoco_common  # noqa: F401

# the release whose environments are followed, and whose models are read; as in pyproject.toml
VERSION = "1.4.2"

try:
    _installed = version("gymnasium-robotics")
except PackageNotFoundError:
    _installed = "none"
if _installed != VERSION:
    raise ImportError(f"robots with goals need gymnasium-robotics {VERSION}, found {_installed}: "
                      'pip install "cypool[robotics]"', name="gymnasium_robotics")
