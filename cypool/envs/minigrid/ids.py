"""The ids of MiniGrid and BabyAI: those of minigrid 3.2.0.

The six `MiniGrid-WFC-...` ids are missing: the patterns that they are drawn from are not in minigrid's wheel, so that
minigrid itself cannot reset them.
"""
from __future__ import annotations

from typing import Any

from cypool.envs.family import Family, Sanitizer
from cypool.making.registry import register, register_absent

FAMILY = Family(
    name="minigrid",
    title="MiniGrid",
    description="the grid worlds of MiniGrid and BabyAI, with missions",
    page="minigrid.md",
    extra="minigrid",
    reference="minigrid 3.2.0",
    reference_package="minigrid",
    fidelity="everything; missions once they are decoded",
    smoke_ids=("MiniGrid-DoorKey-8x8-v0", "BabyAI-BossLevel-v0"),
    quick_ids=("MiniGrid-DoorKey-8x8-v0", "MiniGrid-Dynamic-Obstacles-5x5-v0", "BabyAI-GoTo-v0"),
    fuzz_variants=(("MiniGrid-Dynamic-Obstacles-5x5-v0", {"bonus": "position", "obs_type": "full"}),
                   ("BabyAI-PutNextS5N2Carrying-v0", {"bonus": "action", "obs_type": "rgb"})),
    sanitizer=Sanitizer(target="minigrid", tests=("test_minigrid.py",), without="there_is_nothing_to_leave_out"),
    peers={"*": ("loop", "sync-vector", "envpool")},
    gymnasium_module="minigrid",
    measured=(("MiniGrid-DoorKey-8x8-v0", 1024),),
    first_make={"MiniGrid-DoorKey-8x8-v0": ""},
    pictures=("MiniGrid-DoorKey-8x8-v0", "MiniGrid-LavaCrossingS9N2-v0", "MiniGrid-ObstructedMaze-Full-v1",
              "BabyAI-GoTo-v0", "BabyAI-BossLevel-v0"),
    # turn left, turn right, forward, pick up, drop, toggle, done
    keys={"*": {"left": 0, "right": 1, "up": 2, "page up": 3, "page down": 4, "space": 5, "return": 6}},
    turns=("*",))

