"""The DeepMind Control Suite, simulated by MuJoCo; models come from the installed dm_control."""
from importlib.metadata import PackageNotFoundError, version

from cypool.envs import mujoco_common  # noqa: F401

# releases with the same suite, each made for another MuJoCo; tasks and models follow the last one
VERSIONS = ("1.0.28", "1.0.30", "1.0.31", "1.0.34", "1.0.36", "1.0.37", "1.0.38", "1.0.39", "1.0.40", "1.0.41",
            "1.0.43", "1.0.44", "1.0.45", "1.0.46", "1.0.47", "1.0.48", "1.0.49", "1.0.50")

try:
    _installed = version("dm_control")
except PackageNotFoundError:
    _installed = "none"
if _installed not in VERSIONS:
    raise ImportError(f"the DeepMind Control Suite needs dm_control {VERSIONS[0]} to {VERSIONS[-1]}, "
                      f'found {_installed}: pip install "cypool[dm-control]"', name="dm_control")
