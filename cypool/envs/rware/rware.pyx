# distutils: extra_compile_args = -O2
"""The robotic warehouse: agents bring requested shelves to goals and return them."""
from cypool.envs.shared.pixels.grid_picture import GridPicture
from cypool.envs.rware import specs

from libc.stdint cimport int16_t
from libcpp.vector cimport vector

from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv, RulesOf


cdef extern from "cypool/envs/rware/warehouse.h" namespace "cypool::rware" nogil:
    cdef struct Cell:
        int16_t x, y

    cdef cppclass World:
        pass

    vector[Cell] set_order(const vector[Cell]& cells) except +


def order_of_set(cells):
    """Returns cells (x, y) in the order in which Python iterates over a set to which they were added one by one.

    For tests.
    """
    cdef vector[Cell] given
    cdef Cell cell
    for cell.x, cell.y in cells:
        given.push_back(cell)
    return [(cell.x, cell.y) for cell in set_order(given)]


cdef class Warehouse(RulesEnv):
    """Agents move under shelves, carry requested shelves to goals, and return them to free places.

    Follows rware 2.0.0: the same seed and actions give bit-identical results.

    Observation: float32 (71,) with the default sensors: x, y, whether the agent carries a shelf, its one-hot direction
        (up, down, left, right), and whether it is on a highway. Then for each visible cell, row by row: whether it
        contains an agent, the agent's direction and message, whether it contains a shelf, and whether the shelf is
        requested. With "image": float32 (layers, 2 * `sensor_range` + 1, 2 * `sensor_range` + 1). With "image_dict":
        `features` float32 (6,), the agent's direction, whether it is on a highway and whether it carries a shelf;
        `image`.
    Action: Nothing (0), forward (1), turn left (2), turn right (3), load or unload (4). With `msg_bits`: int64 (1 +
        `msg_bits`,): this action, followed by the bits of a message.
    Reward: 1 for a delivery, given to the agent or, with "global", to all agents. With "two_stage": 0.5 for the
        delivery, and 0.5 when the shelf is put back.
    Terminated: Without `truncate`, after `max_steps` steps, or after `max_inactivity_steps` without a delivery.
    Truncated: With `truncate`, in the same cases.
    """
    describe = staticmethod(specs.warehouse)
    settings = staticmethod(specs.settings_of)

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[World](options)

    cdef object draw(self, dict state):
        layout = specs.layout_of(self.spec.options)
        picture = GridPicture(*layout.highways.shape)
        for x, y in layout.goals:
            picture.fill(y, x, "yellow")
        for k, shelf in enumerate(state["shelf"], 1):
            picture.square(shelf["y"], shelf["x"], "teal" if k in state.get("request", ()) else "blue")
        for agent in state["agent"]:
            picture.disk(agent["y"], agent["x"], "red" if agent["carries"] else "orange")
            picture.arrow(agent["y"], agent["x"], ((-1, 0), (1, 0), (0, -1), (0, 1))[agent["direction"]])
        return picture.pixels
