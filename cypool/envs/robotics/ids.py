"""The ids of Gymnasium-Robotics, except those that need mujoco_py."""
from typing import Any

from cypool.envs.family import Family
from cypool.registration.registry import register, register_absent

FAMILY = Family(
    name="robotics",
    title="Gymnasium-Robotics",
    description="goal-based robot tasks (Fetch, Shadow Hand, mazes, Adroit and Franka Kitchen)",
    licence="MuJoCo: Apache 2.0; gymnasium-robotics: MIT, with models under their makers' licenses",
    package="gymnasium_robotics",
    extra="robotics",
    reference="gymnasium-robotics 1.4.2 with the installed MuJoCo",
    fidelity="everything, if gymnasium-robotics runs with this MuJoCo",
    smoke_ids=("FetchReach-v4", "PointMaze_UMaze-v3"),
    peers={"*": ("loop", "sync-vector", "rollout", "envpool")})

_REFERENCE = "cypool.envs.robotics.reference:make_reference"

# by name: rows of cells, where "#" is a wall; numbers of steps of a ball's and of an ant's episode; and, of those with
# several goals, where goals are, by row and column: the first place is a start
_MAZES: dict[str, tuple[tuple[str, ...], int, int, list[tuple[int, int]]]] = {
    "UMaze": (("#####", "#   #", "### #", "#   #", "#####"), 300, 700, []),
    "Open": (("#######", "#     #", "#     #", "#     #", "#######"), 300, 700,
             [(i, j) for i in (1, 2, 3) for j in range(1, 6)]),
    "Medium": (("########", "#  ##  #", "#  #   #", "##   ###", "#  #   #", "# #  # #", "#   #  #", "########"),
               600, 1000, [(1, 1), (2, 6), (5, 1), (6, 5)]),
    "Large": (("############", "#    #     #", "# ## # # # #", "#      #   #", "# #### ### #", "#  # #     #",
               "## # # # ###", "#  #   #   #", "############"), 800, 1000,
              [(1, 1), (1, 6), (3, 5), (3, 10), (5, 2), (7, 4), (7, 6), (7, 9)]),
}
# of their ids, with the letters of the start and of the goals
_GOALS = {"": "", "_Diverse_G": "rg", "_Diverse_GR": "cc"}


def _maze(rows: tuple[str, ...], places: list[tuple[int, int]], letters: str) -> tuple[Any, ...]:
    """Returns the map of a maze, with letters at these places."""
    cells: list[list[int | str]] = [[int(cell == "#") for cell in row] for row in rows]
    for k, (i, j) in enumerate(places if letters else ()):
        cells[i][j] = letters[k > 0]
    return tuple(map(tuple, cells))


def _register(id: str, class_name: str, max_episode_steps: int, **options: Any) -> None:
    register(id, f"cypool.envs.robotics.robotics:{class_name}", max_episode_steps=max_episode_steps,
             reference=_REFERENCE, **options)


def _register_all() -> None:
    absent = []
    for dense in ("", "Dense"):
        reward: dict[str, Any] = {"reward_type": "dense" if dense else "sparse"}
        for task in ("Reach", "Push", "Slide", "PickAndPlace"):
            _register(f"Fetch{task}{dense}-v4", f"Fetch{task}", 50, **reward)
            absent.append(f"Fetch{task}{dense}-v1")
        _register(f"HandReach{dense}-v3", "HandReach", 50, **reward)
        absent.append(f"HandReach{dense}-v0")
        for thing, turns in _TURNS.items():
            for turn, (position, rotation) in turns.items():
                options = {**reward, "target_position": position, "target_rotation": rotation}
                _register(f"HandManipulate{thing}{turn}{dense}-v1", f"Hand{thing}", 100, **options)
                absent.append(f"HandManipulate{thing}{turn}{dense}-v0")
                for touch, observed in (("Boolean", "boolean"), ("Continuous", "sensordata")) if turn != "Full" else ():
                    name = f"HandManipulate{thing}{turn}_{touch}TouchSensors{dense}"
                    _register(f"{name}-v1", f"Hand{thing}", 100, touch_get_obs=observed, **options)
                    absent.append(f"{name}-v0")
        for maze, (rows, point_steps, ant_steps, places) in _MAZES.items():
            for goals, letters in _GOALS.items() if places else (("", ""),):
                options = {**reward, "maze_map": _maze(rows, places, letters)}
                _register(f"PointMaze_{maze}{goals}{dense}-v3", "PointMaze", point_steps, **options)
                for version, kind in (3, "AntMazeV3"), (4, "AntMazeV4"), (5, "AntMaze"):
                    _register(f"AntMaze_{maze}{goals}{dense}-v{version}", kind, ant_steps, **options)
        for task in ("Door", "Hammer", "Pen", "Relocate"):
            _register(f"AdroitHand{task}{'' if dense else 'Sparse'}-v1", f"Adroit{task}", 200, **reward)
    _register("FrankaKitchen-v1", "FrankaKitchen", 280)
    register_absent(absent, "gymnasium-robotics implements it with mujoco_py, which is no longer maintained: use a "
                            "newer version of the environment")


# the thing to move: by the name of the task, the kinds of the goal's place and rotation
_TURNS = {
    "Block": {"": ("random", "xyz"), "Full": ("random", "xyz"), "RotateZ": ("ignore", "z"),
              "RotateParallel": ("ignore", "parallel"), "RotateXYZ": ("ignore", "xyz")},
    "Egg": {"": ("random", "xyz"), "Full": ("random", "xyz"), "Rotate": ("ignore", "xyz")},
    "Pen": {"": ("random", "xyz"), "Full": ("random", "xyz"), "Rotate": ("ignore", "xyz")},
}

_register_all()