# class: ids, without `MiniGrid-` or `BabyAI-`, and the arguments of its levels
_LEVELS: dict[str, dict[str, dict[str, Any]]] = {
    "BlockedUnlockPickup": {
        "BlockedUnlockPickup-v0": {},
    },
    "Crossing": {
        "LavaCrossingS9N1-v0": {"size": 9, "num_crossings": 1},
        "LavaCrossingS9N2-v0": {"size": 9, "num_crossings": 2},
        "LavaCrossingS9N3-v0": {"size": 9, "num_crossings": 3},
        "LavaCrossingS11N5-v0": {"size": 11, "num_crossings": 5},
        "SimpleCrossingS9N1-v0": {"size": 9, "num_crossings": 1, "obstacle_type": "wall"},
        "SimpleCrossingS9N2-v0": {"size": 9, "num_crossings": 2, "obstacle_type": "wall"},
        "SimpleCrossingS9N3-v0": {"size": 9, "num_crossings": 3, "obstacle_type": "wall"},
        "SimpleCrossingS11N5-v0": {"size": 11, "num_crossings": 5, "obstacle_type": "wall"},
    },
    "DistShift": {
        "DistShift1-v0": {"strip2_row": 2},
        "DistShift2-v0": {"strip2_row": 5},
    },
    "DoorKey": {
        "DoorKey-5x5-v0": {"size": 5},
        "DoorKey-6x6-v0": {"size": 6},
        "DoorKey-8x8-v0": {"size": 8},
        "DoorKey-16x16-v0": {"size": 16},
    },
    "DynamicObstacles": {
        "Dynamic-Obstacles-5x5-v0": {"size": 5, "n_obstacles": 2},
        "Dynamic-Obstacles-Random-5x5-v0": {"size": 5, "agent_start_pos": None, "n_obstacles": 2},
        "Dynamic-Obstacles-6x6-v0": {"size": 6, "n_obstacles": 3},
        "Dynamic-Obstacles-Random-6x6-v0": {"size": 6, "agent_start_pos": None, "n_obstacles": 3},
        "Dynamic-Obstacles-8x8-v0": {},
        "Dynamic-Obstacles-16x16-v0": {"size": 16, "n_obstacles": 8},
    },
    "Empty": {
        "Empty-5x5-v0": {"size": 5},
        "Empty-Random-5x5-v0": {"size": 5, "agent_start_pos": None},
        "Empty-6x6-v0": {"size": 6},
        "Empty-Random-6x6-v0": {"size": 6, "agent_start_pos": None},
        "Empty-8x8-v0": {},
        "Empty-16x16-v0": {"size": 16},
    },
    "Fetch": {
        "Fetch-5x5-N2-v0": {"size": 5, "numObjs": 2},
        "Fetch-6x6-N2-v0": {"size": 6, "numObjs": 2},
        "Fetch-8x8-N3-v0": {},
    },
    "FourRooms": {
        "FourRooms-v0": {},
    },
    "GoToDoor": {
        "GoToDoor-5x5-v0": {},
        "GoToDoor-6x6-v0": {"size": 6},
        "GoToDoor-8x8-v0": {"size": 8},
    },
    "GoToObject": {
        "GoToObject-6x6-N2-v0": {},
        "GoToObject-8x8-N2-v0": {"size": 8, "numObjs": 2},
    },
    "KeyCorridor": {
        "KeyCorridorS3R1-v0": {"room_size": 3, "num_rows": 1},
        "KeyCorridorS3R2-v0": {"room_size": 3, "num_rows": 2},
        "KeyCorridorS3R3-v0": {"room_size": 3, "num_rows": 3},
        "KeyCorridorS4R3-v0": {"room_size": 4, "num_rows": 3},
        "KeyCorridorS5R3-v0": {"room_size": 5, "num_rows": 3},
        "KeyCorridorS6R3-v0": {"room_size": 6, "num_rows": 3},
    },
    "LavaGap": {
        "LavaGapS5-v0": {"size": 5},
        "LavaGapS6-v0": {"size": 6},
        "LavaGapS7-v0": {"size": 7},
    },
    "LockedRoom": {
        "LockedRoom-v0": {},
    },
    "Memory": {
        "MemoryS17Random-v0": {"size": 17, "random_length": True},
        "MemoryS13Random-v0": {"size": 13, "random_length": True},
        "MemoryS13-v0": {"size": 13},
        "MemoryS11-v0": {"size": 11},
        "MemoryS9-v0": {"size": 9},
        "MemoryS7-v0": {"size": 7},
    },
    "MultiRoom": {
        "MultiRoom-N2-S4-v0": {"minNumRooms": 2, "maxNumRooms": 2, "maxRoomSize": 4},
        "MultiRoom-N4-S5-v0": {"minNumRooms": 6, "maxNumRooms": 6, "maxRoomSize": 5},
        "MultiRoom-N4-S5-v1": {"minNumRooms": 4, "maxNumRooms": 4, "maxRoomSize": 5},
        "MultiRoom-N6-v0": {"minNumRooms": 6, "maxNumRooms": 6},
    },
    "ObstructedMaze1d": {
        "ObstructedMaze-1Dl-v0": {"key_in_box": False, "blocked": False},
        "ObstructedMaze-1Dlh-v0": {"key_in_box": True, "blocked": False},
        "ObstructedMaze-1Dlhb-v0": {},
    },
    "ObstructedMaze": {
        "ObstructedMaze-2Dl-v0": {"agent_room": (2, 1), "key_in_box": False, "blocked": False, "num_quarters": 1,
                                      "num_rooms_visited": 4},
        "ObstructedMaze-2Dlh-v0": {"agent_room": (2, 1), "key_in_box": True, "blocked": False, "num_quarters": 1,
                                       "num_rooms_visited": 4},
        "ObstructedMaze-2Dlhb-v0": {"agent_room": (2, 1), "key_in_box": True, "blocked": True, "num_quarters": 1,
                                        "num_rooms_visited": 4},
        "ObstructedMaze-1Q-v0": {"agent_room": (1, 1), "key_in_box": True, "blocked": True, "num_quarters": 1,
                                     "num_rooms_visited": 5},
        "ObstructedMaze-2Q-v0": {"agent_room": (2, 1), "key_in_box": True, "blocked": True, "num_quarters": 2,
                                     "num_rooms_visited": 11},
        "ObstructedMaze-Full-v0": {},
    },
    "ObstructedMazeV1": {
        "ObstructedMaze-2Dlhb-v1": {"agent_room": (2, 1), "key_in_box": True, "blocked": True, "num_quarters": 1,
                                        "num_rooms_visited": 4},
        "ObstructedMaze-1Q-v1": {"agent_room": (1, 1), "key_in_box": True, "blocked": True, "num_quarters": 1,
                                     "num_rooms_visited": 5},
        "ObstructedMaze-2Q-v1": {"agent_room": (2, 1), "key_in_box": True, "blocked": True, "num_quarters": 2,
                                     "num_rooms_visited": 11},
        "ObstructedMaze-Full-v1": {},
    },
    "Playground": {
        "Playground-v0": {},
    },
    "PutNear": {
        "PutNear-6x6-N2-v0": {},
        "PutNear-8x8-N3-v0": {"size": 8, "numObjs": 3},
    },
    "RedBlueDoors": {
        "RedBlueDoors-6x6-v0": {"size": 6},
        "RedBlueDoors-8x8-v0": {},
    },
    "Unlock": {
        "Unlock-v0": {},
    },
    "UnlockPickup": {
        "UnlockPickup-v0": {},
    },
    "BabyAIGoToRedBallGrey": {
        "GoToRedBallGrey-v0": {},
    },
    "BabyAIGoToRedBall": {
        "GoToRedBall-v0": {},
    },
    "BabyAIGoToRedBallNoDists": {
        "GoToRedBallNoDists-v0": {},
    },
    "BabyAIGoToObj": {
        "GoToObj-v0": {},
        "GoToObjS4-v0": {"room_size": 4},
        "GoToObjS6-v1": {"room_size": 6},
    },
    "BabyAIGoToLocal": {
        "GoToLocal-v0": {},
        "GoToLocalS5N2-v0": {"room_size": 5, "num_dists": 2},
        "GoToLocalS6N2-v0": {"room_size": 6, "num_dists": 2},
        "GoToLocalS6N3-v0": {"room_size": 6, "num_dists": 3},
        "GoToLocalS6N4-v0": {"room_size": 6, "num_dists": 4},
        "GoToLocalS7N4-v0": {"room_size": 7, "num_dists": 4},
        "GoToLocalS7N5-v0": {"room_size": 7, "num_dists": 5},
        "GoToLocalS8N2-v0": {"room_size": 8, "num_dists": 2},
        "GoToLocalS8N3-v0": {"room_size": 8, "num_dists": 3},
        "GoToLocalS8N4-v0": {"room_size": 8, "num_dists": 4},
        "GoToLocalS8N5-v0": {"room_size": 8, "num_dists": 5},
        "GoToLocalS8N6-v0": {"room_size": 8, "num_dists": 6},
        "GoToLocalS8N7-v0": {"room_size": 8, "num_dists": 7},
    },
    "BabyAIGoTo": {
        "GoTo-v0": {},
        "GoToOpen-v0": {"doors_open": True},
        "GoToObjMaze-v0": {"num_dists": 1, "doors_open": False},
        "GoToObjMazeOpen-v0": {"num_dists": 1, "doors_open": True},
        "GoToObjMazeS4R2-v0": {"num_dists": 1, "room_size": 4, "num_rows": 2, "num_cols": 2},
        "GoToObjMazeS4-v0": {"num_dists": 1, "room_size": 4},
        "GoToObjMazeS5-v0": {"num_dists": 1, "room_size": 5},
        "GoToObjMazeS6-v0": {"num_dists": 1, "room_size": 6},
        "GoToObjMazeS7-v0": {"num_dists": 1, "room_size": 7},
    },
    "BabyAIGoToImpUnlock": {
        "GoToImpUnlock-v0": {},
    },
    "BabyAIGoToSeq": {
        "GoToSeq-v0": {},
        "GoToSeqS5R2-v0": {"room_size": 5, "num_rows": 2, "num_cols": 2, "num_dists": 4},
    },
    "BabyAIGoToRedBlueBall": {
        "GoToRedBlueBall-v0": {},
    },
    "BabyAIGoToDoor": {
        "GoToDoor-v0": {},
    },
    "BabyAIGoToObjDoor": {
        "GoToObjDoor-v0": {},
    },
    "BabyAIOpenAny": {
        "Open-v0": {},
    },
    "BabyAIOpenRedDoor": {
        "OpenRedDoor-v0": {},
    },
    "BabyAIOpenDoor": {
        "OpenDoor-v0": {},
        "OpenDoorDebug-v0": {"debug": True, "select_by": None},
        "OpenDoorColor-v0": {"select_by": "color"},
        "OpenDoorLoc-v0": {"select_by": "loc"},
    },
    "BabyAIOpenTwoDoors": {
        "OpenTwoDoors-v0": {},
        "OpenRedBlueDoors-v0": {"first_color": "red", "second_color": "blue"},
        "OpenRedBlueDoorsDebug-v0": {"first_color": "red", "second_color": "blue", "strict": True},
    },
    "BabyAIOpenDoorsOrder": {
        "OpenDoorsOrderN2-v0": {"num_doors": 2},
        "OpenDoorsOrderN4-v0": {"num_doors": 4},
        "OpenDoorsOrderN2Debug-v0": {"debug": True, "num_doors": 2},
        "OpenDoorsOrderN4Debug-v0": {"debug": True, "num_doors": 4},
    },
    "BabyAIPickup": {
        "Pickup-v0": {},
    },
    "BabyAIUnblockPickup": {
        "UnblockPickup-v0": {},
    },
    "BabyAIPickupLoc": {
        "PickupLoc-v0": {},
    },
    "BabyAIPickupDist": {
        "PickupDist-v0": {},
        "PickupDistDebug-v0": {"debug": True},
    },
    "BabyAIPickupAbove": {
        "PickupAbove-v0": {},
    },
    "BabyAIPutNextLocal": {
        "PutNextLocal-v0": {},
        "PutNextLocalS5N3-v0": {"room_size": 5, "num_objs": 3},
        "PutNextLocalS6N4-v0": {"room_size": 6, "num_objs": 4},
    },
    "BabyAIPutNext": {
        "PutNextS4N1-v0": {"room_size": 4, "objs_per_room": 1},
        "PutNextS5N2-v0": {"room_size": 5, "objs_per_room": 2},
        "PutNextS5N1-v0": {"room_size": 5, "objs_per_room": 1},
        "PutNextS6N3-v0": {"room_size": 6, "objs_per_room": 3},
        "PutNextS7N4-v0": {"room_size": 7, "objs_per_room": 4},
        "PutNextS5N2Carrying-v0": {"room_size": 5, "objs_per_room": 2, "start_carrying": True},
        "PutNextS6N3Carrying-v0": {"room_size": 6, "objs_per_room": 3, "start_carrying": True},
        "PutNextS7N4Carrying-v0": {"room_size": 7, "objs_per_room": 4, "start_carrying": True},
    },
    "BabyAIUnlock": {
        "Unlock-v0": {},
    },
    "BabyAIUnlockLocal": {
        "UnlockLocal-v0": {},
        "UnlockLocalDist-v0": {"distractors": True},
    },
    "BabyAIKeyInBox": {
        "KeyInBox-v0": {},
    },
    "BabyAIUnlockPickup": {
        "UnlockPickup-v0": {},
        "UnlockPickupDist-v0": {"distractors": True},
    },
    "BabyAIBlockedUnlockPickup": {
        "BlockedUnlockPickup-v0": {},
    },
    "BabyAIUnlockToUnlock": {
        "UnlockToUnlock-v0": {},
    },
    "BabyAIActionObjDoor": {
        "ActionObjDoor-v0": {},
    },
    "BabyAIFindObj": {
        "FindObjS5-v0": {},
        "FindObjS6-v0": {"room_size": 6},
        "FindObjS7-v0": {"room_size": 7},
    },
    "BabyAIKeyCorridor": {
        "KeyCorridor-v0": {},
        "KeyCorridorS3R1-v0": {"room_size": 3, "num_rows": 1},
        "KeyCorridorS3R2-v0": {"room_size": 3, "num_rows": 2},
        "KeyCorridorS3R3-v0": {"room_size": 3, "num_rows": 3},
        "KeyCorridorS4R3-v0": {"room_size": 4, "num_rows": 3},
        "KeyCorridorS5R3-v0": {"room_size": 5, "num_rows": 3},
        "KeyCorridorS6R3-v0": {"room_size": 6, "num_rows": 3},
    },
    "BabyAIOneRoom": {
        "OneRoomS8-v0": {},
        "OneRoomS12-v0": {"room_size": 12},
        "OneRoomS16-v0": {"room_size": 16},
        "OneRoomS20-v0": {"room_size": 20},
    },
    "BabyAIMoveTwoAcross": {
        "MoveTwoAcrossS5N2-v0": {"room_size": 5, "objs_per_room": 2},
        "MoveTwoAcrossS8N9-v0": {"room_size": 8, "objs_per_room": 9},
    },
    "BabyAISynth": {
        "Synth-v0": {},
        "SynthS5R2-v0": {"room_size": 5, "num_rows": 2},
    },
    "BabyAISynthLoc": {
        "SynthLoc-v0": {},
    },
    "BabyAISynthSeq": {
        "SynthSeq-v0": {},
    },
    "BabyAIMiniBossLevel": {
        "MiniBossLevel-v0": {},
    },
    "BabyAIBossLevel": {
        "BossLevel-v0": {},
    },
    "BabyAIBossLevelNoUnlock": {
        "BossLevelNoUnlock-v0": {},
    },
}
for _class, _ids in _LEVELS.items():
    for _name, _options in _ids.items():
        _id = f"{'BabyAI' if _class.startswith('BabyAI') else 'MiniGrid'}-{_name}"
        register(_id, f"cypool.envs.minigrid.minigrid:{_class}",
                 reference="cypool.envs.minigrid.reference:make_reference", **_options)

register_absent(
    [f"MiniGrid-WFC-{_name}-v0" for _name in (
        "MazeSimple", "DungeonMazeScaled", "RoomsFabric", "ObstaclesBlackdots", "ObstaclesAngular", "ObstaclesHogs3")],
    "its level is made from pattern images that minigrid 3.2.0 does not contain, so that reset fails there too")
