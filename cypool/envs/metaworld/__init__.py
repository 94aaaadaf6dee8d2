"""Meta-World: fifty tasks of a Sawyer arm, simulated by MuJoCo; models come from the installed package."""
from importlib.metadata import PackageNotFoundError, version

from cypool.envs import mujoco_common  # noqa: F401

# the release whose tasks are followed, and whose models are read; as in docs/reference/metaworld.md
VERSION = "3.1.1"
# without its dependencies: it asks for an older MuJoCo, which has no part in what is read
INSTALL = f"pip install --no-deps metaworld=={VERSION}"

try:
    _installed = version("metaworld")
except PackageNotFoundError:
    _installed = "none"
if _installed != VERSION:
    raise ImportError(f"Meta-World's tasks need metaworld {VERSION}, found {_installed}: {INSTALL}", name="metaworld")
