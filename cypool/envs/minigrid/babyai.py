"""BabyAI's levels, like minigrid's in levels.py."""
from __future__ import annotations

import functools
from typing import Any

from cypool.envs.minigrid import levels
from cypool.envs.minigrid.levels import (
    ANY,
    BABYAI_MISSION_LENGTH,
    CLAUSES,
    COLORS,
    VERBS,
    Level,
    _color,
    _corridor,
)
from cypool.util.arguments import check_bool, check_choice, check_float, check_int, check_list, shown

MAX_ROOMS = 30  # in a row or column

level = functools.partial(levels.level, prefix="BabyAI")


def _level(generator: str, room_size: Any, num_rows: Any, num_cols: Any, *, steps: int = 0,
           fewest: tuple[int, int] = (1, 1), options: dict[str, Any] | None = None,
           numbers: dict[str, Any] | None = None, free: tuple[str, ...] = ()) -> Level:
    """Returns a level of rooms.

    Args:
        generator: As in `Level`.
        room_size, num_rows, num_cols: The given sizes.
        steps: The step limit, divided by the cells of a room; 0: it depends on the mission.
        fewest: The minimum number of rows and columns.
        options: Other options, checked.
        numbers: Their values in `Options` where these differ; None: not in `Options`.
        free: Which of size, rows and columns the level has as options.
    """
    rooms = {"room_size": check_int("room_size", room_size, 4, 100),
             "num_rows": check_int("num_rows", num_rows, fewest[0], MAX_ROOMS),
             "num_cols": check_int("num_cols", num_cols, fewest[1], MAX_ROOMS)}
    options = options or {}
    read = {**rooms, **options, **(numbers or {})}
    return Level(generator, {**{key: rooms[key] for key in free}, **options},
                 {name: value for name, value in read.items() if value is not None}, steps * rooms["room_size"]**2,
                 mission_length=BABYAI_MISSION_LENGTH)


SIZE, GRID = ("room_size",), ("num_rows", "num_cols")


def _dists(num_dists: Any, min_dists: int = 0) -> dict[str, int]:
    return {"num_dists": check_int("num_dists", num_dists, min_dists, 10_000)}


@level({"BabyAI-GoToRedBallGrey-v0": {}})
def go_to_red_ball_grey(room_size: Any = 8, num_dists: Any = 7) -> Level:
    return _level("go_to_red_ball", room_size, 1, 1, options=_dists(num_dists), free=SIZE,
                  numbers={"select_by": COLORS.index("grey")})


@level({"BabyAI-GoToRedBall-v0": {}})
def go_to_red_ball(room_size: Any = 8, num_dists: Any = 7) -> Level:
    return _level("go_to_red_ball", room_size, 1, 1, options=_dists(num_dists), free=SIZE)


@level({"BabyAI-GoToRedBallNoDists-v0": {}})
def go_to_red_ball_no_dists() -> Level:
    return _level("go_to_red_ball", 8, 1, 1)


@level({
    "BabyAI-GoToObj-v0": {},
    "BabyAI-GoToObjS4-v0": {"room_size": 4},
    "BabyAI-GoToObjS6-v1": {"room_size": 6},
})
def go_to_obj(room_size: Any = 8) -> Level:
    return _level("go_to_object_of_one_room", room_size, 1, 1, free=SIZE)


@level({
    "BabyAI-GoToLocal-v0": {},
    "BabyAI-GoToLocalS5N2-v0": {"room_size": 5, "num_dists": 2},
    "BabyAI-GoToLocalS6N2-v0": {"room_size": 6, "num_dists": 2},
    "BabyAI-GoToLocalS6N3-v0": {"room_size": 6, "num_dists": 3},
    "BabyAI-GoToLocalS6N4-v0": {"room_size": 6, "num_dists": 4},
    "BabyAI-GoToLocalS7N4-v0": {"room_size": 7, "num_dists": 4},
    "BabyAI-GoToLocalS7N5-v0": {"room_size": 7, "num_dists": 5},
    "BabyAI-GoToLocalS8N2-v0": {"room_size": 8, "num_dists": 2},
    "BabyAI-GoToLocalS8N3-v0": {"room_size": 8, "num_dists": 3},
    "BabyAI-GoToLocalS8N4-v0": {"room_size": 8, "num_dists": 4},
    "BabyAI-GoToLocalS8N5-v0": {"room_size": 8, "num_dists": 5},
    "BabyAI-GoToLocalS8N6-v0": {"room_size": 8, "num_dists": 6},
    "BabyAI-GoToLocalS8N7-v0": {"room_size": 8, "num_dists": 7},
})
def go_to_local(room_size: Any = 8, num_dists: Any = 8) -> Level:
    return _level("go_to_local", room_size, 1, 1, options=_dists(num_dists, 1), free=SIZE)


