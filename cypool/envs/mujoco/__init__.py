"""Gymnasium's robots, and the base class for others. MuJoCo is loaded before any module of this package."""
import cypool.envs.shared.mujoco  # noqa: F401
