# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

class BabyAIActionObjDoor(MiniGrid):
    @staticmethod
    def describe(num_rows: int = 3, num_cols: int = 3, **options: Any) -> EnvSpec: ...

class BabyAIBlockedUnlockPickup(MiniGrid):
    @staticmethod
    def describe(**options: Any) -> EnvSpec: ...

class BabyAIBossLevel(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
        locked_room_prob: float = 0.5,
        locations: bool = True,
        unblocking: bool = True,
        implicit_unlock: bool = True,
        action_kinds: Any = ...,
        instr_kinds: Any = ...,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIBossLevelNoUnlock(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
        locations: bool = True,
        unblocking: bool = True,
        action_kinds: Any = ...,
        instr_kinds: Any = ...,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIFindObj(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 5,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIGoTo(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
        doors_open: bool = False,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIGoToDoor(MiniGrid):
    @staticmethod
    def describe(num_rows: int = 3, num_cols: int = 3, **options: Any) -> EnvSpec: ...

class BabyAIGoToImpUnlock(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIGoToLocal(MiniGrid):
    @staticmethod
    def describe(room_size: int = 8, num_dists: int = 8, **options: Any) -> EnvSpec: ...

class BabyAIGoToObj(MiniGrid):
    @staticmethod
    def describe(room_size: int = 8, **options: Any) -> EnvSpec: ...

class BabyAIGoToObjDoor(MiniGrid):
    @staticmethod
    def describe(num_rows: int = 3, num_cols: int = 3, **options: Any) -> EnvSpec: ...

class BabyAIGoToRedBall(MiniGrid):
    @staticmethod
    def describe(room_size: int = 8, num_dists: int = 7, **options: Any) -> EnvSpec: ...

class BabyAIGoToRedBallGrey(MiniGrid):
    @staticmethod
    def describe(room_size: int = 8, num_dists: int = 7, **options: Any) -> EnvSpec: ...

class BabyAIGoToRedBallNoDists(MiniGrid):
    @staticmethod
    def describe(**options: Any) -> EnvSpec: ...

class BabyAIGoToRedBlueBall(MiniGrid):
    @staticmethod
    def describe(room_size: int = 8, num_dists: int = 7, **options: Any) -> EnvSpec: ...

class BabyAIGoToSeq(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
        implicit_unlock: bool = True,
        instr_kinds: Any = ...,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIKeyCorridor(MiniGrid):
    @staticmethod
    def describe(
        num_rows: int = 3,
        obj_type: str = 'ball',
        room_size: int = 6,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIKeyInBox(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIMiniBossLevel(MiniGrid):
    @staticmethod
    def describe(
        locations: bool = True,
        unblocking: bool = True,
        implicit_unlock: bool = True,
        action_kinds: Any = ...,
        instr_kinds: Any = ...,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIMoveTwoAcross(MiniGrid):
    @staticmethod
    def describe(room_size: int = 5, objs_per_room: int = 2, **options: Any) -> EnvSpec: ...

class BabyAIOneRoom(MiniGrid):
    @staticmethod
    def describe(room_size: int = 8, **options: Any) -> EnvSpec: ...

class BabyAIOpenAny(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIOpenDoor(MiniGrid):
    @staticmethod
    def describe(
        debug: bool = False,
        select_by: Any = None,
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIOpenDoorsOrder(MiniGrid):
    @staticmethod
    def describe(
        num_doors: int = 2,
        debug: bool = False,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIOpenRedDoor(MiniGrid):
    @staticmethod
    def describe(**options: Any) -> EnvSpec: ...

class BabyAIOpenTwoDoors(MiniGrid):
    @staticmethod
    def describe(
        first_color: Any = None,
        second_color: Any = None,
        strict: bool = False,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIPickup(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIPickupAbove(MiniGrid):
    @staticmethod
    def describe(num_rows: int = 3, num_cols: int = 3, **options: Any) -> EnvSpec: ...

class BabyAIPickupDist(MiniGrid):
    @staticmethod
    def describe(debug: bool = False, **options: Any) -> EnvSpec: ...

class BabyAIPickupLoc(MiniGrid):
    @staticmethod
    def describe(room_size: int = 8, implicit_unlock: bool = True, **options: Any) -> EnvSpec: ...

class BabyAIPutNext(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 4,
        objs_per_room: int = 1,
        start_carrying: bool = False,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIPutNextLocal(MiniGrid):
    @staticmethod
    def describe(room_size: int = 8, num_objs: int = 8, **options: Any) -> EnvSpec: ...

class BabyAISynth(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
        locked_room_prob: float = 0.5,
        action_kinds: Any = ...,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAISynthLoc(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
        locked_room_prob: float = 0.5,
        action_kinds: Any = ...,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAISynthSeq(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
        locked_room_prob: float = 0.5,
        action_kinds: Any = ...,
        instr_kinds: Any = ...,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIUnblockPickup(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIUnlock(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIUnlockLocal(MiniGrid):
    @staticmethod
    def describe(
        distractors: bool = False,
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class BabyAIUnlockPickup(MiniGrid):
    @staticmethod
    def describe(distractors: bool = False, **options: Any) -> EnvSpec: ...

class BabyAIUnlockToUnlock(MiniGrid):
    @staticmethod
    def describe(**options: Any) -> EnvSpec: ...

class BlockedUnlockPickup(MiniGrid):
    @staticmethod
    def describe(**options: Any) -> EnvSpec: ...

class Crossing(MiniGrid):
    @staticmethod
    def describe(
        size: int = 9,
        num_crossings: int = 1,
        obstacle_type: str = 'lava',
        **options: Any,
    ) -> EnvSpec: ...

class DistShift(MiniGrid):
    @staticmethod
    def describe(
        width: int = 9,
        height: int = 7,
        agent_start_pos: Any = ...,
        agent_start_dir: int = 0,
        strip2_row: int = 2,
        **options: Any,
    ) -> EnvSpec: ...

class DoorKey(MiniGrid):
    @staticmethod
    def describe(size: int = 8, **options: Any) -> EnvSpec: ...

class DynamicObstacles(MiniGrid):
    @staticmethod
    def describe(
        size: int = 8,
        agent_start_pos: Any = ...,
        agent_start_dir: int = 0,
        n_obstacles: int = 4,
        **options: Any,
    ) -> EnvSpec: ...

class Empty(MiniGrid):
    @staticmethod
    def describe(
        size: int = 8,
        agent_start_pos: Any = ...,
        agent_start_dir: int = 0,
        **options: Any,
    ) -> EnvSpec: ...

class Fetch(MiniGrid):
    @staticmethod
    def describe(size: int = 8, numObjs: int = 3, **options: Any) -> EnvSpec: ...

class FourRooms(MiniGrid):
    @staticmethod
    def describe(agent_pos: Any = None, goal_pos: Any = None, **options: Any) -> EnvSpec: ...

class GoToDoor(MiniGrid):
    @staticmethod
    def describe(size: int = 5, **options: Any) -> EnvSpec: ...

class GoToObject(MiniGrid):
    @staticmethod
    def describe(size: int = 6, numObjs: int = 2, **options: Any) -> EnvSpec: ...

class KeyCorridor(MiniGrid):
    @staticmethod
    def describe(
        num_rows: int = 3,
        obj_type: str = 'ball',
        room_size: int = 6,
        num_cols: int = 3,
        **options: Any,
    ) -> EnvSpec: ...

class LavaGap(MiniGrid):
    @staticmethod
    def describe(size: int = 5, obstacle_type: str = 'lava', **options: Any) -> EnvSpec: ...

class LockedRoom(MiniGrid):
    @staticmethod
    def describe(size: int = 19, **options: Any) -> EnvSpec: ...

class Memory(MiniGrid):
    @staticmethod
    def describe(size: int = 9, random_length: bool = False, **options: Any) -> EnvSpec: ...

class MiniGrid(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        max_steps: Any = None,
        see_through_walls: Any = None,
        agent_view_size: int = 7,
        highlight: bool = True,
        tile_size: int = 32,
        agent_pov: bool = False,
        obs_type: str = 'partial',
        action_prob: Any = None,
        random_action: Any = None,
        no_death_types: Any = ...,
        death_cost: float = -1.0,
        obs_tile_size: int = 8,
        view_size: Any = None,
        image_only: bool = False,
        goal_direction: Any = None,
        bonus: Any = None,
        bonus_scale: float = 1.0,
    ) -> EnvSpec: ...

class MultiRoom(MiniGrid):
    @staticmethod
    def describe(
        minNumRooms: int = 6,
        maxNumRooms: int = 6,
        maxRoomSize: int = 10,
        width: int = 25,
        height: int = 25,
        **options: Any,
    ) -> EnvSpec: ...

class ObstructedMaze(MiniGrid):
    @staticmethod
    def describe(
        agent_room: Any = ...,
        key_in_box: bool = True,
        blocked: bool = True,
        num_quarters: int = 4,
        num_rooms_visited: int = 25,
        **options: Any,
    ) -> EnvSpec: ...

class ObstructedMaze1d(MiniGrid):
    @staticmethod
    def describe(key_in_box: bool = True, blocked: bool = True, **options: Any) -> EnvSpec: ...

class ObstructedMazeV1(MiniGrid):
    @staticmethod
    def describe(
        agent_room: Any = ...,
        key_in_box: bool = True,
        blocked: bool = True,
        num_quarters: int = 4,
        num_rooms_visited: int = 25,
        **options: Any,
    ) -> EnvSpec: ...

class Playground(MiniGrid):
    @staticmethod
    def describe(**options: Any) -> EnvSpec: ...

class PutNear(MiniGrid):
    @staticmethod
    def describe(size: int = 6, numObjs: int = 2, **options: Any) -> EnvSpec: ...

class RedBlueDoors(MiniGrid):
    @staticmethod
    def describe(size: int = 8, **options: Any) -> EnvSpec: ...

class Unlock(MiniGrid):
    @staticmethod
    def describe(**options: Any) -> EnvSpec: ...

class UnlockPickup(MiniGrid):
    @staticmethod
    def describe(**options: Any) -> EnvSpec: ...
