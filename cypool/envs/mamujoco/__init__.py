"""MaMuJoCo: MuJoCo's robots, split into agents."""
from cypool.envs import mujoco  # noqa: F401
