# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

class BabyAIActionObjDoor(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIBlockedUnlockPickup(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIBossLevel(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIBossLevelNoUnlock(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIFindObj(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoTo(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoToDoor(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoToImpUnlock(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoToLocal(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoToObj(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoToObjDoor(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoToRedBall(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoToRedBallGrey(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoToRedBallNoDists(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoToRedBlueBall(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIGoToSeq(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIKeyCorridor(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIKeyInBox(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIMiniBossLevel(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIMoveTwoAcross(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIOneRoom(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIOpenAny(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIOpenDoor(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIOpenDoorsOrder(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIOpenRedDoor(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIOpenTwoDoors(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIPickup(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIPickupAbove(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIPickupDist(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIPickupLoc(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIPutNext(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIPutNextLocal(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAISynth(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAISynthLoc(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAISynthSeq(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIUnblockPickup(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIUnlock(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIUnlockLocal(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIUnlockPickup(MiniGrid):
    describe: Callable[..., EnvSpec]

class BabyAIUnlockToUnlock(MiniGrid):
    describe: Callable[..., EnvSpec]

class BlockedUnlockPickup(MiniGrid):
    describe: Callable[..., EnvSpec]

class Crossing(MiniGrid):
    describe: Callable[..., EnvSpec]

class DistShift(MiniGrid):
    describe: Callable[..., EnvSpec]

class DoorKey(MiniGrid):
    describe: Callable[..., EnvSpec]

class DynamicObstacles(MiniGrid):
    describe: Callable[..., EnvSpec]

class Empty(MiniGrid):
    describe: Callable[..., EnvSpec]

class Fetch(MiniGrid):
    describe: Callable[..., EnvSpec]

class FourRooms(MiniGrid):
    describe: Callable[..., EnvSpec]

class GoToDoor(MiniGrid):
    describe: Callable[..., EnvSpec]

class GoToObject(MiniGrid):
    describe: Callable[..., EnvSpec]

class KeyCorridor(MiniGrid):
    describe: Callable[..., EnvSpec]

class LavaGap(MiniGrid):
    describe: Callable[..., EnvSpec]

class LockedRoom(MiniGrid):
    describe: Callable[..., EnvSpec]

class Memory(MiniGrid):
    describe: Callable[..., EnvSpec]

class MiniGrid(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class MultiRoom(MiniGrid):
    describe: Callable[..., EnvSpec]

class ObstructedMaze(MiniGrid):
    describe: Callable[..., EnvSpec]

class ObstructedMaze1d(MiniGrid):
    describe: Callable[..., EnvSpec]

class ObstructedMazeV1(MiniGrid):
    describe: Callable[..., EnvSpec]

class Playground(MiniGrid):
    describe: Callable[..., EnvSpec]

class PutNear(MiniGrid):
    describe: Callable[..., EnvSpec]

class RedBlueDoors(MiniGrid):
    describe: Callable[..., EnvSpec]

class Unlock(MiniGrid):
    describe: Callable[..., EnvSpec]

class UnlockPickup(MiniGrid):
    describe: Callable[..., EnvSpec]
