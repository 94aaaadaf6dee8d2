"""The levels: a function or table entry for each minigrid class, with the arguments of its constructor, and its ids.

The function returns a `Level`, which names the method of `Levels` (levels.h) that draws it. BabyAI's levels are in
babyai.py and babyai.h. A line in `LEVELS`, in the same header, names the method that steps the level. New numbers that
it reads belong in `Setup` (rooms.h). Ids, classes and tests follow from these. specs.py has the options that all levels
share.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cypool.options import Option, boolean, choice, integer, unchecked
from cypool.util.arguments import check_int, check_list, shown

MAX_SIZE = 1000  # cells of a side
MAX_OBJECTS = 10_000
COLORS = {"red": 0, "green": 1, "blue": 2, "purple": 3, "yellow": 4, "grey": 5}
TYPES = {"key": 5, "ball": 6, "box": 7}
OBSTACLES = {"wall": 1, "lava": 3}
# the longest missions have 82 and 321 characters
MISSION_LENGTH, BABYAI_MISSION_LENGTH = 96, 328


class Level(NamedTuple):
    """A level with its arguments.

    Attributes:
        generator: The function that draws it, in `LEVELS` of levels.h or of babyai.h.
        grid: The width and height of the grid.
        max_steps: The step limit if `max_steps` is not given; 0: BabyAI's, which depends on the mission.
        mission: The mission, if all episodes share it.
        options: The options that the declaration leaves unchecked, checked.
        numbers: For the generator: the fields of `Setup` in rooms.h that are no options and differ from 0.
        see_through: Whether the agent sees through walls if `see_through_walls` is not given.
        num_actions: Number of actions.
        mission_length: Number of letters in the longest mission.
        has_goal: Whether there is always a goal.
    """

    generator: str
    grid: tuple[int, int]
    max_steps: int
    mission: str = ""
    options: Mapping[str, Any] = {}
    numbers: Mapping[str, Any] = {}
    see_through: bool = False
    num_actions: int = 7
    mission_length: int = MISSION_LENGTH
    has_goal: bool = False


class LevelClass(NamedTuple):
    """A minigrid class.

    Attributes:
        make: Takes the options, and returns the level.
        declared: The options that only this class has.
        ids: Its ids, with the options of each.
    """

    make: Callable[..., Level]
    declared: Mapping[str, Option]
    ids: Mapping[str, Mapping[str, Any]]


# by name
CLASSES: dict[str, LevelClass] = {}


def level(ids: Mapping[str, Mapping[str, Any]], **declared: Option) -> Callable[[Callable[..., Level]],
                                                                                Callable[..., Level]]:
    """Adds a class to `CLASSES`, by the name of its function: `door_key` becomes `DoorKey`."""
    def add(function: Callable[..., Level]) -> Callable[..., Level]:
        name = "".join(word.capitalize() for word in function.__name__.split("_"))
        CLASSES[name] = LevelClass(function, declared, ids)
        return function

    return add


def ids_of(pattern: str, *rows: tuple[Any, ...], **shared: Any) -> dict[str, dict[str, Any]]:
    """Returns ids with their options: a row has the values of those that are named in the pattern."""
    names = list(dict.fromkeys(part.partition("}")[0].partition(":")[0] for part in pattern.split("{")[1:]))
    named = [dict(zip(names, row, strict=True)) for row in rows]
    return {pattern.format(**options): {**options, **shared} for options in named}


def _pair(name: str, value: Any, expected: str, minimum: int, maxima: tuple[int, int]) -> tuple[int, ...]:
    pair = check_list(name, value, expected)
    if len(pair) != 2:
        raise ValueError(f"{name}: expected {expected}, got {shown(value)}")
    return tuple(check_int(f"{name}[{k}]", pair[k], minimum, maxima[k]) for k in range(2))


def _position(name: str, value: Any, grid: tuple[int, int]) -> dict[str, tuple[int, ...] | None]:
    """Returns an option that is a cell within the walls around the grid, or None."""
    width, height = grid
    return {name: None if value is None else _pair(name, value, "a pair (x, y) or None", 1, (width - 2, height - 2))}


def check_odd(name: str, value: Any, minimum: int, maximum: int) -> int:
    """Returns an odd number in this range."""
    number = check_int(name, value, minimum, maximum)
    if number % 2 == 0:
        raise ValueError(f"{name}: expected an odd number, got {number}")
    return number


def _size(default: int, smallest: int) -> Option:
    return integer(default, smallest, MAX_SIZE, "")


def _odd_size(default: int, smallest: int) -> Option:
    return Option(default, lambda name, value: check_odd(name, value, smallest, MAX_SIZE), "")


def in_rooms(generator: str, steps: int, *, room_size: int = 8, num_rows: int = 1, num_cols: int = 1,
             mission: str = "", mission_length: int = MISSION_LENGTH, **numbers: Any) -> Level:
    """Returns a level of rooms, which share their walls; the step limit is given per cell of a room."""
    grid = (room_size - 1) * num_cols + 1, (room_size - 1) * num_rows + 1
    return Level(generator, grid, steps * room_size**2, mission, mission_length=mission_length, numbers={
        "room_size": room_size, "num_rows": num_rows, "num_cols": num_cols, **numbers})


def rooms_level(name: str, generator: str, ids: Mapping[str, Mapping[str, Any]], steps: int, *,
                check: Callable[..., None] | None = None, **arguments: Any) -> None:
    """Adds a class of levels of rooms to `CLASSES`.

    Args:
        name: Its name.
        generator, steps: As in `in_rooms`.
        ids: As in `LevelClass`.
        check: Checks arguments together.
        **arguments: Options, and other arguments of `in_rooms`.
    """
    def make(**options: Any) -> Level:
        if check:
            check(**{**arguments, **options})
        return in_rooms(generator, steps, **{**arguments, **options})

    declared = {key: value for key, value in arguments.items() if isinstance(value, Option)}
    CLASSES[name] = LevelClass(make, declared, ids)


GREEN_GOAL = "get to the green goal square"
MISSION_OF = {"lava": "avoid the lava and " + GREEN_GOAL, "wall": "find the opening and " + GREEN_GOAL}
START: dict[str, Any] = {"agent_start_pos": unchecked((1, 1), ""), "agent_start_dir": integer(0, 0, 3, "")}


@level({
    "MiniGrid-Empty-5x5-v0": {"size": 5},
    "MiniGrid-Empty-Random-5x5-v0": {"size": 5, "agent_start_pos": None},
    "MiniGrid-Empty-6x6-v0": {"size": 6},
    "MiniGrid-Empty-Random-6x6-v0": {"size": 6, "agent_start_pos": None},
    "MiniGrid-Empty-8x8-v0": {},
    "MiniGrid-Empty-16x16-v0": {"size": 16},
}, size=_size(8, 4), **START)
def empty(size: int, agent_start_pos: Any, **_: Any) -> Level:
    grid = size, size
    return Level("empty", grid, 4 * size**2, GREEN_GOAL, _position("agent_start_pos", agent_start_pos, grid),
                 see_through=True, has_goal=True)


_CROSSINGS = (9, 1), (9, 2), (9, 3), (11, 5)


@level({
    **ids_of("MiniGrid-LavaCrossingS{size}N{num_crossings}-v0", *_CROSSINGS),
    **ids_of("MiniGrid-SimpleCrossingS{size}N{num_crossings}-v0", *_CROSSINGS, obstacle_type="wall"),
}, size=_odd_size(9, 5), num_crossings=integer(1, 0, MAX_SIZE, ""), obstacle_type=choice("lava", OBSTACLES, ""))
def crossing(size: int, obstacle_type: str, **_: Any) -> Level:
    return Level("crossing", (size, size), 4 * size**2, MISSION_OF[obstacle_type], has_goal=True)


@level({
    "MiniGrid-DistShift1-v0": {"strip2_row": 2},
    "MiniGrid-DistShift2-v0": {"strip2_row": 5},
}, width=integer(9, 7, MAX_SIZE, ""), height=integer(7, 4, MAX_SIZE, ""), **START, strip2_row=unchecked(2, ""))
def dist_shift(width: int, height: int, agent_start_pos: Any, strip2_row: Any, **_: Any) -> Level:
    options = {**_position("agent_start_pos", agent_start_pos, (width, height)),
               "strip2_row": check_int("strip2_row", strip2_row, 1, height - 2)}
    return Level("dist_shift", (width, height), 4 * width * height, GREEN_GOAL, options, see_through=True,
                 has_goal=True)


@level(ids_of("MiniGrid-DoorKey-{size}x{size}-v0", (5,), (6,), (8,), (16,)), size=_size(8, 5))
def door_key(size: int) -> Level:
    return Level("door_key", (size, size), 10 * size**2, "use the key to open the door and then get to the goal",
                 has_goal=True)


@level({
    "MiniGrid-Dynamic-Obstacles-5x5-v0": {"size": 5, "n_obstacles": 2},
    "MiniGrid-Dynamic-Obstacles-Random-5x5-v0": {"size": 5, "agent_start_pos": None, "n_obstacles": 2},
    "MiniGrid-Dynamic-Obstacles-6x6-v0": {"size": 6, "n_obstacles": 3},
    "MiniGrid-Dynamic-Obstacles-Random-6x6-v0": {"size": 6, "agent_start_pos": None, "n_obstacles": 3},
    "MiniGrid-Dynamic-Obstacles-8x8-v0": {},
    "MiniGrid-Dynamic-Obstacles-16x16-v0": {"size": 16, "n_obstacles": 8},
}, size=_size(8, 4), **START, n_obstacles=integer(4, 0, MAX_OBJECTS, ""))
def dynamic_obstacles(size: int, n_obstacles: int, **start: Any) -> Level:
    # as many as its class makes of it
    count = n_obstacles if n_obstacles <= size / 2 + 1 else size // 2
    return empty(size, **start)._replace(generator="dynamic_obstacles", numbers={"n_obstacles": count}, num_actions=3)


def _with_objects(generator: str, size: int, num_objs: Any, fewest: int, most: int, max_steps: int) -> Level:
    options = {"numObjs": check_int("numObjs", num_objs, fewest, min(most, (size - 2)**2 - 1))}
    return Level(generator, (size, size), max_steps, options=options, see_through=True)


@level({
    "MiniGrid-Fetch-5x5-N2-v0": {"size": 5, "numObjs": 2},
    "MiniGrid-Fetch-6x6-N2-v0": {"size": 6, "numObjs": 2},
    "MiniGrid-Fetch-8x8-N3-v0": {},
}, size=_size(8, 5), numObjs=unchecked(3, ""))
def fetch(size: int, numObjs: Any) -> Level:
    return _with_objects("fetch", size, numObjs, 1, MAX_OBJECTS, 5 * size**2)


@level({"MiniGrid-FourRooms-v0": {}}, agent_pos=unchecked(None, ""), goal_pos=unchecked(None, ""))
def four_rooms(agent_pos: Any, goal_pos: Any) -> Level:
    agent, goal = _position("agent_pos", agent_pos, (19, 19)), _position("goal_pos", goal_pos, (19, 19))
    return Level("four_rooms", (19, 19), 100, "reach the goal", {**agent, **goal}, has_goal=True)


@level({
    "MiniGrid-GoToDoor-5x5-v0": {},
    "MiniGrid-GoToDoor-6x6-v0": {"size": 6},
    "MiniGrid-GoToDoor-8x8-v0": {"size": 8},
}, size=_size(5, 5))
def go_to_door(size: int) -> Level:
    return Level("go_to_door", (size, size), 4 * size**2, see_through=True)


@level({
    "MiniGrid-GoToObject-6x6-N2-v0": {},
    "MiniGrid-GoToObject-8x8-N2-v0": {"size": 8, "numObjs": 2},
}, size=_size(6, 5), numObjs=unchecked(2, ""))
def go_to_object(size: int, numObjs: Any) -> Level:
    # all differ in type or colour
    return _with_objects("go_to_object", size, numObjs, 1, 18, 5 * size**2)


CORRIDORS = (3, 1), (3, 2), (3, 3), (4, 3), (5, 3), (6, 3)
CORRIDOR: dict[str, Any] = {
    "num_rows": integer(3, 1, 100, ""), "obj_type": choice("ball", TYPES, ""), "room_size": integer(6, 3, 100, ""),
    # the locked room is in the third
    "num_cols": integer(3, 3, 100, "")}
rooms_level("KeyCorridor", "key_corridor", ids_of("MiniGrid-KeyCorridorS{room_size}R{num_rows}-v0", *CORRIDORS), 30,
            **CORRIDOR)


@level(ids_of("MiniGrid-LavaGapS{size}-v0", (5,), (6,), (7,)),
       size=_size(5, 5), obstacle_type=choice("lava", OBSTACLES, ""))
def lava_gap(size: int, obstacle_type: str) -> Level:
    return Level("lava_gap", (size, size), 4 * size**2, MISSION_OF[obstacle_type], has_goal=True)


@level({"MiniGrid-LockedRoom-v0": {}}, size=_size(19, 15))
def locked_room(size: int) -> Level:
    # doors are three cells below the top of a room
    return Level("locked_room", (size, size), 10 * size, has_goal=True)


@level({
    **ids_of("MiniGrid-MemoryS{size}Random-v0", (17,), (13,), random_length=True),
    **ids_of("MiniGrid-MemoryS{size}-v0", (13,), (11,), (9,), (7,)),
}, size=_odd_size(9, 7), random_length=boolean(False, ""))
def memory(size: int, **_: Any) -> Level:
    return Level("memory", (size, size), 5 * size**2, "go to the matching object at the end of the hallway")


@level({
    "MiniGrid-MultiRoom-N2-S4-v0": {"minNumRooms": 2, "maxNumRooms": 2, "maxRoomSize": 4},
    "MiniGrid-MultiRoom-N4-S5-v0": {"minNumRooms": 6, "maxNumRooms": 6, "maxRoomSize": 5},
    "MiniGrid-MultiRoom-N4-S5-v1": {"minNumRooms": 4, "maxNumRooms": 4, "maxRoomSize": 5},
    "MiniGrid-MultiRoom-N6-v0": {"minNumRooms": 6, "maxNumRooms": 6},
}, minNumRooms=integer(6, 1, 500, ""), maxNumRooms=unchecked(6, ""), maxRoomSize=integer(10, 4, MAX_SIZE, ""),
   width=integer(25, 6, MAX_SIZE, ""), height=integer(25, 6, MAX_SIZE, ""))
def multi_room(minNumRooms: int, maxNumRooms: Any, width: int, height: int, **_: Any) -> Level:
    most = check_int("maxNumRooms", maxNumRooms, minNumRooms, 500)
    return Level("multi_room", (width, height), 20 * most, "traverse the rooms to get to the goal",
                 {"maxNumRooms": most}, has_goal=True)


rooms_level("ObstructedMaze1d", "obstructed_maze", {
    "MiniGrid-ObstructedMaze-1Dl-v0": {"key_in_box": False, "blocked": False},
    "MiniGrid-ObstructedMaze-1Dlh-v0": {"key_in_box": True, "blocked": False},
    "MiniGrid-ObstructedMaze-1Dlhb-v0": {},
}, 8, room_size=6, num_cols=2, key_in_box=boolean(True, ""), blocked=boolean(True, ""))

# of both versions
_MAZES: dict[str, dict[str, Any]] = {
    "2Dlhb": {"agent_room": (2, 1), "key_in_box": True, "blocked": True, "num_quarters": 1, "num_rooms_visited": 4},
    "1Q": {"agent_room": (1, 1), "key_in_box": True, "blocked": True, "num_quarters": 1, "num_rooms_visited": 5},
    "2Q": {"agent_room": (2, 1), "key_in_box": True, "blocked": True, "num_quarters": 2, "num_rooms_visited": 11},
    "Full": {},
}
MAZE: dict[str, Any] = {
    "agent_room": Option((1, 1), lambda name, value: _pair(name, value, "a pair (column, row)", 0, (2, 2)), ""),
    "key_in_box": boolean(True, ""), "blocked": boolean(True, ""), "num_quarters": integer(4, 1, 4, ""),
    "num_rooms_visited": integer(25, 1, 10**6, "")}


@level({
    "MiniGrid-ObstructedMaze-2Dl-v0": {**_MAZES["2Dlhb"], "key_in_box": False, "blocked": False},
    "MiniGrid-ObstructedMaze-2Dlh-v0": {**_MAZES["2Dlhb"], "blocked": False},
    **{f"MiniGrid-ObstructedMaze-{name}-v0": options for name, options in _MAZES.items()},
}, **MAZE)
def obstructed_maze(num_rooms_visited: int, **_: Any) -> Level:
    return in_rooms("obstructed_maze", 4 * num_rooms_visited, room_size=6, num_rows=3, num_cols=3)


@level({f"MiniGrid-ObstructedMaze-{name}-v1": options for name, options in _MAZES.items()}, **MAZE)
def obstructed_maze_v1(num_rooms_visited: int, **_: Any) -> Level:
    return in_rooms("obstructed_maze", 4 * num_rooms_visited, room_size=6, num_rows=3, num_cols=3, v1=True)


@level({"MiniGrid-Playground-v0": {}})
def playground() -> Level:
    return Level("playground", (19, 19), 100)


@level({
    "MiniGrid-PutNear-6x6-N2-v0": {},
    "MiniGrid-PutNear-8x8-N3-v0": {"size": 8, "numObjs": 3},
}, size=_size(6, 5), numObjs=unchecked(2, ""))
def put_near(size: int, numObjs: Any) -> Level:
    return _with_objects("put_near", size, numObjs, 2, 18, 5 * size)


@level({
    "MiniGrid-RedBlueDoors-6x6-v0": {"size": 6},
    "MiniGrid-RedBlueDoors-8x8-v0": {},
}, size=_size(8, 4))
def red_blue_doors(size: int) -> Level:
    return Level("red_blue_doors", (2 * size, size), 20 * size**2, "open the red door then the blue door")


rooms_level("Unlock", "unlock", {"MiniGrid-Unlock-v0": {}}, 8, room_size=6, num_cols=2, mission="open the door")
rooms_level("UnlockPickup", "unlock_pickup", {"MiniGrid-UnlockPickup-v0": {}}, 8, room_size=6, num_cols=2)
rooms_level("BlockedUnlockPickup", "unlock_pickup", {"MiniGrid-BlockedUnlockPickup-v0": {}}, 16, room_size=6,
            num_cols=2, blocked=True)
