# distutils: extra_compile_args = -O2
"""The robotic warehouse: agents that bring requested shelves to goals, and back."""
from cypool.envs.common.grid_picture import GridPicture
from cypool.envs.rware import specs

from cpython.ref cimport PyObject
from libc.math cimport NAN
from libc.stdint cimport int16_t, int64_t, uint8_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.vector cimport vector

from cypool.env cimport Rows, Slot, action_data
from cypool.envs.common.archived_env cimport Archived
from cypool.envs.common.pooled_env cimport PooledEnv
from cypool.random cimport Rng


cdef extern from "cypool/envs/rware/warehouse.h" namespace "cypool::rware" nogil:
    cdef struct Options:
        int rows, cols, agents, message_bits, sensor_range, requests, max_inactivity_steps, max_steps, reward, kind
        cbool directional, normalised
        vector[int] layers, goals
        vector[uint8_t] highways

    cdef struct Cell:
        int16_t x, y

    cdef struct Agent:
        Cell at
        uint8_t direction
        int16_t carries

    cdef cppclass Spec:
        Spec(const Options& options) except +

    cdef cppclass World:
        World() except +
        World(shared_ptr[const Spec] spec) except +
        vector[Agent] agents
        vector[Cell] shelves
        vector[uint8_t] requested
        cbool terminated
        cbool ready()
        void reset(const Rng* rng) noexcept
        void step(const int64_t* actions, double* rewards, const Rng* rng) noexcept
        void observe(float** parts) noexcept

    vector[Cell] set_order(const vector[Cell]& cells) except +


def order_of_set(cells):
    """Returns cells (x, y) in the order in which Python iterates over a set that they were added to one by one.

    For tests.
    """
    cdef vector[Cell] given
    cdef Cell cell
    for cell.x, cell.y in cells:
        given.push_back(cell)
    return [(cell.x, cell.y) for cell in set_order(given)]


cdef class Warehouse(PooledEnv):
    """Agents move under shelves, and carry requested ones to goals and then back to free places.

    Follows rware 2.0.0: the same seed and actions give bit-identical results.

    Observation: float32 (71,) with the default sensors: x, y, whether the agent carries a shelf, its direction one-hot
        (up, down, left, right), whether it is on a highway. Then for each visible cell, row by row: whether there is an
        agent, its direction, its message, whether there is a shelf, and whether it is requested. "image": float32
        (layers, 2 * `sensor_range` + 1, 2 * `sensor_range` + 1). "image_dict": `features` float32 (6,), direction,
        whether it is on a highway, and whether it carries a shelf; `image`.
    Action: nothing (0), forward (1), turn left (2), right (3), load or unload (4). With `msg_bits`: int64
        (1 + `msg_bits`,), this and the bits of a message.
    Reward: 1 for a delivery, for the agent, or with "global" for all. "two_stage": 0.5 for the delivery, and 0.5 when
        the shelf is put back.
    Terminated: Without `truncate`: after `max_steps` steps, or `max_inactivity_steps` without a delivery.
    Truncated: The same with `truncate`.
    """
    describe = staticmethod(specs.warehouse)

    cdef Archived[World] state
    cdef World* world                   # of `state`
    cdef bint truncates
    cdef size_t num_parts, num_numbers  # of an observation; of all agents' actions
    cdef size_t part_sizes[2]           # numbers of all agents

    def __init__(self, spec, env_id):
        cdef Options options
        given, layout = spec.options, specs.layout_of(spec.options)
        options.rows, options.cols = layout.highways.shape
        options.agents, options.message_bits = given["n_agents"], given["msg_bits"]
        options.sensor_range, options.requests = given["sensor_range"], given["request_queue_size"]
        options.max_inactivity_steps = given["max_inactivity_steps"] or 0
        options.max_steps = given["max_steps"] or 0
        options.reward = specs.REWARD_TYPES.index(given["reward_type"])
        options.kind = specs.OBSERVATION_TYPES.index(given["observation_type"])
        options.directional = given["image_observation_directional"]
        options.normalised = given["normalised_coordinates"]
        options.layers = [specs.LAYERS.index(name) for name in given["image_observation_layers"]]
        options.goals = [number for goal in layout.goals for number in goal]
        options.highways = layout.highways.ravel().tolist()
        self.state.reset(new World(<shared_ptr[const Spec]>make_shared[Spec](options)))
        self.world, self.archived = self.state.get(), &self.state
        self.truncates = given["truncate"]
        self.num_numbers = spec.action_bytes // sizeof(int64_t)
        self.num_parts = len(spec.observations)
        for k, (_, part) in enumerate(spec.observations):
            self.part_sizes[k] = part.low.size

    cdef int reset(self) except -1 nogil:
        self.world.reset(self.rng)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.world.step(action_data[int64_t](action), self.agents.reward, self.rng)
        self.truncated = self.world.terminated and self.truncates
        self.terminated = self.world.terminated and not self.truncates
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        self.world.observe(<float**>out.obs)
        return 0

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        cdef const int64_t* actions = <const int64_t*>rows.actions
        cdef float* parts[2]
        cdef PyObject* env
        cdef World* world
        cdef uint32_t k
        cdef size_t part
        for k in range(rows.count):
            env = self.pool.get()[0][rows.ids[k]]
            if (<Warehouse>env).needs_reset:
                # the engine resets it
                continue
            world = (<Warehouse>env).world
            world.step(actions + rows.ids[k] * self.num_numbers, (<Warehouse>env).agents.reward, (<Warehouse>env).rng)
            for part in range(self.num_parts):
                parts[part] = <float*>rows.obs[part] + k * self.part_sizes[part]
            world.observe(parts)
            # the sum of the agents'
            rows.reward[k] = NAN
            rows.terminated[k] = world.terminated and not self.truncates
            rows.truncated[k] = world.terminated and self.truncates
        return 0

    cdef object render(self):
        cdef Agent agent
        cdef int x, y
        if not self.world.ready():
            raise RuntimeError("render: expected a reset before")
        layout = specs.layout_of(self.spec.options)
        picture = GridPicture(*layout.highways.shape)
        for x, y in layout.goals:
            picture.fill(y, x, "yellow")
        for k, cell in enumerate(self.world.shelves, 1):
            picture.square(cell["y"], cell["x"], "teal" if self.world.requested[k] else "blue")
        for agent in self.world.agents:
            picture.disk(agent.at.y, agent.at.x, "red" if agent.carries else "orange")
            picture.arrow(agent.at.y, agent.at.x, ((-1, 0), (1, 0), (0, -1), (0, 1))[agent.direction])
        return picture.pixels
