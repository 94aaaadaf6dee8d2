"""The ids of MiniGrid and BabyAI in minigrid 3.2.0.

The six `MiniGrid-WFC-...` ids are missing: the patterns that they are drawn from are not in minigrid's wheel, so that
minigrid itself cannot reset them.
"""
from __future__ import annotations

from cypool.envs.family import Family

# babyai adds its levels to those of levels
from cypool.envs.minigrid import babyai  # noqa: F401
from cypool.envs.minigrid.levels import CLASSES
from cypool.registration.registry import register, register_absent

FAMILY = Family(
    name="minigrid",
    title="MiniGrid",
    description="the grid worlds of MiniGrid and BabyAI, with missions",
    extra="minigrid",
    reference="minigrid 3.2.0",
    reference_package="minigrid",
    fidelity="everything, with decoded missions",
    smoke_ids=("MiniGrid-DoorKey-8x8-v0", "BabyAI-BossLevel-v0"),
    peers={"*": ("loop", "sync-vector", "envpool")},
    gymnasium_module="minigrid",
    # turn left, turn right, forward, pick up, drop, toggle, done
    keys={"*": {"left": 0, "right": 1, "up": 2, "page up": 3, "page down": 4, "space": 5, "return": 6}},
    turns=("*",))

for _class, _level in CLASSES.items():
    for _id, _options in _level.ids.items():
        register(_id, f"cypool.envs.minigrid.minigrid:{_class}",
                 reference="cypool.envs.minigrid.reference:make_reference", **_options)

register_absent(
    [f"MiniGrid-WFC-{_name}-v0" for _name in (
        "MazeSimple", "DungeonMazeScaled", "RoomsFabric", "ObstaclesBlackdots", "ObstaclesAngular", "ObstaclesHogs3")],
    "its level is made from pattern images that minigrid 3.2.0 does not contain, so reset fails there too")
