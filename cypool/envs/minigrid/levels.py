"""The levels: a function for each minigrid class, with the names and defaults of its arguments, and its ids.

The function checks the arguments and returns a `Level`, which names the method of `Levels` (levels.h) that draws it.
BabyAI's levels are in babyai.py and babyai.h. A line in `LEVELS`, in the same header, names the method that steps the
level. New numbers that it reads belong in `CYPOOL_OPTIONS` (rooms.h). Ids, classes and tests follow from these.
specs.py has the options that all levels share.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cypool.util.arguments import check_bool, check_choice, check_int, check_list, shown

MAX_SIZE = 1000  # cells of a side
MAX_OBJECTS = 10_000
COLORS = ("red", "green", "blue", "purple", "yellow", "grey")  # by number
TYPES = {"key": 5, "ball": 6, "box": 7}
OBSTACLES = {"wall": 1, "lava": 3}
VERBS = ("goto", "pickup", "open", "putnext")
CLAUSES = ("action", "and", "seq")
ANY = -1
# the longest missions have 82 and 321 characters
MISSION_LENGTH, BABYAI_MISSION_LENGTH = 96, 328


class Level(NamedTuple):
    """A level with its arguments.

    Attributes:
        generator: The function that draws it, in `LEVELS` of levels.h or of babyai.h.
        options: The arguments that only this level has, checked.
        numbers: For the generator: the `Options` of rooms.h that differ from 0.
        max_steps: The step limit if `max_steps` is not given; 0: BabyAI's, which depends on the mission.
        mission: The mission, if all episodes share it.
        see_through: Whether the agent sees through walls if `see_through_walls` is not given.
        num_actions: Number of actions.
        mission_length: Number of letters in the longest mission.
        has_goal: Whether there is always a goal.
    """

    generator: str
    options: dict[str, Any]
    numbers: dict[str, Any]
    max_steps: int
    mission: str = ""
    see_through: bool = False
    num_actions: int = 7
    mission_length: int = MISSION_LENGTH
    has_goal: bool = False

    def grid(self) -> tuple[int, int]:
        """Returns the width and height of the grid."""
        numbers, size = self.numbers, self.numbers.get("room_size")
        if size:
            return (size - 1) * numbers["num_cols"] + 1, (size - 1) * numbers["num_rows"] + 1
        return numbers["width"], numbers["height"]


class LevelClass(NamedTuple):
    """A minigrid class.

    Attributes:
        arguments: Checks the arguments of its constructor, and returns the level.
        ids: Its ids, with the arguments of each.
    """

    arguments: Callable[..., Level]
    ids: Mapping[str, Mapping[str, Any]]


# by name
CLASSES: dict[str, LevelClass] = {}


def level(ids: Mapping[str, Mapping[str, Any]], prefix: str = "") -> Callable[[Callable[..., Level]],
                                                                             Callable[..., Level]]:
    """Adds a class to `CLASSES`; `door_key` becomes the class `DoorKey`, preceded by the prefix."""
    def add(function: Callable[..., Level]) -> Callable[..., Level]:
        name = prefix + "".join(word.capitalize() for word in function.__name__.split("_"))
        CLASSES[name] = LevelClass(function, ids)
        return function

    return add


def _position(name: str, value: Any, width: int, height: int) -> tuple[int, int] | None:
    """Returns a cell within the walls around the grid, or None."""
    if value is None:
        return None
    xy = check_list(name, value, "a pair (x, y) or None")
    if len(xy) != 2:
        raise ValueError(f"{name}: expected a pair (x, y) or None, got {shown(value)}")
    return check_int(f"{name}[0]", xy[0], 1, width - 2), check_int(f"{name}[1]", xy[1], 1, height - 2)


def _xy(name: str, position: tuple[int, int] | None) -> dict[str, int]:
    x, y = position or (ANY, ANY)
    return {f"{name}_x": x, f"{name}_y": y}


def _color(name: str, value: Any) -> str | None:
    return None if value is None else check_choice(name, value, COLORS)


def _size(size: Any, smallest: int) -> int:
    return check_int("size", size, smallest, MAX_SIZE)


# minigrid.envs


def _with_start(size: Any, agent_start_pos: Any, agent_start_dir: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    size = _size(size, 4)
    position = _position("agent_start_pos", agent_start_pos, size, size)
    direction = check_int("agent_start_dir", agent_start_dir, 0, 3)
    return ({"size": size, "agent_start_pos": position, "agent_start_dir": direction},
            {"width": size, "height": size, **_xy("start", position), "start_dir": direction})


GREEN_GOAL = "get to the green goal square"
MISSION_OF = {"lava": "avoid the lava and " + GREEN_GOAL, "wall": "find the opening and " + GREEN_GOAL}


@level({
    "MiniGrid-Empty-5x5-v0": {"size": 5},
    "MiniGrid-Empty-Random-5x5-v0": {"size": 5, "agent_start_pos": None},
    "MiniGrid-Empty-6x6-v0": {"size": 6},
    "MiniGrid-Empty-Random-6x6-v0": {"size": 6, "agent_start_pos": None},
    "MiniGrid-Empty-8x8-v0": {},
    "MiniGrid-Empty-16x16-v0": {"size": 16},
})
def empty(size: Any = 8, agent_start_pos: Any = (1, 1), agent_start_dir: Any = 0) -> Level:
    options, numbers = _with_start(size, agent_start_pos, agent_start_dir)
    return Level("empty", options, numbers, 4 * options["size"]**2, GREEN_GOAL, see_through=True, has_goal=True)


@level({
    "MiniGrid-LavaCrossingS9N1-v0": {"size": 9, "num_crossings": 1},
    "MiniGrid-LavaCrossingS9N2-v0": {"size": 9, "num_crossings": 2},
    "MiniGrid-LavaCrossingS9N3-v0": {"size": 9, "num_crossings": 3},
    "MiniGrid-LavaCrossingS11N5-v0": {"size": 11, "num_crossings": 5},
    "MiniGrid-SimpleCrossingS9N1-v0": {"size": 9, "num_crossings": 1, "obstacle_type": "wall"},
    "MiniGrid-SimpleCrossingS9N2-v0": {"size": 9, "num_crossings": 2, "obstacle_type": "wall"},
    "MiniGrid-SimpleCrossingS9N3-v0": {"size": 9, "num_crossings": 3, "obstacle_type": "wall"},
    "MiniGrid-SimpleCrossingS11N5-v0": {"size": 11, "num_crossings": 5, "obstacle_type": "wall"},
})
def crossing(size: Any = 9, num_crossings: Any = 1, obstacle_type: Any = "lava") -> Level:
    size = _size(size, 5)
    if size % 2 == 0:
        raise ValueError(f"size: expected an odd number, got {size}")
    options = {"size": size, "num_crossings": check_int("num_crossings", num_crossings, 0, MAX_SIZE),
               "obstacle_type": check_choice("obstacle_type", obstacle_type, OBSTACLES)}
    numbers = {"width": size, "height": size, "num_crossings": options["num_crossings"],
               "obstacle": OBSTACLES[obstacle_type]}
    return Level("crossing", options, numbers, 4 * size**2, MISSION_OF[obstacle_type], has_goal=True)


@level({
    "MiniGrid-DistShift1-v0": {"strip2_row": 2},
    "MiniGrid-DistShift2-v0": {"strip2_row": 5},
})
def dist_shift(width: Any = 9, height: Any = 7, agent_start_pos: Any = (1, 1), agent_start_dir: Any = 0,
               strip2_row: Any = 2) -> Level:
    width, height = check_int("width", width, 7, MAX_SIZE), check_int("height", height, 4, MAX_SIZE)
    position = _position("agent_start_pos", agent_start_pos, width, height)
    options = {"width": width, "height": height, "agent_start_pos": position,
               "agent_start_dir": check_int("agent_start_dir", agent_start_dir, 0, 3),
               "strip2_row": check_int("strip2_row", strip2_row, 1, height - 2)}
    numbers = {"width": width, "height": height, **_xy("start", position), "start_dir": options["agent_start_dir"],
               "strip2_row": options["strip2_row"]}
    return Level("dist_shift", options, numbers, 4 * width * height, GREEN_GOAL, see_through=True, has_goal=True)


@level({
    "MiniGrid-DoorKey-5x5-v0": {"size": 5},
    "MiniGrid-DoorKey-6x6-v0": {"size": 6},
    "MiniGrid-DoorKey-8x8-v0": {"size": 8},
    "MiniGrid-DoorKey-16x16-v0": {"size": 16},
})
def door_key(size: Any = 8) -> Level:
    size = _size(size, 5)
    return Level("door_key", {"size": size}, {"width": size, "height": size}, 10 * size**2,
                 "use the key to open the door and then get to the goal", has_goal=True)


@level({
    "MiniGrid-Dynamic-Obstacles-5x5-v0": {"size": 5, "n_obstacles": 2},
    "MiniGrid-Dynamic-Obstacles-Random-5x5-v0": {"size": 5, "agent_start_pos": None, "n_obstacles": 2},
    "MiniGrid-Dynamic-Obstacles-6x6-v0": {"size": 6, "n_obstacles": 3},
    "MiniGrid-Dynamic-Obstacles-Random-6x6-v0": {"size": 6, "agent_start_pos": None, "n_obstacles": 3},
    "MiniGrid-Dynamic-Obstacles-8x8-v0": {},
    "MiniGrid-Dynamic-Obstacles-16x16-v0": {"size": 16, "n_obstacles": 8},
})
def dynamic_obstacles(size: Any = 8, agent_start_pos: Any = (1, 1), agent_start_dir: Any = 0,
                      n_obstacles: Any = 4) -> Level:
    options, numbers = _with_start(size, agent_start_pos, agent_start_dir)
    options["n_obstacles"] = check_int("n_obstacles", n_obstacles, 0, MAX_OBJECTS)
    # as many as its class makes of it
    size, count = options["size"], options["n_obstacles"]
    numbers["n_obstacles"] = count if count <= size / 2 + 1 else size // 2
    return Level("dynamic_obstacles", options, numbers, 4 * size**2, GREEN_GOAL, see_through=True, num_actions=3,
                 has_goal=True)


def _with_objects(generator: str, size: Any, num_objs: Any, fewest: int, max_objects: int,
                  limit: Callable[[int], int]) -> Level:
    size = _size(size, 5)
    num_objs = check_int("numObjs", num_objs, fewest, min(max_objects, (size - 2)**2 - 1))
    return Level(generator, {"size": size, "numObjs": num_objs}, {"width": size, "height": size, "num_objs": num_objs},
                 limit(size), see_through=True)


@level({
    "MiniGrid-Fetch-5x5-N2-v0": {"size": 5, "numObjs": 2},
    "MiniGrid-Fetch-6x6-N2-v0": {"size": 6, "numObjs": 2},
    "MiniGrid-Fetch-8x8-N3-v0": {},
})
def fetch(size: Any = 8, numObjs: Any = 3) -> Level:
    return _with_objects("fetch", size, numObjs, 1, MAX_OBJECTS, lambda size: 5 * size**2)


@level({"MiniGrid-FourRooms-v0": {}})
def four_rooms(agent_pos: Any = None, goal_pos: Any = None) -> Level:
    agent, goal = _position("agent_pos", agent_pos, 19, 19), _position("goal_pos", goal_pos, 19, 19)
    return Level("four_rooms", {"agent_pos": agent, "goal_pos": goal},
                 {"width": 19, "height": 19, **_xy("start", agent), **_xy("goal", goal)}, 100, "reach the goal",
                 has_goal=True)


@level({
    "MiniGrid-GoToDoor-5x5-v0": {},
    "MiniGrid-GoToDoor-6x6-v0": {"size": 6},
    "MiniGrid-GoToDoor-8x8-v0": {"size": 8},
})
def go_to_door(size: Any = 5) -> Level:
    size = _size(size, 5)
    return Level("go_to_door", {"size": size}, {"width": size, "height": size}, 4 * size**2, see_through=True)


@level({
    "MiniGrid-GoToObject-6x6-N2-v0": {},
    "MiniGrid-GoToObject-8x8-N2-v0": {"size": 8, "numObjs": 2},
})
def go_to_object(size: Any = 6, numObjs: Any = 2) -> Level:
    # all differ in type or colour
    return _with_objects("go_to_object", size, numObjs, 1, 18, lambda size: 5 * size**2)


@level({
    "MiniGrid-KeyCorridorS3R1-v0": {"room_size": 3, "num_rows": 1},
    "MiniGrid-KeyCorridorS3R2-v0": {"room_size": 3, "num_rows": 2},
    "MiniGrid-KeyCorridorS3R3-v0": {"room_size": 3, "num_rows": 3},
    "MiniGrid-KeyCorridorS4R3-v0": {"room_size": 4, "num_rows": 3},
    "MiniGrid-KeyCorridorS5R3-v0": {"room_size": 5, "num_rows": 3},
    "MiniGrid-KeyCorridorS6R3-v0": {"room_size": 6, "num_rows": 3},
})
def key_corridor(num_rows: Any = 3, obj_type: Any = "ball", room_size: Any = 6, num_cols: Any = 3) -> Level:
    options, numbers, limit = _corridor(num_rows, obj_type, room_size, num_cols)
    return Level("key_corridor", options, numbers, limit)


def _corridor(num_rows: Any, obj_type: Any, room_size: Any,
              num_cols: Any) -> tuple[dict[str, Any], dict[str, Any], int]:
    options: dict[str, Any] = {"num_rows": check_int("num_rows", num_rows, 1, 100),
                               "obj_type": check_choice("obj_type", obj_type, TYPES),
                               "room_size": check_int("room_size", room_size, 3, 100),
                               # the locked room is in the third
                               "num_cols": check_int("num_cols", num_cols, 3, 100)}
    return options, {**options, "obj_type": TYPES[obj_type]}, 30 * options["room_size"]**2


@level({
    "MiniGrid-LavaGapS5-v0": {"size": 5},
    "MiniGrid-LavaGapS6-v0": {"size": 6},
    "MiniGrid-LavaGapS7-v0": {"size": 7},
})
def lava_gap(size: Any = 5, obstacle_type: Any = "lava") -> Level:
    size = _size(size, 5)
    obstacle_type = check_choice("obstacle_type", obstacle_type, OBSTACLES)
    return Level("lava_gap", {"size": size, "obstacle_type": obstacle_type},
                 {"width": size, "height": size, "obstacle": OBSTACLES[obstacle_type]}, 4 * size**2,
                 MISSION_OF[obstacle_type], has_goal=True)


@level({"MiniGrid-LockedRoom-v0": {}})
def locked_room(size: Any = 19) -> Level:
    # doors are three cells below the top of a room
    size = _size(size, 15)
    return Level("locked_room", {"size": size}, {"width": size, "height": size}, 10 * size, has_goal=True)


@level({
    "MiniGrid-MemoryS17Random-v0": {"size": 17, "random_length": True},
    "MiniGrid-MemoryS13Random-v0": {"size": 13, "random_length": True},
    "MiniGrid-MemoryS13-v0": {"size": 13},
    "MiniGrid-MemoryS11-v0": {"size": 11},
    "MiniGrid-MemoryS9-v0": {"size": 9},
    "MiniGrid-MemoryS7-v0": {"size": 7},
})
def memory(size: Any = 9, random_length: Any = False) -> Level:
    random_length = check_bool("random_length", random_length)
    size = _size(size, 7)
    if size % 2 == 0:
        raise ValueError(f"size: expected an odd number, got {size}")
    return Level("memory", {"size": size, "random_length": random_length},
                 {"width": size, "height": size, "random_length": random_length}, 5 * size**2,
                 "go to the matching object at the end of the hallway")


@level({
    "MiniGrid-MultiRoom-N2-S4-v0": {"minNumRooms": 2, "maxNumRooms": 2, "maxRoomSize": 4},
    "MiniGrid-MultiRoom-N4-S5-v0": {"minNumRooms": 6, "maxNumRooms": 6, "maxRoomSize": 5},
    "MiniGrid-MultiRoom-N4-S5-v1": {"minNumRooms": 4, "maxNumRooms": 4, "maxRoomSize": 5},
    "MiniGrid-MultiRoom-N6-v0": {"minNumRooms": 6, "maxNumRooms": 6},
})
def multi_room(minNumRooms: Any = 6, maxNumRooms: Any = 6, maxRoomSize: Any = 10, width: Any = 25,
               height: Any = 25) -> Level:
    fewest = check_int("minNumRooms", minNumRooms, 1, 500)
    options = {"minNumRooms": fewest, "maxNumRooms": check_int("maxNumRooms", maxNumRooms, fewest, 500),
               "maxRoomSize": check_int("maxRoomSize", maxRoomSize, 4, MAX_SIZE),
               "width": check_int("width", width, 6, MAX_SIZE), "height": check_int("height", height, 6, MAX_SIZE)}
    numbers = {"min_rooms": fewest, "max_rooms": options["maxNumRooms"], "max_room_size": options["maxRoomSize"],
               "width": options["width"], "height": options["height"]}
    return Level("multi_room", options, numbers, 20 * options["maxNumRooms"],
                 "traverse the rooms to get to the goal", has_goal=True)


@level({
    "MiniGrid-ObstructedMaze-1Dl-v0": {"key_in_box": False, "blocked": False},
    "MiniGrid-ObstructedMaze-1Dlh-v0": {"key_in_box": True, "blocked": False},
    "MiniGrid-ObstructedMaze-1Dlhb-v0": {},
})
def obstructed_maze_1d(key_in_box: Any = True, blocked: Any = True) -> Level:
    options = {"key_in_box": check_bool("key_in_box", key_in_box), "blocked": check_bool("blocked", blocked)}
    return Level("obstructed_maze", options, {**options, "room_size": 6, "num_rows": 1, "num_cols": 2}, 4 * 2 * 6**2)


def _obstructed_maze(v1: bool, agent_room: Any, key_in_box: Any, blocked: Any, num_quarters: Any,
                     num_rooms_visited: Any) -> Level:
    room = check_list("agent_room", agent_room, "a pair (column, row)")
    if len(room) != 2:
        raise ValueError(f"agent_room: expected a pair (column, row), got {shown(agent_room)}")
    options: dict[str, Any] = {
        "agent_room": tuple(check_int(f"agent_room[{k}]", at, 0, 2) for k, at in enumerate(room)),
        "key_in_box": check_bool("key_in_box", key_in_box),
        "blocked": check_bool("blocked", blocked),
        "num_quarters": check_int("num_quarters", num_quarters, 1, 4),
        "num_rooms_visited": check_int("num_rooms_visited", num_rooms_visited, 1, 10**6),
    }
    numbers = {"room_size": 6, "num_rows": 3, "num_cols": 3, "v1": v1, "key_in_box": options["key_in_box"],
               "blocked": options["blocked"], "num_quarters": options["num_quarters"],
               "agent_room_x": options["agent_room"][0], "agent_room_y": options["agent_room"][1]}
    return Level("obstructed_maze", options, numbers, 4 * options["num_rooms_visited"] * 6**2)


# of both versions
_MAZES: dict[str, dict[str, Any]] = {
    "2Dlhb": {"agent_room": (2, 1), "key_in_box": True, "blocked": True, "num_quarters": 1, "num_rooms_visited": 4},
    "1Q": {"agent_room": (1, 1), "key_in_box": True, "blocked": True, "num_quarters": 1, "num_rooms_visited": 5},
    "2Q": {"agent_room": (2, 1), "key_in_box": True, "blocked": True, "num_quarters": 2, "num_rooms_visited": 11},
    "Full": {},
}


@level({
    "MiniGrid-ObstructedMaze-2Dl-v0": {**_MAZES["2Dlhb"], "key_in_box": False, "blocked": False},
    "MiniGrid-ObstructedMaze-2Dlh-v0": {**_MAZES["2Dlhb"], "blocked": False},
    **{f"MiniGrid-ObstructedMaze-{name}-v0": options for name, options in _MAZES.items()},
})
def obstructed_maze(agent_room: Any = (1, 1), key_in_box: Any = True, blocked: Any = True, num_quarters: Any = 4,
                    num_rooms_visited: Any = 25) -> Level:
    return _obstructed_maze(False, agent_room, key_in_box, blocked, num_quarters, num_rooms_visited)


@level({f"MiniGrid-ObstructedMaze-{name}-v1": options for name, options in _MAZES.items()})
def obstructed_maze_v1(agent_room: Any = (1, 1), key_in_box: Any = True, blocked: Any = True, num_quarters: Any = 4,
                       num_rooms_visited: Any = 25) -> Level:
    return _obstructed_maze(True, agent_room, key_in_box, blocked, num_quarters, num_rooms_visited)


@level({"MiniGrid-Playground-v0": {}})
def playground() -> Level:
    return Level("playground", {}, {"width": 19, "height": 19}, 100)


@level({
    "MiniGrid-PutNear-6x6-N2-v0": {},
    "MiniGrid-PutNear-8x8-N3-v0": {"size": 8, "numObjs": 3},
})
def put_near(size: Any = 6, numObjs: Any = 2) -> Level:
    return _with_objects("put_near", size, numObjs, 2, 18, lambda size: 5 * size)


@level({
    "MiniGrid-RedBlueDoors-6x6-v0": {"size": 6},
    "MiniGrid-RedBlueDoors-8x8-v0": {},
})
def red_blue_doors(size: Any = 8) -> Level:
    size = _size(size, 4)
    return Level("red_blue_doors", {"size": size}, {"width": 2 * size, "height": size}, 20 * size**2,
                 "open the red door then the blue door")


@level({"MiniGrid-Unlock-v0": {}})
def unlock() -> Level:
    return Level("unlock", {}, {"room_size": 6, "num_rows": 1, "num_cols": 2}, 8 * 6**2, "open the door")


@level({"MiniGrid-UnlockPickup-v0": {}})
def unlock_pickup() -> Level:
    return Level("unlock_pickup", {}, {"room_size": 6, "num_rows": 1, "num_cols": 2}, 8 * 6**2)


@level({"MiniGrid-BlockedUnlockPickup-v0": {}})
def blocked_unlock_pickup() -> Level:
    return Level("unlock_pickup", {}, {"room_size": 6, "num_rows": 1, "num_cols": 2, "blocked": 1}, 16 * 6**2)
