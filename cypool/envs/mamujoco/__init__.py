"""MaMuJoCo: MuJoCo's robots, cut into agents."""
from cypool.envs import mujoco  # noqa: F401
