"""BabyAI's levels: the arguments that each takes, as levels.py has minigrid's."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from cypool.envs.minigrid.levels import (
    ANY,
    BABYAI_MISSION_LENGTH,
    CLAUSES,
    COLORS,
    VERBS,
    Level,
    _color,
    _corridor,
    level,
)
from cypool.util.arguments import check_bool, check_choice, check_float, check_int, check_list, shown

MOST_ROOMS = 30  # in a row or column


def _level(name: str, room_size: Any, num_rows: Any, num_cols: Any, *, max_steps: int = 0, smallest: int = 4,
           fewest: tuple[int, int] = (1, 1), own: dict[str, Any] | None = None,
           numbers: dict[str, Any] | None = None, free: tuple[str, ...] = ()) -> Level:
    """Returns a level of rooms.

    Args:
        name: Without `babyai_`.
        room_size, num_rows, num_cols: As given.
        max_steps: The limit where it does not depend on the mission.
        smallest: The least size of a room.
        fewest: The least number of rows and columns.
        own: Other options, checked.
        numbers: What they are in `Options`, where that differs.
        free: Which of size, rows and columns are options of the level.
    """
    rooms = {"room_size": check_int("room_size", room_size, smallest, 100),
             "num_rows": check_int("num_rows", num_rows, fewest[0], MOST_ROOMS),
             "num_cols": check_int("num_cols", num_cols, fewest[1], MOST_ROOMS)}
    options = {**{key: rooms[key] for key in free}, **(own or {})}
    return Level(f"babyai_{name}", options, {**rooms, **(own or {}), **(numbers or {})}, max_steps,
                 mission_length=BABYAI_MISSION_LENGTH)


SIZE, GRID = ("room_size",), ("num_rows", "num_cols")


def _dists(num_dists: Any, least: int = 0) -> dict[str, int]:
    return {"num_dists": check_int("num_dists", num_dists, least, 10_000)}


@level
def go_to_red_ball_grey(room_size: Any = 8, num_dists: Any = 7) -> Level:
    return _level("go_to_red_ball", room_size, 1, 1, own=_dists(num_dists), free=SIZE,
                  numbers={"select_by": COLORS.index("grey")})


@level
def go_to_red_ball(room_size: Any = 8, num_dists: Any = 7) -> Level:
    return _level("go_to_red_ball", room_size, 1, 1, own=_dists(num_dists), free=SIZE)


@level
def go_to_red_ball_no_dists() -> Level:
    return _level("go_to_red_ball", 8, 1, 1)


@level
def go_to_obj(room_size: Any = 8) -> Level:
    return _level("go_to_obj", room_size, 1, 1, free=SIZE)


@level
def go_to_local(room_size: Any = 8, num_dists: Any = 8) -> Level:
    return _level("go_to_local", room_size, 1, 1, own=_dists(num_dists, 1), free=SIZE)


@level
def go_to(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
          doors_open: Any = False) -> Level:
    own = {**_dists(num_dists, 1), "doors_open": check_bool("doors_open", doors_open)}
    return _level("go_to", room_size, num_rows, num_cols, own=own, free=SIZE + GRID)


@level
def go_to_imp_unlock(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("go_to_imp_unlock", room_size, num_rows, num_cols, fewest=(2, 2), free=SIZE + GRID)


@level
def go_to_red_blue_ball(room_size: Any = 8, num_dists: Any = 7) -> Level:
    return _level("go_to_red_blue_ball", room_size, 1, 1, own=_dists(num_dists), free=SIZE)


@level
def go_to_door(num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("go_to_door", 7, num_rows, num_cols, fewest=(3, 3), free=GRID)


@level
def go_to_obj_door(num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("go_to_obj_door", 8, num_rows, num_cols, fewest=(3, 3), free=GRID)


# of doors


@level
def open_any(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("open", room_size, num_rows, num_cols, fewest=(1, 2), free=SIZE + GRID)


@level
def open_red_door() -> Level:
    return _level("open_red_door", 5, 1, 2)


@level
def open_door(debug: Any = False, select_by: Any = None, room_size: Any = 8, num_rows: Any = 3,
              num_cols: Any = 3) -> Level:
    by = None if select_by is None else check_choice("select_by", select_by, ("color", "loc"))
    return _level("open_door", room_size, num_rows, num_cols, fewest=(3, 3), free=SIZE + GRID,
                  own={"debug": check_bool("debug", debug), "select_by": by},
                  numbers={"select_by": {None: ANY, "color": 0, "loc": 1}[by]})


@level
def open_two_doors(first_color: Any = None, second_color: Any = None, strict: Any = False, num_rows: Any = 3,
                   num_cols: Any = 3) -> Level:
    own = {"first_color": _color("first_color", first_color), "second_color": _color("second_color", second_color),
           "strict": check_bool("strict", strict)}
    numbers = {name: ANY if own[name] is None else COLORS.index(own[name]) for name in ("first_color", "second_color")}
    return _level("open_two_doors", 6, num_rows, num_cols, fewest=(2, 3), max_steps=20 * 6**2, own=own,
                  numbers={**numbers, "debug": own["strict"]}, free=GRID)


@level
def open_doors_order(num_doors: Any = 2, debug: Any = False, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    own = {"num_doors": check_int("num_doors", num_doors, 2, 4), "debug": check_bool("debug", debug)}
    return _level("open_doors_order", 6, num_rows, num_cols, fewest=(3, 3), max_steps=20 * 6**2, own=own, free=GRID)


@level
def unlock(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("unlock", room_size, num_rows, num_cols, fewest=(2, 2), free=SIZE + GRID)


@level
def unlock_local(distractors: Any = False, room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("unlock_local", room_size, num_rows, num_cols, fewest=(2, 2), free=SIZE + GRID,
                  own={"distractors": check_bool("distractors", distractors)})


@level
def key_in_box(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("key_in_box", room_size, num_rows, num_cols, fewest=(2, 2), free=SIZE + GRID)


@level
def unlock_pickup(distractors: Any = False) -> Level:
    return _level("unlock_pickup", 6, 1, 2, own={"distractors": check_bool("distractors", distractors)})


@level
def blocked_unlock_pickup() -> Level:
    return _level("unlock_pickup", 6, 1, 2, max_steps=16 * 6**2, numbers={"blocked": 1})


@level
def unlock_to_unlock() -> Level:
    return _level("unlock_to_unlock", 6, 1, 3, max_steps=30 * 6**2)


# of picking up and putting


@level
def pickup(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("pickup", room_size, num_rows, num_cols, free=SIZE + GRID)


@level
def unblock_pickup(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("unblock_pickup", room_size, num_rows, num_cols, free=SIZE + GRID)


@level
def pickup_dist(debug: Any = False) -> Level:
    return _level("pickup_dist", 7, 1, 1, own={"debug": check_bool("debug", debug)})


@level
def pickup_above(num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("pickup_above", 6, num_rows, num_cols, fewest=(2, 2), max_steps=8 * 6**2, free=GRID)


@level
def put_next_local(room_size: Any = 8, num_objs: Any = 8) -> Level:
    return _level("put_next_local", room_size, 1, 1, own={"num_objs": check_int("num_objs", num_objs, 2, 18)},
                  free=SIZE)


def _objects_per_room(objs_per_room: Any, least: int) -> dict[str, int]:
    return {"objs_per_room": check_int("objs_per_room", objs_per_room, least, 9)}


@level
def put_next(room_size: Any = 4, objs_per_room: Any = 1, start_carrying: Any = False) -> Level:
    own = {**_objects_per_room(objs_per_room, 1), "start_carrying": check_bool("start_carrying", start_carrying)}
    made = _level("put_next", room_size, 1, 2, own=own, free=SIZE)
    return replace(made, max_steps=8 * made.options["room_size"]**2)


@level
def move_two_across(room_size: Any = 5, objs_per_room: Any = 2) -> Level:
    own = _objects_per_room(objs_per_room, 2)
    made = _level("move_two_across", room_size, 1, 2, own=own, free=SIZE)
    return replace(made, max_steps=16 * made.options["room_size"]**2)


# others


@level
def action_obj_door(num_rows: Any = 3, num_cols: Any = 3) -> Level:
    return _level("action_object_door", 7, num_rows, num_cols, fewest=(3, 3), free=GRID)


@level
def find_obj(room_size: Any = 5, num_rows: Any = 3, num_cols: Any = 3) -> Level:
    size = check_int("room_size", room_size, 4, 100)
    made = _level("find_object", size, num_rows, num_cols, max_steps=20 * size**2, fewest=(2, 2), free=SIZE + GRID)
    if made.options["num_cols"] != made.options["num_rows"]:
        # minigrid draws the column from the rows, and fails where it does not exist
        raise ValueError(f"num_cols: expected as many as num_rows, {num_rows}, got {num_cols}")
    return made


@level
def key_corridor(num_rows: Any = 3, obj_type: Any = "ball", room_size: Any = 6, num_cols: Any = 3) -> Level:
    options, numbers, limit = _corridor(num_rows, obj_type, room_size, num_cols)
    return Level("babyai_key_corridor", options, numbers, limit, mission_length=BABYAI_MISSION_LENGTH)


@level
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
    own: dict[str, Any] = {
        **_dists(num_dists),
        "locked_room_prob": check_float("locked_room_prob", locked_room_prob, 0, 1),
        "locations": check_bool("locations", locations),
        "unblocking": check_bool("unblocking", unblocking),
        "implicit_unlock": check_bool("implicit_unlock", implicit_unlock),
        "action_kinds": _items("action_kinds", action_kinds, VERBS),
        "instr_kinds": _items("instr_kinds", instr_kinds, CLAUSES),
    }
    numbers = {"level_gen": 1, "verbs": _digits(own["action_kinds"], VERBS),
               "clauses": _digits(own["instr_kinds"], CLAUSES)}
    made = _level("level_gen", room_size, num_rows, num_cols, own=own, numbers=numbers, free=SIZE + GRID)
    if own["locked_room_prob"] and made.numbers["num_rows"] == made.numbers["num_cols"] == 1:
        raise ValueError("locked_room_prob: expected 0 for one room, which has no door")
    return replace(made, options={key: made.options[key] for key in free})


ALL = (*SIZE, *GRID, "num_dists")


@level
def go_to_seq(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
              implicit_unlock: Any = True, instr_kinds: Any = CLAUSES) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, locked_room_prob=0, locations=False, unblocking=False,
                      implicit_unlock=implicit_unlock, action_kinds=("goto",), instr_kinds=instr_kinds,
                      free=(*ALL, "implicit_unlock", "instr_kinds"))


@level
def pickup_loc(room_size: Any = 8, implicit_unlock: Any = True) -> Level:
    return _level_gen(room_size, 1, 1, 8, locked_room_prob=0, unblocking=False, implicit_unlock=implicit_unlock,
                      action_kinds=("pickup",), instr_kinds=("action",), free=(*SIZE, "implicit_unlock"))


@level
def synth(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18, locked_room_prob: Any = 0.5,
          action_kinds: Any = VERBS) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, locked_room_prob, locations=False,
                      implicit_unlock=False, action_kinds=action_kinds, instr_kinds=("action",),
                      free=(*ALL, "locked_room_prob", "action_kinds"))


@level
def synth_loc(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
              locked_room_prob: Any = 0.5, action_kinds: Any = VERBS) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, locked_room_prob, implicit_unlock=False,
                      action_kinds=action_kinds, instr_kinds=("action",),
                      free=(*ALL, "locked_room_prob", "action_kinds"))


@level
def synth_seq(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
              locked_room_prob: Any = 0.5, action_kinds: Any = VERBS, instr_kinds: Any = CLAUSES) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, locked_room_prob, implicit_unlock=False,
                      action_kinds=action_kinds, instr_kinds=instr_kinds,
                      free=(*ALL, "locked_room_prob", "action_kinds", "instr_kinds"))


MEANING = ("locations", "unblocking", "implicit_unlock", "action_kinds", "instr_kinds")


@level
def mini_boss_level(locations: Any = True, unblocking: Any = True, implicit_unlock: Any = True,
                    action_kinds: Any = VERBS, instr_kinds: Any = CLAUSES) -> Level:
    return _level_gen(5, 2, 2, 7, 0.25, locations, unblocking, implicit_unlock, action_kinds, instr_kinds,
                      free=MEANING)


@level
def boss_level(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
               locked_room_prob: Any = 0.5, locations: Any = True, unblocking: Any = True, implicit_unlock: Any = True,
               action_kinds: Any = VERBS, instr_kinds: Any = CLAUSES) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, locked_room_prob, locations, unblocking,
                      implicit_unlock, action_kinds, instr_kinds, free=(*ALL, "locked_room_prob", *MEANING))


@level
def boss_level_no_unlock(room_size: Any = 8, num_rows: Any = 3, num_cols: Any = 3, num_dists: Any = 18,
                         locations: Any = True, unblocking: Any = True, action_kinds: Any = VERBS,
                         instr_kinds: Any = CLAUSES) -> Level:
    return _level_gen(room_size, num_rows, num_cols, num_dists, 0, locations, unblocking, False, action_kinds,
                      instr_kinds, free=(*ALL, "locations", "unblocking", "action_kinds", "instr_kinds"))
