"""The DeepMind Control Suite, simulated by MuJoCo; models come from the installed dm_control."""
from importlib.metadata import PackageNotFoundError, version

from cypool.envs import mujoco_common  # noqa: F401

# the release whose tasks are followed, and whose models are read; as in pyproject.toml
VERSION = "1.0.50"

try:
    _installed = version("dm_control")
except PackageNotFoundError:
    _installed = "none"
if _installed != VERSION:
    raise ImportError(f"the DeepMind Control Suite needs dm_control {VERSION}, found {_installed}: "
                      'pip install "cypool[dm-control]"', name="dm_control")
