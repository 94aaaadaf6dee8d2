"""The spec of the robotic warehouse: its options, layouts and spaces."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypool.options import Option, boolean, choice, describes, integer, optional
from cypool.spec import Array, Discrete, EnvSpec, Group
from cypool.util.arguments import check_choice, check_list, shown

# in the order of the enumerations in warehouse.h
REWARD_TYPES = ("global", "individual", "two_stage")
OBSERVATION_TYPES = ("flattened", "image", "image_dict")
LAYERS = ("shelves", "requests", "agents", "agent_direction", "agent_load", "goals", "accessible")
# NumPy draws cells of larger grids in another way
_MOST_CELLS = 10_000
_LONGEST = 2**30
# agents whose step takes well below a microsecond
_MOST_BRIEF = 4


class WarehouseLayout(NamedTuple):
    """The cells of a warehouse.

    Attributes:
        highways: Whether each cell has no place for a shelf: (rows, columns).
        goals: Columns and rows of goals.
    """

    highways: NDArray[np.bool_]
    goals: list[tuple[int, int]]


def _check_layout(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a str, got {shown(value)}")
    lines = value.strip().replace(" ", "").lower().split("\n")
    if set("".join(lines)) - set("xg.") or len({len(line) for line in lines}) > 1 or "g" not in value.lower():
        raise ValueError(f"{name}: expected equal-length lines of 'x', '.' and at least one 'g', got {shown(value)}")
    return "\n".join(lines)


def _check_layers(name: str, value: Any) -> tuple[str, ...]:
    layers = tuple(check_choice(f"{name}[{k}]", layer, LAYERS)
                   for k, layer in enumerate(check_list(name, value, "a list of layers")))
    if not layers or len(set(layers)) < len(layers):
        raise ValueError(f"{name}: expected one or more unique layers, got {shown(value)}")
    return layers


@describes(
    shelf_columns=integer(3, 1, 99, "Number of shelf columns, each two cells wide; must be odd."),
    column_height=integer(8, 1, 100, "Height of each column, in shelves."),
    shelf_rows=integer(1, 1, 100, "Number of rows of shelf columns."),
    n_agents=integer(2, 1, 100, "Number of agents."),
    msg_bits=integer(0, 0, 16, "Number of bits in each agent's message."),
    sensor_range=integer(1, 0, 20, "Number of cells that an agent sees in each direction."),
    request_queue_size=integer(2, 0, _MOST_CELLS, "Number of shelves requested at a time."),
    max_inactivity_steps=integer(None, 1, _LONGEST, "Number of steps without a delivery after which an episode "
                                                    "ends; None: unlimited."),
    max_steps=integer(None, 1, _LONGEST, "Maximum number of steps per episode; None: unlimited.").with_default(500),
    reward_type=choice("individual", REWARD_TYPES, "Who gets the reward for a delivery."),
    layout=optional(_check_layout, 'A custom layout instead of columns and rows of shelves: lines of "x" for a shelf, '
                                   '"." for a highway and "g" for a goal.'),
    observation_type=choice("flattened", OBSERVATION_TYPES, "Observations: numbers, layers of cells, or layers "
                                                            "together with the agent's own features."),
    image_observation_layers=Option(("shelves", "requests", "agents", "goals", "accessible"), _check_layers,
                                    f"The layers to observe, chosen from {', '.join(LAYERS)}."),
    image_observation_directional=boolean(True, "Rotates layers so that the agent faces up."),
    normalised_coordinates=boolean(False, "Scales the agent's own position to [0, 1]."),
    truncate=boolean(False, "Reports the end of an episode as truncation; rware reports it as termination."))
def warehouse(options: dict[str, Any]) -> EnvSpec:
    layout = layout_of(options)
    rows, cols = layout.highways.shape
    shelves, agents, side = int((~layout.highways).sum()), options["n_agents"], 2 * options["sensor_range"] + 1
    name = "layout" if options["layout"] is not None else "shelf_rows, shelf_columns and column_height"
    if rows * cols > _MOST_CELLS:
        raise ValueError(f"{name}: expected at most {_MOST_CELLS} cells, got {rows} x {cols}")
    if not shelves:
        raise ValueError(f"{name}: expected a layout with at least one shelf")
    if agents > rows * cols:
        raise ValueError(f"n_agents: expected at most {rows * cols} (the number of cells), got {agents}")
    if options["request_queue_size"] >= shelves:
        raise ValueError(f"request_queue_size: expected at most {shelves - 1}, one less than the number of shelves, "
                         f"got {options['request_queue_size']}")
    if options["normalised_coordinates"] and min(rows, cols) < 2:
        raise ValueError("normalised_coordinates: expected False with a single row or column, got True")
    layers = options["image_observation_layers"]
    if options["observation_type"] == "flattened":
        observation: Any = Array((8 + side * side * (7 + options["msg_bits"]),), np.float32)
    else:
        if rows != cols and {"agent_direction", "agent_load"} & set(layers):
            raise ValueError("image_observation_layers: expected a square grid for agent_direction and agent_load "
                             f"(rware swaps their rows and columns), got {rows} x {cols}")
        high = np.ones((len(layers), side, side), np.float32)
        for layer, bounds in zip(layers, high, strict=True):
            bounds[:] = 4 if layer == "agent_direction" else 1
        observation = Array(high.shape, np.float32, 0, high)
        if options["observation_type"] == "image_dict":
            observation = {"features": Array((6,), np.float32), "image": observation}
    bits = options["msg_bits"]
    action = Array((1 + bits,), np.int64, 0, [4] + [1] * bits) if bits else Discrete(5)
    return EnvSpec(agents={"agent": Group(agents, observation, action)}, state="observations", options=options,
                   render_fps=10, brief_steps=agents <= _MOST_BRIEF)


def settings_of(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings that warehouse.h reads."""
    layout = layout_of(options)
    rows, cols = layout.highways.shape
    return {**options, "rows": rows, "cols": cols, "highways": layout.highways, "goals": layout.goals,
            "reward_type": REWARD_TYPES.index(options["reward_type"]),
            "observation_type": OBSERVATION_TYPES.index(options["observation_type"]),
            "image_observation_layers": [LAYERS.index(name) for name in options["image_observation_layers"]]}


def layout_of(options: dict[str, Any]) -> WarehouseLayout:
    """Returns the layout that the options describe.

    Raises:
        ValueError: The number of columns of shelves is even.
    """
    if options["layout"] is not None:
        lines = options["layout"].split("\n")
        highways = np.array([[cell != "x" for cell in line] for line in lines])
        goals = [(x, y) for y, line in enumerate(lines) for x, cell in enumerate(line) if cell == "g"]
        return WarehouseLayout(highways, goals)
    height = options["column_height"]
    if options["shelf_columns"] % 2 == 0:
        raise ValueError(f"shelf_columns: expected an odd number, got {options['shelf_columns']}")
    rows, cols = (height + 1) * options["shelf_rows"] + 2, 3 * options["shelf_columns"] + 1
    goals = [(cols // 2 - 1, rows - 1), (cols // 2, rows - 1)]
    y, x = np.indices((rows, cols))
    is_queue = (y > rows - height - 3) & ((x == goals[0][0]) | (x == goals[1][0]))
    return WarehouseLayout((x % 3 == 0) | (y % (height + 1) == 0) | (y == rows - 1) | is_queue, goals)
