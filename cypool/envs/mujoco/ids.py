"""The ids of MuJoCo's robots.

`cypool.envs` runs this file without importing the package around it, which needs MuJoCo.
"""
import os
from importlib.machinery import PathFinder

from cypool.registry import register

# robot: its module, and the steps of an episode
_ROBOTS = {"Ant": ("ant", 1000), "HalfCheetah": ("half_cheetah", 1000), "Hopper": ("hopper", 1000),
           "Humanoid": ("humanoid", 1000), "HumanoidStandup": ("humanoid", 1000),
           "InvertedDoublePendulum": ("pendulums", 1000), "InvertedPendulum": ("pendulums", 1000),
           "Pusher": ("reacher", 100), "Reacher": ("reacher", 50), "Swimmer": ("swimmer", 1000),
           "Walker2d": ("hopper", 1000)}
# a build may leave the extensions out: CYPOOL_WITHOUT=mujoco
_is_built = PathFinder.find_spec("mujoco_env", [os.path.dirname(__file__)])
for _robot, (_module, _steps) in _ROBOTS.items() if _is_built else ():
    for _id, _class in ((f"{_robot}-v4", f"{_robot}V4"), (f"{_robot}-v5", _robot)):
        # Gymnasium does not make Pusher-v4 with the MuJoCo there is
        register(_id, f"cypool.envs.mujoco.{_module}:{_class}", max_episode_steps=_steps,
                 reference=None if _id == "Pusher-v4" else f"gymnasium:{_id}")
