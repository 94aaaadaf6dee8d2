"""The ids of Box2D's environments: Gymnasium's, and EnvPool's names for the same."""
from importlib.util import find_spec

from cypool.registry import register

_BOX2D = "cypool.envs.box2d"
# CYPOOL_WITHOUT=box2d leaves the extensions out
if find_spec(f"{_BOX2D}.lunar_lander"):
    for _id, _continuous in (("LunarLander", False), ("LunarLanderContinuous", True)):
        register(f"{_id}-v3", f"{_BOX2D}.lunar_lander:LunarLander", max_episode_steps=1000,
                 reference=f"gymnasium:{_id}-v3", continuous=_continuous)
        register(f"{_id}-v2", f"{_BOX2D}.lunar_lander:LunarLander", max_episode_steps=1000, continuous=_continuous)
    register("BipedalWalker-v3", f"{_BOX2D}.bipedal_walker:BipedalWalker", max_episode_steps=1600,
             reference="gymnasium:BipedalWalker-v3", hardcore=False)
    register("BipedalWalkerHardcore-v3", f"{_BOX2D}.bipedal_walker:BipedalWalker", max_episode_steps=2000,
             reference="gymnasium:BipedalWalkerHardcore-v3", hardcore=True)
    register("CarRacing-v3", f"{_BOX2D}.car_racing:CarRacing", max_episode_steps=1000,
             reference="gymnasium:CarRacing-v3")
    register("CarRacing-v2", f"{_BOX2D}.car_racing:CarRacing", max_episode_steps=1000)
