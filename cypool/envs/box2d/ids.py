"""The ids of Box2D's environments: Gymnasium's, and EnvPool's names for the same."""
from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="box2d",
    title="Box2D",
    description="LunarLander, BipedalWalker and CarRacing",
    licence="Box2D: zlib",
    extra="render",
    reference="Gymnasium 1.4, box2d 2.3.10, pygame-ce 2.5.8",
    reference_package="Box2D",
    fidelity="everything",
    smoke_ids=("LunarLander-v3", "BipedalWalker-v3"),
    peers={"*": ("loop", "sync-vector", "async-vector", "envpool")},
    keys={"LunarLander": {"": 0, "left": 1, "up": 2, "right": 3}})

_BOX2D = "cypool.envs.box2d.box2d"
for _id, _continuous in (("LunarLander", False), ("LunarLanderContinuous", True)):
    register(f"{_id}-v3", f"{_BOX2D}:LunarLander", max_episode_steps=1000,
             reference=f"gymnasium:{_id}-v3", continuous=_continuous)
    register(f"{_id}-v2", f"{_BOX2D}:LunarLander", max_episode_steps=1000, continuous=_continuous)
register("BipedalWalker-v3", f"{_BOX2D}:BipedalWalker", max_episode_steps=1600,
         reference="gymnasium:BipedalWalker-v3", hardcore=False)
register("BipedalWalkerHardcore-v3", f"{_BOX2D}:BipedalWalker", max_episode_steps=2000,
         reference="gymnasium:BipedalWalkerHardcore-v3", hardcore=True)
register("CarRacing-v3", f"{_BOX2D}:CarRacing", max_episode_steps=1000,
         reference="gymnasium:CarRacing-v3")
register("CarRacing-v2", f"{_BOX2D}:CarRacing", max_episode_steps=1000)
