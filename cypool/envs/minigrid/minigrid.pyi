# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

OPTIONS: tuple[Any, ...]

class BabyAIActionObjDoor(MiniGrid):
    @staticmethod
    def describe(
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIBlockedUnlockPickup(MiniGrid):
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
    ) -> EnvSpec: ...

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
    ) -> EnvSpec: ...

class BabyAIBossLevelNoUnlock(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
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
    ) -> EnvSpec: ...

class BabyAIFindObj(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 5,
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
    ) -> EnvSpec: ...

class BabyAIGoTo(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
        doors_open: bool = False,
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
    ) -> EnvSpec: ...

class BabyAIGoToDoor(MiniGrid):
    @staticmethod
    def describe(
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIGoToImpUnlock(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIGoToLocal(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_dists: int = 8,
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
    ) -> EnvSpec: ...

class BabyAIGoToObj(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
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
    ) -> EnvSpec: ...

class BabyAIGoToObjDoor(MiniGrid):
    @staticmethod
    def describe(
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIGoToRedBall(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_dists: int = 7,
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
    ) -> EnvSpec: ...

class BabyAIGoToRedBallGrey(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_dists: int = 7,
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
    ) -> EnvSpec: ...

class BabyAIGoToRedBallNoDists(MiniGrid):
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
    ) -> EnvSpec: ...

class BabyAIGoToRedBlueBall(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_dists: int = 7,
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
    ) -> EnvSpec: ...

class BabyAIGoToSeq(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
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
    ) -> EnvSpec: ...

class BabyAIKeyCorridor(MiniGrid):
    @staticmethod
    def describe(
        num_rows: int = 3,
        obj_type: str = 'ball',
        room_size: int = 6,
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
    ) -> EnvSpec: ...

class BabyAIKeyInBox(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIMiniBossLevel(MiniGrid):
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
    ) -> EnvSpec: ...

class BabyAIMoveTwoAcross(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 5,
        objs_per_room: int = 2,
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
    ) -> EnvSpec: ...

class BabyAIOneRoom(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
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
    ) -> EnvSpec: ...

class BabyAIOpenAny(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIOpenDoor(MiniGrid):
    @staticmethod
    def describe(
        debug: bool = False,
        select_by: Any = None,
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIOpenDoorsOrder(MiniGrid):
    @staticmethod
    def describe(
        num_doors: int = 2,
        debug: bool = False,
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIOpenRedDoor(MiniGrid):
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
    ) -> EnvSpec: ...

class BabyAIOpenTwoDoors(MiniGrid):
    @staticmethod
    def describe(
        first_color: Any = None,
        second_color: Any = None,
        strict: bool = False,
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIPickup(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIPickupAbove(MiniGrid):
    @staticmethod
    def describe(
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIPickupDist(MiniGrid):
    @staticmethod
    def describe(
        debug: bool = False,
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
    ) -> EnvSpec: ...

class BabyAIPickupLoc(MiniGrid):
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
    ) -> EnvSpec: ...

class BabyAIPutNext(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 4,
        objs_per_room: int = 1,
        start_carrying: bool = False,
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
    ) -> EnvSpec: ...

class BabyAIPutNextLocal(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_objs: int = 8,
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
    ) -> EnvSpec: ...

class BabyAISynth(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
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
    ) -> EnvSpec: ...

class BabyAISynthLoc(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
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
    ) -> EnvSpec: ...

class BabyAISynthSeq(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
        num_dists: int = 18,
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
    ) -> EnvSpec: ...

class BabyAIUnblockPickup(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIUnlock(MiniGrid):
    @staticmethod
    def describe(
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIUnlockLocal(MiniGrid):
    @staticmethod
    def describe(
        distractors: bool = False,
        room_size: int = 8,
        num_rows: int = 3,
        num_cols: int = 3,
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
    ) -> EnvSpec: ...

class BabyAIUnlockPickup(MiniGrid):
    @staticmethod
    def describe(
        distractors: bool = False,
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
    ) -> EnvSpec: ...

class BabyAIUnlockToUnlock(MiniGrid):
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
    ) -> EnvSpec: ...

class BlockedUnlockPickup(MiniGrid):
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
    ) -> EnvSpec: ...

class Crossing(MiniGrid):
    @staticmethod
    def describe(
        size: int = 9,
        num_crossings: int = 1,
        obstacle_type: str = 'lava',
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
    ) -> EnvSpec: ...

class DistShift(MiniGrid):
    @staticmethod
    def describe(
        width: int = 9,
        height: int = 7,
        agent_start_pos: Any = ...,
        agent_start_dir: int = 0,
        strip2_row: int = 2,
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
    ) -> EnvSpec: ...

class DoorKey(MiniGrid):
    @staticmethod
    def describe(
        size: int = 8,
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
    ) -> EnvSpec: ...

class DynamicObstacles(MiniGrid):
    @staticmethod
    def describe(
        size: int = 8,
        agent_start_pos: Any = ...,
        agent_start_dir: int = 0,
        n_obstacles: int = 4,
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
    ) -> EnvSpec: ...

class Empty(MiniGrid):
    @staticmethod
    def describe(
        size: int = 8,
        agent_start_pos: Any = ...,
        agent_start_dir: int = 0,
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
    ) -> EnvSpec: ...

class Fetch(MiniGrid):
    @staticmethod
    def describe(
        size: int = 8,
        numObjs: int = 3,
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
    ) -> EnvSpec: ...

class FourRooms(MiniGrid):
    @staticmethod
    def describe(
        agent_pos: Any = None,
        goal_pos: Any = None,
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
    ) -> EnvSpec: ...

class GoToDoor(MiniGrid):
    @staticmethod
    def describe(
        size: int = 5,
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
    ) -> EnvSpec: ...

class GoToObject(MiniGrid):
    @staticmethod
    def describe(
        size: int = 6,
        numObjs: int = 2,
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
    ) -> EnvSpec: ...

class KeyCorridor(MiniGrid):
    @staticmethod
    def describe(
        num_rows: int = 3,
        obj_type: str = 'ball',
        room_size: int = 6,
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
    ) -> EnvSpec: ...

class LavaGap(MiniGrid):
    @staticmethod
    def describe(
        size: int = 5,
        obstacle_type: str = 'lava',
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
    ) -> EnvSpec: ...

class LockedRoom(MiniGrid):
    @staticmethod
    def describe(
        size: int = 19,
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
    ) -> EnvSpec: ...

class Memory(MiniGrid):
    @staticmethod
    def describe(
        size: int = 9,
        random_length: bool = False,
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
    ) -> EnvSpec: ...

class MiniGrid(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class MultiRoom(MiniGrid):
    @staticmethod
    def describe(
        minNumRooms: int = 6,
        maxNumRooms: int = 6,
        maxRoomSize: int = 10,
        width: int = 25,
        height: int = 25,
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
    ) -> EnvSpec: ...

class ObstructedMaze(MiniGrid):
    @staticmethod
    def describe(
        agent_room: Any = ...,
        key_in_box: bool = True,
        blocked: bool = True,
        num_quarters: int = 4,
        num_rooms_visited: int = 25,
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
    ) -> EnvSpec: ...

class ObstructedMaze1d(MiniGrid):
    @staticmethod
    def describe(
        key_in_box: bool = True,
        blocked: bool = True,
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
    ) -> EnvSpec: ...

class ObstructedMazeV1(MiniGrid):
    @staticmethod
    def describe(
        agent_room: Any = ...,
        key_in_box: bool = True,
        blocked: bool = True,
        num_quarters: int = 4,
        num_rooms_visited: int = 25,
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
    ) -> EnvSpec: ...

class Playground(MiniGrid):
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
    ) -> EnvSpec: ...

class PutNear(MiniGrid):
    @staticmethod
    def describe(
        size: int = 6,
        numObjs: int = 2,
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
    ) -> EnvSpec: ...

class RedBlueDoors(MiniGrid):
    @staticmethod
    def describe(
        size: int = 8,
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
    ) -> EnvSpec: ...

class Unlock(MiniGrid):
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
    ) -> EnvSpec: ...

class UnlockPickup(MiniGrid):
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
    ) -> EnvSpec: ...
