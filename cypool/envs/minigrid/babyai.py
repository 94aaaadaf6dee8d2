"""BabyAI's levels, like minigrid's in levels.py."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cypool.envs.minigrid.levels import BABYAI_MISSION_LENGTH, COLORS, CORRIDOR, CORRIDORS, ids_of, rooms_level
from cypool.options import Option, boolean, choice, integer, number
from cypool.util.arguments import check_choice, check_list, shown

VERBS = {"goto": 0, "pickup": 1, "open": 2, "putnext": 3}
CLAUSES = {"action": 0, "and": 1, "seq": 2}
SELECT_BY = {"color": 0, "loc": 1}
MAX_ROOMS = 30  # in a row or column
SIZE = integer(8, 4, 100, "")


def _level(name: str, generator: str, ids: Mapping[str, Mapping[str, Any]] | None = None, *, steps: int = 0,
           **arguments: Any) -> None:
    """Adds a class by its name in BabyAI; by default it has one id, and the mission decides on the step limit."""
    rooms_level(f"BabyAI{name}", generator, ids or {f"BabyAI-{name}-v0": {}}, steps,
                mission_length=BABYAI_MISSION_LENGTH, **arguments)


def _grid(fewest_rows: int = 1, fewest_cols: int = 1) -> dict[str, Any]:
    return {"num_rows": integer(3, fewest_rows, MAX_ROOMS, ""), "num_cols": integer(3, fewest_cols, MAX_ROOMS, "")}


def _dists(default: int, fewest: int = 0) -> Option:
    return integer(default, fewest, 10_000, "")


_level("GoToRedBallGrey", "go_to_red_ball", room_size=SIZE, num_dists=_dists(7), select_by=COLORS["grey"])
_level("GoToRedBall", "go_to_red_ball", room_size=SIZE, num_dists=_dists(7))
_level("GoToRedBallNoDists", "go_to_red_ball")
_level("GoToObj", "one_of_many", {
    "BabyAI-GoToObj-v0": {},
    "BabyAI-GoToObjS4-v0": {"room_size": 4},
    "BabyAI-GoToObjS6-v1": {"room_size": 6},
}, action_kinds=("goto",), room_size=SIZE, num_dists=1)
_level("GoToLocal", "one_of_many", {
    "BabyAI-GoToLocal-v0": {},
    **ids_of("BabyAI-GoToLocalS{room_size}N{num_dists}-v0", (5, 2), (6, 2), (6, 3), (6, 4), (7, 4), (7, 5),
             *((8, n) for n in range(2, 8))),
}, action_kinds=("goto",), room_size=SIZE, num_dists=_dists(8, 1))
_level("GoTo", "one_of_many", {
    "BabyAI-GoTo-v0": {},
    "BabyAI-GoToOpen-v0": {"doors_open": True},
    "BabyAI-GoToObjMaze-v0": {"num_dists": 1, "doors_open": False},
    "BabyAI-GoToObjMazeOpen-v0": {"num_dists": 1, "doors_open": True},
    "BabyAI-GoToObjMazeS4R2-v0": {"num_dists": 1, "room_size": 4, "num_rows": 2, "num_cols": 2},
    **ids_of("BabyAI-GoToObjMazeS{room_size}-v0", (4,), (5,), (6,), (7,), num_dists=1),
}, action_kinds=("goto",), room_size=SIZE, **_grid(), num_dists=_dists(18, 1), doors_open=boolean(False, ""))
_level("GoToImpUnlock", "go_to_imp_unlock", room_size=SIZE, **_grid(2, 2))
_level("GoToRedBlueBall", "go_to_red_blue_ball", room_size=SIZE, num_dists=_dists(7))
_level("GoToDoor", "go_to_a_door", room_size=7, **_grid(3, 3))
_level("GoToObjDoor", "go_to_object_or_door", **_grid(3, 3))

# of doors
_level("OpenAny", "one_of_many", {"BabyAI-Open-v0": {}}, action_kinds=("open",), room_size=SIZE, **_grid(1, 2),
       num_dists=18)
_level("OpenRedDoor", "open_red_door", room_size=5, num_cols=2)
_level("OpenDoor", "open_door", {
    "BabyAI-OpenDoor-v0": {"debug": False},
    "BabyAI-OpenDoorDebug-v0": {"debug": True, "select_by": None},
    "BabyAI-OpenDoorColor-v0": {"debug": False, "select_by": "color"},
    "BabyAI-OpenDoorLoc-v0": {"debug": False, "select_by": "loc"},
}, debug=boolean(False, ""), select_by=choice(None, SELECT_BY, ""), room_size=SIZE, **_grid(3, 3))
_level("OpenTwoDoors", "open_two_doors", {
    "BabyAI-OpenTwoDoors-v0": {},
    "BabyAI-OpenRedBlueDoors-v0": {"first_color": "red", "second_color": "blue"},
    "BabyAI-OpenRedBlueDoorsDebug-v0": {"first_color": "red", "second_color": "blue", "strict": True},
}, steps=20, first_color=choice(None, COLORS, ""), second_color=choice(None, COLORS, ""), strict=boolean(False, ""),
   room_size=6, **_grid(2, 3))
_level("OpenDoorsOrder", "open_doors_in_order", {
    "BabyAI-OpenDoorsOrderN2-v0": {"debug": False, "num_doors": 2},
    "BabyAI-OpenDoorsOrderN4-v0": {"debug": False, "num_doors": 4},
    "BabyAI-OpenDoorsOrderN2Debug-v0": {"debug": True, "num_doors": 2},
    "BabyAI-OpenDoorsOrderN4Debug-v0": {"debug": True, "num_doors": 4},
}, steps=20, num_doors=integer(2, 2, 4, ""), debug=boolean(False, ""), room_size=6, **_grid(3, 3))
_level("Unlock", "unlock_a_room", room_size=SIZE, **_grid(2, 2))
_level("UnlockLocal", "unlock_local", {
    "BabyAI-UnlockLocal-v0": {},
    "BabyAI-UnlockLocalDist-v0": {"distractors": True},
}, distractors=boolean(False, ""), room_size=SIZE, **_grid(2, 2))
_level("KeyInBox", "unlock_local", key_in_box=True, room_size=SIZE, **_grid(2, 2))
_level("UnlockPickup", "unlock_pickup_box", {
    "BabyAI-UnlockPickup-v0": {},
    "BabyAI-UnlockPickupDist-v0": {"distractors": True},
}, room_size=6, num_cols=2, distractors=boolean(False, ""))
_level("BlockedUnlockPickup", "unlock_pickup_box", steps=16, room_size=6, num_cols=2, blocked=True)
_level("UnlockToUnlock", "unlock_to_unlock", steps=30, room_size=6, num_cols=3)

# of picking up and putting
_level("Pickup", "one_of_many", action_kinds=("pickup",), room_size=SIZE, **_grid(), num_dists=18)
_level("UnblockPickup", "one_of_many", action_kinds=("pickup",), unblocking=True, room_size=SIZE, **_grid(),
       num_dists=20)
_level("PickupDist", "pickup_dist", {
    "BabyAI-PickupDist-v0": {"debug": False},
    "BabyAI-PickupDistDebug-v0": {"debug": True},
}, room_size=7, debug=boolean(False, ""))
_level("PickupAbove", "pickup_above", steps=8, room_size=6, **_grid(2, 2))
_level("PutNextLocal", "put_next_local", {
    "BabyAI-PutNextLocal-v0": {},
    "BabyAI-PutNextLocalS5N3-v0": {"room_size": 5, "num_objs": 3},
    "BabyAI-PutNextLocalS6N4-v0": {"room_size": 6, "num_objs": 4},
}, room_size=SIZE, num_objs=integer(8, 2, 18, ""))
_level("PutNext", "put_next", {
    **ids_of("BabyAI-PutNextS{room_size}N{objs_per_room}-v0", (4, 1), (5, 2), (5, 1), (6, 3), (7, 4)),
    **ids_of("BabyAI-PutNextS{room_size}N{objs_per_room}Carrying-v0", (5, 2), (6, 3), (7, 4), start_carrying=True),
}, steps=8, room_size=SIZE.with_default(4), num_cols=2, objs_per_room=integer(1, 1, 9, ""),
   start_carrying=boolean(False, ""))
_level("MoveTwoAcross", "move_two_across", {
    "BabyAI-MoveTwoAcrossS5N2-v0": {"room_size": 5, "objs_per_room": 2},
    "BabyAI-MoveTwoAcrossS8N9-v0": {"room_size": 8, "objs_per_room": 9},
}, steps=16, room_size=SIZE.with_default(5), num_cols=2, objs_per_room=integer(2, 2, 9, ""))

# others
_level("ActionObjDoor", "action_object_door", room_size=7, **_grid(3, 3))
_level("KeyCorridor", "pickup_in_corridor", {
    "BabyAI-KeyCorridor-v0": {},
    **ids_of("BabyAI-KeyCorridorS{room_size}R{num_rows}-v0", *CORRIDORS),
}, steps=30, **CORRIDOR)
_level("OneRoom", "one_room", {
    "BabyAI-OneRoomS8-v0": {},
    **ids_of("BabyAI-OneRoomS{room_size}-v0", (12,), (16,), (20,)),
}, room_size=SIZE)


def _check_square(num_rows: int, num_cols: int, **_: Any) -> None:
    if num_cols != num_rows:
        # minigrid draws the column from the rows, and fails where it does not exist
        raise ValueError(f"num_cols: expected the same value as num_rows ({num_rows}), got {num_cols}")


_level("FindObj", "find_object", {
    "BabyAI-FindObjS5-v0": {},
    **ids_of("BabyAI-FindObjS{room_size}-v0", (6,), (7,)),
}, steps=20, check=_check_square, room_size=SIZE.with_default(5), **_grid(2, 2))


# LevelGen, and levels that are it with other arguments


def _some_of(names: dict[str, int]) -> Option:
    def check(option: str, value: Any) -> tuple[str, ...]:
        items = check_list(option, value, f"some of {', '.join(names)}")
        if not 1 <= len(items) <= 7:
            raise ValueError(f"{option}: expected 1 to 7 of {', '.join(names)}, got {shown(value)}")
        return tuple(check_choice(option, item, names) for item in items)

    return Option(tuple(names), check, "")


LEVEL_GEN: dict[str, Any] = {
    "room_size": SIZE, **_grid(), "num_dists": _dists(18), "locked_room_prob": number(0.5, 0, 1, ""),
    "locations": boolean(True, ""), "unblocking": boolean(True, ""), "implicit_unlock": boolean(True, ""),
    "action_kinds": _some_of(VERBS), "instr_kinds": _some_of(CLAUSES)}


def _check_doors(num_rows: int, num_cols: int, locked_room_prob: float, **_: Any) -> None:
    if locked_room_prob and num_rows == num_cols == 1:
        raise ValueError("locked_room_prob: expected 0 for a single room, which has no door")


def _level_gen(name: str, ids: Mapping[str, Mapping[str, Any]] | None = None, **fixed: Any) -> None:
    """Adds a class with the options of LevelGen that are not fixed."""
    _level(name, "level_gen", ids, check=_check_doors, level_gen=True, **{**LEVEL_GEN, **fixed})


_level_gen("GoToSeq", {
    "BabyAI-GoToSeq-v0": {},
    "BabyAI-GoToSeqS5R2-v0": {"room_size": 5, "num_rows": 2, "num_cols": 2, "num_dists": 4},
}, locked_room_prob=0, locations=False, unblocking=False, action_kinds=("goto",))
_level_gen("PickupLoc", num_rows=1, num_cols=1, num_dists=8, locked_room_prob=0, locations=True, unblocking=False,
           action_kinds=("pickup",), instr_kinds=("action",))
_level_gen("Synth", {
    "BabyAI-Synth-v0": {},
    "BabyAI-SynthS5R2-v0": {"room_size": 5, "num_rows": 2},
}, locations=False, unblocking=True, implicit_unlock=False, instr_kinds=("action",))
_level_gen("SynthLoc", locations=True, unblocking=True, implicit_unlock=False, instr_kinds=("action",))
_level_gen("SynthSeq", locations=True, unblocking=True, implicit_unlock=False)
_level_gen("MiniBossLevel", room_size=5, num_rows=2, num_cols=2, num_dists=7, locked_room_prob=0.25)
_level_gen("BossLevel")
_level_gen("BossLevelNoUnlock", locked_room_prob=0, implicit_unlock=False)