@level({
    "BabyAI-GoTo-v0": {},
    "BabyAI-GoToOpen-v0": {"doors_open": True},
    "BabyAI-GoToObjMaze-v0": {"num_dists": 1, "doors_open": False},
    "BabyAI-GoToObjMazeOpen-v0": {"num_dists": 1, "doors_open": True},
    "BabyAI-GoToObjMazeS4R2-v0": {"num_dists": 1, "room_size": 4, "num_rows": 2, "num_cols": 2},
    "BabyAI-GoToObjMazeS4-v0": {"num_dists": 1, "room_size": 4},
    "BabyAI-GoToObjMazeS5-v0": {"num_dists": 1, "room_size": 5},
    "BabyAI-GoToObjMazeS6-v0": {"num_dists": 1, "room_size": 6},
    "BabyAI-GoToObjMazeS7-v0": {"num_dists": 1, "room_size": 7},
})
def go_to(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
          doors_open: Any = False) -> Level:
    options = {**_dists(num_dists, 1), "doors_open": check_bool("doors_open", doors_open)}
    return _level("go_to", room_size, num_rows, num_cols, options=options, free=SIZE + GRID)


@level({"BabyAI-GoToImpUnlock-v0": {}})
def go_to_imp_unlock(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("go_to_imp_unlock", room_size, num_rows, num_cols, fewest=(2, 2), free=SIZE + GRID)


@level({"BabyAI-GoToRedBlueBall-v0": {}})
def go_to_red_blue_ball(room_size: Any = 8, num_dists: Any = 7) -> Level:
    return _level("go_to_red_blue_ball", room_size, 1, 1, options=_dists(num_dists), free=SIZE)


@level({"BabyAI-GoToDoor-v0": {}})
def go_to_door(num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("go_to_a_door", 7, num_rows, num_cols, fewest=(3, 3), free=GRID)


@level({"BabyAI-GoToObjDoor-v0": {}})
def go_to_obj_door(num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("go_to_object_or_door", 8, num_rows, num_cols, fewest=(3, 3), free=GRID)


# of doors


@level({"BabyAI-Open-v0": {}})
def open_any(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("open_any", room_size, num_rows, num_cols, fewest=(1, 2), free=SIZE + GRID)


@level({"BabyAI-OpenRedDoor-v0": {}})
def open_red_door() -> Level:
    return _level("open_red_door", 5, 1, 2)


@level({
    "BabyAI-OpenDoor-v0": {"debug": False},
    "BabyAI-OpenDoorDebug-v0": {"debug": True, "select_by": None},
    "BabyAI-OpenDoorColor-v0": {"debug": False, "select_by": "color"},
    "BabyAI-OpenDoorLoc-v0": {"debug": False, "select_by": "loc"},
})
def open_door(debug: Any = False, select_by: Any = None, room_size: Any = 8, num_rows: Any = 3,
              num_cols: Any = 3) -> Level:
    by = None if select_by is None else check_choice("select_by", select_by, ("color", "loc"))
    return _level("open_door", room_size, num_rows, num_cols, fewest=(3, 3), free=SIZE + GRID,
                  options={"debug": check_bool("debug", debug), "select_by": by},
                  numbers={"select_by": {None: ANY, "color": 0, "loc": 1}[by]})


@level({
    "BabyAI-OpenTwoDoors-v0": {},
    "BabyAI-OpenRedBlueDoors-v0": {"first_color": "red", "second_color": "blue"},
    "BabyAI-OpenRedBlueDoorsDebug-v0": {"first_color": "red", "second_color": "blue", "strict": True},
})
def open_two_doors(first_color: Any = None, second_color: Any = None, strict: Any = False, num_rows: Any = 3,
                   num_cols: Any = 3) -> Level:
    options = {"first_color": _color("first_color", first_color), "second_color": _color("second_color", second_color),
           "strict": check_bool("strict", strict)}
    numbers = {name: ANY if options[name] is None else COLORS.index(options[name])
               for name in ("first_color", "second_color")}
    return _level("open_two_doors", 6, num_rows, num_cols, fewest=(2, 3), steps=20, options=options,
                  numbers={**numbers, "strict": None, "debug": options["strict"]}, free=GRID)


@level({
    "BabyAI-OpenDoorsOrderN2-v0": {"debug": False, "num_doors": 2},
    "BabyAI-OpenDoorsOrderN4-v0": {"debug": False, "num_doors": 4},
    "BabyAI-OpenDoorsOrderN2Debug-v0": {"debug": True, "num_doors": 2},
    "BabyAI-OpenDoorsOrderN4Debug-v0": {"debug": True, "num_doors": 4},
})
def open_doors_order(num_doors: Any = 2, debug: Any = False, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    options = {"num_doors": check_int("num_doors", num_doors, 2, 4), "debug": check_bool("debug", debug)}
    return _level("open_doors_in_order", 6, num_rows, num_cols, fewest=(3, 3), steps=20, options=options,
                  free=GRID)


@level({"BabyAI-Unlock-v0": {}})
def unlock(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("unlock_a_room", room_size, num_rows, num_cols, fewest=(2, 2), free=SIZE + GRID)


@level({
    "BabyAI-UnlockLocal-v0": {},
    "BabyAI-UnlockLocalDist-v0": {"distractors": True},
})
def unlock_local(distractors: Any = False, room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("unlock_local", room_size, num_rows, num_cols, fewest=(2, 2), free=SIZE + GRID,
                  options={"distractors": check_bool("distractors", distractors)})


@level({"BabyAI-KeyInBox-v0": {}})
def key_in_box(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("key_in_box", room_size, num_rows, num_cols, fewest=(2, 2), free=SIZE + GRID)


@level({
    "BabyAI-UnlockPickup-v0": {},
    "BabyAI-UnlockPickupDist-v0": {"distractors": True},
})
def unlock_pickup(distractors: Any = False) -> Level:
    return _level("unlock_pickup_box", 6, 1, 2, options={"distractors": check_bool("distractors", distractors)})


@level({"BabyAI-BlockedUnlockPickup-v0": {}})
def blocked_unlock_pickup() -> Level:
    return _level("unlock_pickup_box", 6, 1, 2, steps=16, numbers={"blocked": 1})


@level({"BabyAI-UnlockToUnlock-v0": {}})
def unlock_to_unlock() -> Level:
    return _level("unlock_to_unlock", 6, 1, 3, steps=30)


# of picking up and putting


@level({"BabyAI-Pickup-v0": {}})
def pickup(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("pick_up_any", room_size, num_rows, num_cols, free=SIZE + GRID)


@level({"BabyAI-UnblockPickup-v0": {}})
def unblock_pickup(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("unblock_pickup", room_size, num_rows, num_cols, free=SIZE + GRID)


@level({
    "BabyAI-PickupDist-v0": {"debug": False},
    "BabyAI-PickupDistDebug-v0": {"debug": True},
})
def pickup_dist(debug: Any = False) -> Level:
    return _level("pickup_dist", 7, 1, 1, options={"debug": check_bool("debug", debug)})


@level({"BabyAI-PickupAbove-v0": {}})
def pickup_above(num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("pickup_above", 6, num_rows, num_cols, fewest=(2, 2), steps=8, free=GRID)


@level({
    "BabyAI-PutNextLocal-v0": {},
    "BabyAI-PutNextLocalS5N3-v0": {"room_size": 5, "num_objs": 3},
    "BabyAI-PutNextLocalS6N4-v0": {"room_size": 6, "num_objs": 4},
})
def put_next_local(room_size: Any = 8, num_objs: Any = 8) -> Level:
    return _level("put_next_local", room_size, 1, 1, options={"num_objs": check_int("num_objs", num_objs, 2, 18)},
                  free=SIZE)


def _objects_per_room(objs_per_room: Any, min_objects: int) -> dict[str, int]:
    return {"objs_per_room": check_int("objs_per_room", objs_per_room, min_objects, 9)}


@level({
    "BabyAI-PutNextS4N1-v0": {"room_size": 4, "objs_per_room": 1},
    "BabyAI-PutNextS5N2-v0": {"room_size": 5, "objs_per_room": 2},
    "BabyAI-PutNextS5N1-v0": {"room_size": 5, "objs_per_room": 1},
    "BabyAI-PutNextS6N3-v0": {"room_size": 6, "objs_per_room": 3},
    "BabyAI-PutNextS7N4-v0": {"room_size": 7, "objs_per_room": 4},
    "BabyAI-PutNextS5N2Carrying-v0": {"room_size": 5, "objs_per_room": 2, "start_carrying": True},
    "BabyAI-PutNextS6N3Carrying-v0": {"room_size": 6, "objs_per_room": 3, "start_carrying": True},
    "BabyAI-PutNextS7N4Carrying-v0": {"room_size": 7, "objs_per_room": 4, "start_carrying": True},
})
def put_next(room_size: Any = 4, objs_per_room: Any = 1, start_carrying: Any = False) -> Level:
    options = {**_objects_per_room(objs_per_room, 1), "start_carrying": check_bool("start_carrying", start_carrying)}
    return _level("put_next", room_size, 1, 2, steps=8, options=options, free=SIZE)


@level({
    "BabyAI-MoveTwoAcrossS5N2-v0": {"room_size": 5, "objs_per_room": 2},
    "BabyAI-MoveTwoAcrossS8N9-v0": {"room_size": 8, "objs_per_room": 9},
})
def move_two_across(room_size: Any = 5, objs_per_room: Any = 2) -> Level:
    return _level("move_two_across", room_size, 1, 2, steps=16, options=_objects_per_room(objs_per_room, 2), free=SIZE)


# others


@level({"BabyAI-ActionObjDoor-v0": {}})
def action_obj_door(num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("action_object_door", 7, num_rows, num_cols, fewest=(3, 3), free=GRID)


@level({
    "BabyAI-FindObjS5-v0": {},
    "BabyAI-FindObjS6-v0": {"room_size": 6},
    "BabyAI-FindObjS7-v0": {"room_size": 7},
})
def find_obj(room_size: Any = 5, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    made = _level("find_object", room_size, num_rows, num_cols, steps=20, fewest=(2, 2), free=SIZE + GRID)
    if made.options["num_cols"] != made.options["num_rows"]:
        # minigrid draws the column from the rows, and fails where it does not exist
        raise ValueError(f"num_cols: expected the same value as num_rows ({num_rows}), got {num_cols}")
    return made


@level({
    "BabyAI-KeyCorridor-v0": {},
    "BabyAI-KeyCorridorS3R1-v0": {"room_size": 3, "num_rows": 1},
    "BabyAI-KeyCorridorS3R2-v0": {"room_size": 3, "num_rows": 2},
    "BabyAI-KeyCorridorS3R3-v0": {"room_size": 3, "num_rows": 3},
    "BabyAI-KeyCorridorS4R3-v0": {"room_size": 4, "num_rows": 3},
    "BabyAI-KeyCorridorS5R3-v0": {"room_size": 5, "num_rows": 3},
    "BabyAI-KeyCorridorS6R3-v0": {"room_size": 6, "num_rows": 3},
})
def key_corridor(num_rows: Any = 3, obj_type: Any = "ball", room_size: Any = 6, num_cols: Any = 3) -> Level:
    options, numbers, limit = _corridor(num_rows, obj_type, room_size, num_cols)
    return Level("pickup_in_corridor", options, numbers, limit, mission_length=BABYAI_MISSION_LENGTH)


@level({
    "BabyAI-OneRoomS8-v0": {},
    "BabyAI-OneRoomS12-v0": {"room_size": 12},
    "BabyAI-OneRoomS16-v0": {"room_size": 16},
    "BabyAI-OneRoomS20-v0": {"room_size": 20},
})
def one_room(room_size: Any = 8) -> Level:
    return _level("one_room", room_size, 1, 1, free=SIZE)


# LevelGen, and levels that are it with other arguments


def _items(name: str, value: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    items = check_list(name, value, f"some of {', '.join(known)}")
    if not 1 <= len(items) <= 7:
        raise ValueError(f"{name}: expected 1 to 7 of {', '.join(known)}, got {shown(value)}")
    return tuple(check_choice(name, item, known) for item in items)


def _digits(items: tuple[str, ...], known: tuple[str, ...]) -> int:
    """Returns a list as `items_of` in babyai.h reads it."""
    return sum((known.index(item) + 1) << (4 * k) for k, item in enumerate(items))


def _level_gen(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
               locked_room_prob: Any = 0.5, locations: Any = True, unblocking: Any = True,
               implicit_unlock: Any = True, action_kinds: Any = VERBS, instr_kinds: Any = CLAUSES,
               free: tuple[str, ...] = ()) -> Level:
    options: dict[str, Any] = {
        **_dists(num_dists),
        "locked_room_prob": check_float("locked_room_prob", locked_room_prob, 0, 1),
        "locations": check_bool("locations", locations),
        "unblocking": check_bool("unblocking", unblocking),
        "implicit_unlock": check_bool("implicit_unlock", implicit_unlock),
        "action_kinds": _items("action_kinds", action_kinds, VERBS),
        "instr_kinds": _items("instr_kinds", instr_kinds, CLAUSES),
    }
    numbers = {"level_gen": 1, "action_kinds": _digits(options["action_kinds"], VERBS),
               "instr_kinds": _digits(options["instr_kinds"], CLAUSES)}
    made = _level("level_gen", room_size, num_rows, num_cols, options=options, numbers=numbers, free=SIZE + GRID)
    if options["locked_room_prob"] and made.numbers["num_rows"] == made.numbers["num_cols"] == 1:
        raise ValueError("locked_room_prob: expected 0 for a single room, which has no door")
    return made._replace(options={key: made.options[key] for key in free})


ALL = (*SIZE, *GRID, "num_dists")


@level({
    "BabyAI-GoToSeq-v0": {},
    "BabyAI-GoToSeqS5R2-v0": {"room_size": 5, "num_rows": 2, "num_cols": 2, "num_dists": 4},
})
def go_to_seq(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
              implicit_unlock: Any = True, instr_kinds: Any = CLAUSES) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, locked_room_prob=0, locations=False, unblocking=False,
                      implicit_unlock=implicit_unlock, action_kinds=("goto",), instr_kinds=instr_kinds,
                      free=(*ALL, "implicit_unlock", "instr_kinds"))


@level({"BabyAI-PickupLoc-v0": {}})
def pickup_loc(room_size: Any = 8, implicit_unlock: Any = True) -> Level:
    return _level_gen(room_size, 1, 1, 8, locked_room_prob=0, unblocking=False, implicit_unlock=implicit_unlock,
                      action_kinds=("pickup",), instr_kinds=("action",), free=(*SIZE, "implicit_unlock"))


@level({
    "BabyAI-Synth-v0": {},
    "BabyAI-SynthS5R2-v0": {"room_size": 5, "num_rows": 2},
})
def synth(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18, locked_room_prob: Any = 0.5,
          action_kinds: Any = VERBS) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, locked_room_prob, locations=False,
                      implicit_unlock=False, action_kinds=action_kinds, instr_kinds=("action",),
                      free=(*ALL, "locked_room_prob", "action_kinds"))


@level({"BabyAI-SynthLoc-v0": {}})
def synth_loc(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
              locked_room_prob: Any = 0.5, action_kinds: Any = VERBS) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, locked_room_prob, implicit_unlock=False,
                      action_kinds=action_kinds, instr_kinds=("action",),
                      free=(*ALL, "locked_room_prob", "action_kinds"))


@level({"BabyAI-SynthSeq-v0": {}})
def synth_seq(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
              locked_room_prob: Any = 0.5, action_kinds: Any = VERBS, instr_kinds: Any = CLAUSES) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, locked_room_prob, implicit_unlock=False,
                      action_kinds=action_kinds, instr_kinds=instr_kinds,
                      free=(*ALL, "locked_room_prob", "action_kinds", "instr_kinds"))


MEANING = ("locations", "unblocking", "implicit_unlock", "action_kinds", "instr_kinds")


@level({"BabyAI-MiniBossLevel-v0": {}})
def mini_boss_level(locations: Any = True, unblocking: Any = True, implicit_unlock: Any = True,
                    action_kinds: Any = VERBS, instr_kinds: Any = CLAUSES) -> Level:
    return _level_gen(5, 2, 2, 7, 0.25, locations, unblocking, implicit_unlock, action_kinds, instr_kinds,
                      free=MEANING)


@level({"BabyAI-BossLevel-v0": {}})
def boss_level(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
               locked_room_prob: Any = 0.5, locations: Any = True, unblocking: Any = True, implicit_unlock: Any = True,
               action_kinds: Any = VERBS, instr_kinds: Any = CLAUSES) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, locked_room_prob, locations, unblocking,
                      implicit_unlock, action_kinds, instr_kinds, free=(*ALL, "locked_room_prob", *MEANING))


@level({"BabyAI-BossLevelNoUnlock-v0": {}})
def boss_level_no_unlock(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
                         locations: Any = True, unblocking: Any = True, action_kinds: Any = VERBS,
                         instr_kinds: Any = CLAUSES) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, 0, locations, unblocking, False, action_kinds,
                      instr_kinds, free=(*ALL, "locations", "unblocking", "action_kinds", "instr_kinds"))
