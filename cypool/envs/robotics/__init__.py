"""Gymnasium-Robotics: hands, arms and mazes with goals, simulated by MuJoCo with the installed package's models."""
import cypool.envs.shared.mujoco  # noqa: F401
from cypool.util.packages import require_version

# the release whose environments are followed, and whose models are read; as in pyproject.toml
VERSION = "1.4.2"
INSTALL = 'pip install "cypool[robotics]"'
require_version("robots with goals need", "gymnasium-robotics", (VERSION,), INSTALL, "gymnasium_robotics")
