"""Gymnasium's robots, and the base class for others; MuJoCo is loaded before any module of this package."""
from cypool.envs import mujoco_common  # noqa: F401
