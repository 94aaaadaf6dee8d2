# distutils: extra_compile_args = -O2
"""Overcooked: cooks in a kitchen who cook and serve soups together."""
import functools

from cypool.envs.common.grid_picture import GridPicture
from cypool.envs.overcooked import specs
from cypool.envs.overcooked.layouts import layout_of

from cpython.ref cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Rows, Slot, action_data, info_row
from cypool.envs.common.archived_env cimport Archived
from cypool.envs.common.pooled_env cimport PooledEnv


cdef extern from "cypool/envs/overcooked/kitchen.h" namespace "cypool::overcooked" nogil:
    enum Kind "cypool::overcooked::Kind":
        NOTHING, ONION, TOMATO, DISH, SOUP

    cdef struct Thing:
        Kind kind
        uint8_t onions, tomatoes
        int32_t tick
        int recipe()
        int ingredients()

    cdef cppclass Player:
        int16_t x, y
        uint8_t direction
        Thing held

    cdef cppclass Kitchen:
        int width, height, horizon
        double placement_reward, dish_reward, soup_reward
        string terrain
        vector[Player] players
        vector[Thing] things
        vector[double] values
        vector[int] times
        void prepare() except +

    vector[T] empty_observation[T](const Kitchen& kitchen) except +

    cdef cppclass World:
        World() except +
        World(shared_ptr[const Kitchen] kitchen) except +
        vector[Player] players
        vector[Thing] things
        vector[double] shaped
        double sparse(size_t k)
        cbool is_over
        cbool ready()
        void reset() except +
        void step(const int64_t* actions) noexcept
        void observe[T](T* out, const T* empty) noexcept


cdef class Shared:
    """A kitchen, which environments with the same options share."""
    cdef shared_ptr[Kitchen] kitchen
    # an observation without players and things, in one of two dtypes
    cdef vector[int64_t] wide
    cdef vector[uint8_t] narrow


@functools.lru_cache(maxsize=64)
def _shared(items):
    cdef Shared shared = Shared()
    cdef Kitchen* kitchen
    cdef Player player
    options = dict(items)
    layout = layout_of(options["layout"])
    soups = specs.soups_of(options, layout)
    shared.kitchen = make_shared[Kitchen]()
    kitchen = shared.kitchen.get()
    kitchen.width, kitchen.height, kitchen.horizon = len(layout.terrain[0]), len(layout.terrain), options["horizon"]
    kitchen.placement_reward = options["placement_in_pot_reward"]
    kitchen.dish_reward, kitchen.soup_reward = options["dish_pickup_reward"], options["soup_pickup_reward"]
    kitchen.terrain = "".join(layout.terrain).encode()
    kitchen.prepare()
    for player.x, player.y, player.direction in layout.players:
        kitchen.players.push_back(player)
    kitchen.things.resize(kitchen.terrain.size())
    for (x, y), (onions, tomatoes) in layout.soups.items():
        cell = y * kitchen.width + x
        kitchen.things[cell].kind = SOUP
        kitchen.things[cell].onions, kitchen.things[cell].tomatoes = onions, tomatoes
    kitchen.values, kitchen.times = soups.values, soups.times
    if options["obs_dtype"] == "int64":
        shared.wide = empty_observation[int64_t](kitchen[0])
    else:
        shared.narrow = empty_observation[uint8_t](kitchen[0])
    return shared


