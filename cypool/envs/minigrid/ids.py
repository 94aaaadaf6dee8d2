"""The ids of MiniGrid and BabyAI: those of minigrid 3.2.0.

The six `MiniGrid-WFC-...` ids are missing: the patterns that they are drawn from are not in minigrid's wheel, so that
minigrid itself cannot reset them.
"""
from __future__ import annotations

from typing import Any

from cypool.registry import register

# class: ids, without `MiniGrid-` or `BabyAI-`, and the arguments of its levels
_LEVELS: dict[str, dict[str, dict[str, Any]]] = {
    "BlockedUnlockPickup": {
        "BlockedUnlockPickup-v0": dict(),
    },
    "Crossing": {
        "LavaCrossingS9N1-v0": dict(size=9, num_crossings=1),
        "LavaCrossingS9N2-v0": dict(size=9, num_crossings=2),
        "LavaCrossingS9N3-v0": dict(size=9, num_crossings=3),
        "LavaCrossingS11N5-v0": dict(size=11, num_crossings=5),
        "SimpleCrossingS9N1-v0": dict(size=9, num_crossings=1, obstacle_type="wall"),
        "SimpleCrossingS9N2-v0": dict(size=9, num_crossings=2, obstacle_type="wall"),
        "SimpleCrossingS9N3-v0": dict(size=9, num_crossings=3, obstacle_type="wall"),
        "SimpleCrossingS11N5-v0": dict(size=11, num_crossings=5, obstacle_type="wall"),
    },
    "DistShift": {
        "DistShift1-v0": dict(strip2_row=2),
        "DistShift2-v0": dict(strip2_row=5),
    },
    "DoorKey": {
        "DoorKey-5x5-v0": dict(size=5),
        "DoorKey-6x6-v0": dict(size=6),
        "DoorKey-8x8-v0": dict(size=8),
        "DoorKey-16x16-v0": dict(size=16),
    },
    "DynamicObstacles": {
        "Dynamic-Obstacles-5x5-v0": dict(size=5, n_obstacles=2),
        "Dynamic-Obstacles-Random-5x5-v0": dict(size=5, agent_start_pos=None, n_obstacles=2),
        "Dynamic-Obstacles-6x6-v0": dict(size=6, n_obstacles=3),
        "Dynamic-Obstacles-Random-6x6-v0": dict(size=6, agent_start_pos=None, n_obstacles=3),
        "Dynamic-Obstacles-8x8-v0": dict(),
        "Dynamic-Obstacles-16x16-v0": dict(size=16, n_obstacles=8),
    },
    "Empty": {
        "Empty-5x5-v0": dict(size=5),
        "Empty-Random-5x5-v0": dict(size=5, agent_start_pos=None),
        "Empty-6x6-v0": dict(size=6),
        "Empty-Random-6x6-v0": dict(size=6, agent_start_pos=None),
        "Empty-8x8-v0": dict(),
        "Empty-16x16-v0": dict(size=16),
    },
    "Fetch": {
        "Fetch-5x5-N2-v0": dict(size=5, numObjs=2),
        "Fetch-6x6-N2-v0": dict(size=6, numObjs=2),
        "Fetch-8x8-N3-v0": dict(),
    },
    "FourRooms": {
        "FourRooms-v0": dict(),
    },
    "GoToDoor": {
        "GoToDoor-5x5-v0": dict(),
        "GoToDoor-6x6-v0": dict(size=6),
        "GoToDoor-8x8-v0": dict(size=8),
    },
    "GoToObject": {
        "GoToObject-6x6-N2-v0": dict(),
        "GoToObject-8x8-N2-v0": dict(size=8, numObjs=2),
    },
    "KeyCorridor": {
        "KeyCorridorS3R1-v0": dict(room_size=3, num_rows=1),
        "KeyCorridorS3R2-v0": dict(room_size=3, num_rows=2),
        "KeyCorridorS3R3-v0": dict(room_size=3, num_rows=3),
        "KeyCorridorS4R3-v0": dict(room_size=4, num_rows=3),
        "KeyCorridorS5R3-v0": dict(room_size=5, num_rows=3),
        "KeyCorridorS6R3-v0": dict(room_size=6, num_rows=3),
    },
    "LavaGap": {
        "LavaGapS5-v0": dict(size=5),
        "LavaGapS6-v0": dict(size=6),
        "LavaGapS7-v0": dict(size=7),
    },
    "LockedRoom": {
        "LockedRoom-v0": dict(),
    },
    "Memory": {
        "MemoryS17Random-v0": dict(size=17, random_length=True),
        "MemoryS13Random-v0": dict(size=13, random_length=True),
        "MemoryS13-v0": dict(size=13),
        "MemoryS11-v0": dict(size=11),
        "MemoryS9-v0": dict(size=9),
        "MemoryS7-v0": dict(size=7),
    },
    "MultiRoom": {
        "MultiRoom-N2-S4-v0": dict(minNumRooms=2, maxNumRooms=2, maxRoomSize=4),
        "MultiRoom-N4-S5-v0": dict(minNumRooms=6, maxNumRooms=6, maxRoomSize=5),
        "MultiRoom-N4-S5-v1": dict(minNumRooms=4, maxNumRooms=4, maxRoomSize=5),
        "MultiRoom-N6-v0": dict(minNumRooms=6, maxNumRooms=6),
    },
    "ObstructedMaze1d": {
        "ObstructedMaze-1Dl-v0": dict(key_in_box=False, blocked=False),
        "ObstructedMaze-1Dlh-v0": dict(key_in_box=True, blocked=False),
        "ObstructedMaze-1Dlhb-v0": dict(),
    },
    "ObstructedMaze": {
        "ObstructedMaze-2Dl-v0": dict(agent_room=(2, 1), key_in_box=False, blocked=False, num_quarters=1,
                                      num_rooms_visited=4),
        "ObstructedMaze-2Dlh-v0": dict(agent_room=(2, 1), key_in_box=True, blocked=False, num_quarters=1,
                                       num_rooms_visited=4),
        "ObstructedMaze-2Dlhb-v0": dict(agent_room=(2, 1), key_in_box=True, blocked=True, num_quarters=1,
                                        num_rooms_visited=4),
        "ObstructedMaze-1Q-v0": dict(agent_room=(1, 1), key_in_box=True, blocked=True, num_quarters=1,
                                     num_rooms_visited=5),
        "ObstructedMaze-2Q-v0": dict(agent_room=(2, 1), key_in_box=True, blocked=True, num_quarters=2,
                                     num_rooms_visited=11),
        "ObstructedMaze-Full-v0": dict(),
    },
    "ObstructedMazeV1": {
        "ObstructedMaze-2Dlhb-v1": dict(agent_room=(2, 1), key_in_box=True, blocked=True, num_quarters=1,
                                        num_rooms_visited=4),
        "ObstructedMaze-1Q-v1": dict(agent_room=(1, 1), key_in_box=True, blocked=True, num_quarters=1,
                                     num_rooms_visited=5),
        "ObstructedMaze-2Q-v1": dict(agent_room=(2, 1), key_in_box=True, blocked=True, num_quarters=2,
                                     num_rooms_visited=11),
        "ObstructedMaze-Full-v1": dict(),
    },
    "Playground": {
        "Playground-v0": dict(),
    },
    "PutNear": {
        "PutNear-6x6-N2-v0": dict(),
        "PutNear-8x8-N3-v0": dict(size=8, numObjs=3),
    },
    "RedBlueDoors": {
        "RedBlueDoors-6x6-v0": dict(size=6),
        "RedBlueDoors-8x8-v0": dict(),
    },
    "Unlock": {
        "Unlock-v0": dict(),
    },
    "UnlockPickup": {
        "UnlockPickup-v0": dict(),
    },
    "BabyAIGoToRedBallGrey": {
        "GoToRedBallGrey-v0": dict(),
    },
    "BabyAIGoToRedBall": {
        "GoToRedBall-v0": dict(),
    },
    "BabyAIGoToRedBallNoDists": {
        "GoToRedBallNoDists-v0": dict(),
    },
    "BabyAIGoToObj": {
        "GoToObj-v0": dict(),
        "GoToObjS4-v0": dict(room_size=4),
        "GoToObjS6-v1": dict(room_size=6),
    },
    "BabyAIGoToLocal": {
        "GoToLocal-v0": dict(),
        "GoToLocalS5N2-v0": dict(room_size=5, num_dists=2),
        "GoToLocalS6N2-v0": dict(room_size=6, num_dists=2),
        "GoToLocalS6N3-v0": dict(room_size=6, num_dists=3),
        "GoToLocalS6N4-v0": dict(room_size=6, num_dists=4),
        "GoToLocalS7N4-v0": dict(room_size=7, num_dists=4),
        "GoToLocalS7N5-v0": dict(room_size=7, num_dists=5),
        "GoToLocalS8N2-v0": dict(room_size=8, num_dists=2),
        "GoToLocalS8N3-v0": dict(room_size=8, num_dists=3),
        "GoToLocalS8N4-v0": dict(room_size=8, num_dists=4),
        "GoToLocalS8N5-v0": dict(room_size=8, num_dists=5),
        "GoToLocalS8N6-v0": dict(room_size=8, num_dists=6),
        "GoToLocalS8N7-v0": dict(room_size=8, num_dists=7),
    },
    "BabyAIGoTo": {
        "GoTo-v0": dict(),
        "GoToOpen-v0": dict(doors_open=True),
        "GoToObjMaze-v0": dict(num_dists=1, doors_open=False),
        "GoToObjMazeOpen-v0": dict(num_dists=1, doors_open=True),
        "GoToObjMazeS4R2-v0": dict(num_dists=1, room_size=4, num_rows=2, num_cols=2),
        "GoToObjMazeS4-v0": dict(num_dists=1, room_size=4),
        "GoToObjMazeS5-v0": dict(num_dists=1, room_size=5),
        "GoToObjMazeS6-v0": dict(num_dists=1, room_size=6),
        "GoToObjMazeS7-v0": dict(num_dists=1, room_size=7),
    },
    "BabyAIGoToImpUnlock": {
        "GoToImpUnlock-v0": dict(),
    },
    "BabyAIGoToSeq": {
        "GoToSeq-v0": dict(),
        "GoToSeqS5R2-v0": dict(room_size=5, num_rows=2, num_cols=2, num_dists=4),
    },
    "BabyAIGoToRedBlueBall": {
        "GoToRedBlueBall-v0": dict(),
    },
    "BabyAIGoToDoor": {
        "GoToDoor-v0": dict(),
    },
    "BabyAIGoToObjDoor": {
        "GoToObjDoor-v0": dict(),
    },
    "BabyAIOpenAny": {
        "Open-v0": dict(),
    },
    "BabyAIOpenRedDoor": {
        "OpenRedDoor-v0": dict(),
    },
    "BabyAIOpenDoor": {
        "OpenDoor-v0": dict(),
        "OpenDoorDebug-v0": dict(debug=True, select_by=None),
        "OpenDoorColor-v0": dict(select_by="color"),
        "OpenDoorLoc-v0": dict(select_by="loc"),
    },
    "BabyAIOpenTwoDoors": {
        "OpenTwoDoors-v0": dict(),
        "OpenRedBlueDoors-v0": dict(first_color="red", second_color="blue"),
        "OpenRedBlueDoorsDebug-v0": dict(first_color="red", second_color="blue", strict=True),
    },
    "BabyAIOpenDoorsOrder": {
        "OpenDoorsOrderN2-v0": dict(num_doors=2),
        "OpenDoorsOrderN4-v0": dict(num_doors=4),
        "OpenDoorsOrderN2Debug-v0": dict(debug=True, num_doors=2),
        "OpenDoorsOrderN4Debug-v0": dict(debug=True, num_doors=4),
    },
    "BabyAIPickup": {
        "Pickup-v0": dict(),
    },
    "BabyAIUnblockPickup": {
        "UnblockPickup-v0": dict(),
    },
    "BabyAIPickupLoc": {
        "PickupLoc-v0": dict(),
    },
    "BabyAIPickupDist": {
        "PickupDist-v0": dict(),
        "PickupDistDebug-v0": dict(debug=True),
    },
    "BabyAIPickupAbove": {
        "PickupAbove-v0": dict(),
    },
    "BabyAIPutNextLocal": {
        "PutNextLocal-v0": dict(),
        "PutNextLocalS5N3-v0": dict(room_size=5, num_objs=3),
        "PutNextLocalS6N4-v0": dict(room_size=6, num_objs=4),
    },
    "BabyAIPutNext": {
        "PutNextS4N1-v0": dict(room_size=4, objs_per_room=1),
        "PutNextS5N2-v0": dict(room_size=5, objs_per_room=2),
        "PutNextS5N1-v0": dict(room_size=5, objs_per_room=1),
        "PutNextS6N3-v0": dict(room_size=6, objs_per_room=3),
        "PutNextS7N4-v0": dict(room_size=7, objs_per_room=4),
        "PutNextS5N2Carrying-v0": dict(room_size=5, objs_per_room=2, start_carrying=True),
        "PutNextS6N3Carrying-v0": dict(room_size=6, objs_per_room=3, start_carrying=True),
        "PutNextS7N4Carrying-v0": dict(room_size=7, objs_per_room=4, start_carrying=True),
    },
    "BabyAIUnlock": {
        "Unlock-v0": dict(),
    },
    "BabyAIUnlockLocal": {
        "UnlockLocal-v0": dict(),
        "UnlockLocalDist-v0": dict(distractors=True),
    },
    "BabyAIKeyInBox": {
        "KeyInBox-v0": dict(),
    },
    "BabyAIUnlockPickup": {
        "UnlockPickup-v0": dict(),
        "UnlockPickupDist-v0": dict(distractors=True),
    },
    "BabyAIBlockedUnlockPickup": {
        "BlockedUnlockPickup-v0": dict(),
    },
    "BabyAIUnlockToUnlock": {
        "UnlockToUnlock-v0": dict(),
    },
    "BabyAIActionObjDoor": {
        "ActionObjDoor-v0": dict(),
    },
    "BabyAIFindObj": {
        "FindObjS5-v0": dict(),
        "FindObjS6-v0": dict(room_size=6),
        "FindObjS7-v0": dict(room_size=7),
    },
    "BabyAIKeyCorridor": {
        "KeyCorridor-v0": dict(),
        "KeyCorridorS3R1-v0": dict(room_size=3, num_rows=1),
        "KeyCorridorS3R2-v0": dict(room_size=3, num_rows=2),
        "KeyCorridorS3R3-v0": dict(room_size=3, num_rows=3),
        "KeyCorridorS4R3-v0": dict(room_size=4, num_rows=3),
        "KeyCorridorS5R3-v0": dict(room_size=5, num_rows=3),
        "KeyCorridorS6R3-v0": dict(room_size=6, num_rows=3),
    },
    "BabyAIOneRoom": {
        "OneRoomS8-v0": dict(),
        "OneRoomS12-v0": dict(room_size=12),
        "OneRoomS16-v0": dict(room_size=16),
        "OneRoomS20-v0": dict(room_size=20),
    },
    "BabyAIMoveTwoAcross": {
        "MoveTwoAcrossS5N2-v0": dict(room_size=5, objs_per_room=2),
        "MoveTwoAcrossS8N9-v0": dict(room_size=8, objs_per_room=9),
    },
    "BabyAISynth": {
        "Synth-v0": dict(),
        "SynthS5R2-v0": dict(room_size=5, num_rows=2),
    },
    "BabyAISynthLoc": {
        "SynthLoc-v0": dict(),
    },
    "BabyAISynthSeq": {
        "SynthSeq-v0": dict(),
    },
    "BabyAIMiniBossLevel": {
        "MiniBossLevel-v0": dict(),
    },
    "BabyAIBossLevel": {
        "BossLevel-v0": dict(),
    },
    "BabyAIBossLevelNoUnlock": {
        "BossLevelNoUnlock-v0": dict(),
    },
}
for _class, _ids in _LEVELS.items():
    for _name, _options in _ids.items():
        _id = f"{'BabyAI' if _class.startswith('BabyAI') else 'MiniGrid'}-{_name}"
        register(_id, f"cypool.envs.minigrid.minigrid:{_class}", reference="cypool.envs.minigrid.reference:make_reference",
                 **_options)
