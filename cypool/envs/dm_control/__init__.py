"""The DeepMind Control Suite, simulated by MuJoCo with the models of the installed dm_control."""
import cypool.envs.shared.mujoco  # noqa: F401
from cypool.util.packages import require_version

# releases with the same suite, each made for another MuJoCo; tasks and models follow the last one
VERSIONS = ("1.0.28", "1.0.30", "1.0.31", "1.0.34", "1.0.36", "1.0.37", "1.0.38", "1.0.39", "1.0.40", "1.0.41",
            "1.0.43", "1.0.44", "1.0.45", "1.0.46", "1.0.47", "1.0.48", "1.0.49", "1.0.50")

INSTALL = 'pip install "cypool[dm-control]"'
require_version("the DeepMind Control Suite needs", "dm_control", VERSIONS, INSTALL)
