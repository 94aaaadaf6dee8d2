"""Meta-World: fifty tasks of a Sawyer arm, simulated by MuJoCo with the models of the installed package."""
import cypool.envs.shared.mujoco  # noqa: F401
from cypool.util.packages import require_version

# those with the models that are read: 3.1.1 asks for an older MuJoCo, and is followed in all that is not a model
VERSIONS = ("3.0.0", "3.1.1")
INSTALL = 'pip install "cypool[metaworld]"'
require_version("Meta-World's tasks need", "metaworld", VERSIONS, INSTALL)