cdef class Overcooked(PooledEnv):
    """Cooks fill pots with onions and tomatoes, wait until a soup is ready, and serve it in a dish.

    Follows overcooked_ai 1.1.0: the same actions give bit-identical results. Nothing is random.

    Observation: int64 (width, height, 26), or uint8: layers of the kitchen. The agent's position, the others'
        positions, the agent's direction one-hot (north, south, east, west), the others' directions, pots, counters,
        dispensers of onions, tomatoes and dishes, serving counters, onions and tomatoes in pots before cooking, onions
        and tomatoes in soups, remaining cooking time, soups that are ready, dishes, onions, tomatoes, and 1 everywhere
        in the last 39 steps.
    Action: north (0), south (1), east (2), west (3), stay (4), interact (5) with the cell in front.
    Reward: For each agent, the value of all soups served in this step, plus `shaped_reward` times its own shaped
        reward, for putting ingredients into pots, and for taking useful dishes and finished soups. For the environment,
        the value of soups plus all weighted shaped rewards.
    Truncated: After `horizon` steps.
    Info: `sparse_reward` and `shaped_reward`: float64 (agents,): the value of the soups that each agent served, and its
        shaped reward.
    """
    describe = staticmethod(specs.overcooked)

    cdef Archived[World] state
    cdef World* world               # of `state`
    cdef Shared shared
    cdef bint is_narrow
    cdef double factor              # of shaped rewards
    cdef size_t num_agents, row_size

    def __init__(self, spec, env_id):
        self.shared = _shared(tuple(spec.options.items()))
        self.state.reset(new World(<shared_ptr[const Kitchen]>self.shared.kitchen))
        self.world, self.archived = self.state.get(), &self.state
        self.is_narrow = spec.options["obs_dtype"] == "uint8"
        self.factor = spec.options["shaped_reward"]
        self.num_agents = spec.num_agents
        self.row_size = self.num_agents * spec.agents["agent"].observation.low.size

    cdef int reset(self) except -1 nogil:
        self.world.reset()
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.reward = self._step(action_data[int64_t](action))
        self.truncated = self.world.is_over
        return 0

    cdef double _step(self, const int64_t* actions) noexcept nogil:
        """Steps the kitchen, and sets the rewards of agents; returns that of the environment."""
        cdef double served = 0, total
        cdef size_t k
        self.world.step(actions)
        for k in range(self.num_agents):
            served += self.world.sparse(k)
        total = served
        for k in range(self.num_agents):
            self.agents.reward[k] = served
            if self.factor > 0:
                self.agents.reward[k] += self.factor * self.world.shaped[k]
                total += self.factor * self.world.shaped[k]
        return total

    cdef void _observe(self, void* obs, double* sparse, double* shaped) noexcept nogil:
        cdef size_t k
        if self.is_narrow:
            self.world.observe[uint8_t](<uint8_t*>obs, self.shared.narrow.data())
        else:
            self.world.observe[int64_t](<int64_t*>obs, self.shared.wide.data())
        for k in range(self.num_agents):
            sparse[k], shaped[k] = self.world.sparse(k), self.world.shaped[k]

    cdef int observe(self, const Slot* out) except -1 nogil:
        self._observe(out.obs[0], info_row[double](out, 0), info_row[double](out, 1))
        return 0

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        cdef const int64_t* actions = <const int64_t*>rows.actions
        cdef size_t row_bytes = self.row_size * (sizeof(uint8_t) if self.is_narrow else sizeof(int64_t))
        cdef PyObject* env
        cdef uint32_t k
        for k in range(rows.count):
            env = self.pool.get()[0][rows.ids[k]]
            if (<Overcooked>env).needs_reset:
                # the engine resets it
                continue
            rows.reward[k] = (<Overcooked>env)._step(actions + rows.ids[k] * self.num_agents)
            (<Overcooked>env)._observe(<char*>rows.obs[0] + k * row_bytes,
                                       <double*>rows.info[0] + k * self.num_agents,
                                       <double*>rows.info[1] + k * self.num_agents)
            rows.truncated[k] = (<Overcooked>env).world.is_over
        return 0

    cdef object render(self):
        if not self.world.ready():
            raise RuntimeError("render: expected a reset before")
        cdef int width = self.shared.kitchen.get().width, x, y
        cdef Player player
        terrain = layout_of(self.spec.options["layout"]).terrain
        picture = GridPicture(len(terrain), width)
        for y, line in enumerate(terrain):
            for x, cell in enumerate(line):
                if cell != " ":
                    picture.fill(y, x, COLORS[cell])
                self._draw(picture, y, x, self.world.things[y * width + x])
        for player in self.world.players:
            picture.fill(player.y, player.x, "blue")
            self._draw(picture, player.y, player.x, player.held)
            picture.arrow(player.y, player.x, ((-1, 0), (1, 0), (0, 1), (0, -1))[player.direction])
        return picture.pixels

    cdef object _draw(self, object picture, int row, int col, Thing thing):
        if thing.kind == NOTHING:
            return
        if thing.kind != SOUP:
            picture.disk(row, col, {ONION: "yellow", TOMATO: "red", DISH: "white"}[thing.kind])
            return
        left = self.shared.kitchen.get().times[thing.recipe()] - thing.tick
        if thing.tick >= 0:
            picture.disk(row, col, "red" if left > 0 else "teal")
        picture.number(row, col, left if thing.tick >= 0 and left > 0 else thing.ingredients())


COLORS = {"X": "gray", "P": "black", "O": "yellow", "T": "red", "D": "brown", "S": "green"}
