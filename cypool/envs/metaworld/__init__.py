"""Meta-World: fifty tasks of a Sawyer arm, simulated by MuJoCo; models come from the installed package."""
from importlib.metadata import PackageNotFoundError, version

from cypool.envs import mujoco_common  # noqa: F401

# those with the models that are read: 3.1.1 asks for an older MuJoCo, and is followed in all that is not a model
VERSIONS = ("3.0.0", "3.1.1")
INSTALL = 'pip install "cypool[metaworld]"'

try:
    _installed = version("metaworld")
except PackageNotFoundError:
    _installed = "none"
if _installed not in VERSIONS:
    raise ImportError(f"Meta-World's tasks need metaworld {' or '.join(VERSIONS)}, found {_installed}: {INSTALL}",
                      name="metaworld")
