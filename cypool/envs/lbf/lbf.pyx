# distutils: extra_compile_args = -O2
"""Level-based foraging: players on a grid who load food together."""
from cypool.envs.common.grid_picture import GridPicture
from cypool.envs.lbf import specs

from cpython.ref cimport PyObject
from libc.math cimport NAN
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.vector cimport vector

from cypool.env cimport Rows, Slot, action_data, obs_row
from cypool.envs.common.archived_env cimport Archived
from cypool.envs.common.pooled_env cimport PooledEnv
from cypool.random cimport Rng


cdef extern from "cypool/envs/lbf/foraging.h" namespace "cypool::lbf" nogil:
    cdef struct Options:
        int rows, cols, sight, time_limit, highest_food
        cbool force_coop, unit_reward, grid_observation, observe_agent_levels, fresh_world
        double penalty
        vector[int] min_player_level, max_player_level, min_food_level, max_food_level

    cdef struct Position:
        int16_t row, col

    cdef struct Entity:
        Position at
        int32_t level

    cdef cppclass World:
        World() except +
        World(shared_ptr[const Options] options) except +
        vector[Entity] players, foods
        cbool terminated
        cbool ready()
        void reset(const Rng* rng) except +
        void step(const int64_t* actions, double* rewards) noexcept
        void observe(float* out) noexcept


cdef class Foraging(PooledEnv):
    """Players and food of different levels on a grid: adjacent players load food if their levels add up to its level.

    Follows lbforaging 2.0.0: the same seed and actions give bit-identical results.

    Observation: float32 (3 * `max_num_food` + 3 * `players`,): row, column and level of each visible food, row by row,
        then of the player itself and of the others. Positions are relative to the field of view. Those out of sight are
        (-1, -1, 0). With `grid_observation` float32 (3, 2 * `sight` + 1, 2 * `sight` + 1): levels of players, levels of
        food, and 1 for free cells.
    Action: none (0), north (1), south (2), west (3), east (4), load (5).
    Reward: For loaded food, the player's level times that of the food; with `unit_reward`, divided by the sum of its
        loaders' levels and by that of all food. `-penalty` if loading fails.
    Terminated: No food is left, or, without `truncate`, after `time_limit` steps.
    Truncated: With `truncate`: food is left after `time_limit` steps.
    """
    describe = staticmethod(specs.foraging)

    cdef Archived[World] state
    cdef World* world                   # of `state`
    cdef bint truncates
    cdef size_t row_size                # numbers of all players' observations

    def __init__(self, spec, env_id):
        cdef Options options
        given, levels = spec.options, specs.levels_of(spec.options)
        options.rows, options.cols = given["field_size"]
        options.sight, options.time_limit = given["sight"], given["time_limit"]
        options.force_coop, options.unit_reward = given["force_coop"], given["unit_reward"]
        options.grid_observation = given["grid_observation"]
        options.observe_agent_levels, options.fresh_world = given["observe_agent_levels"], given["fresh_world"]
        options.penalty = given["penalty"]
        options.min_player_level, options.max_player_level = levels["min_player_level"], levels["max_player_level"]
        options.min_food_level, options.max_food_level = levels["min_food_level"], levels["max_food_level"]
        options.highest_food = specs.highest_food_of(levels)
        self.state.reset(new World(<shared_ptr[const Options]>make_shared[Options](options)))
        self.world, self.archived = self.state.get(), &self.state
        self.truncates = given["truncate"]
        self.row_size = spec.num_agents * spec.agents["agent"].observation.low.size

    cdef int reset(self) except -1 nogil:
        self.world.reset(self.rng)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.world.step(action_data[int64_t](action), self.agents.reward)
        self.truncated = self.world.terminated and self.truncates and not self.world.foods.empty()
        self.terminated = self.world.terminated and not self.truncated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        self.world.observe(obs_row[float](out, 0))
        return 0

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        cdef const int64_t* actions = <const int64_t*>rows.actions
        cdef size_t num_players = self.world.players.size()
        cdef PyObject* env
        cdef World* world
        cdef uint32_t k
        for k in range(rows.count):
            env = self.pool.get()[0][rows.ids[k]]
            if (<Foraging>env).needs_reset:
                # the engine resets it
                continue
            world = (<Foraging>env).world
            world.step(actions + rows.ids[k] * num_players, (<Foraging>env).agents.reward)
            world.observe(<float*>rows.obs[0] + k * self.row_size)
            # the sum of the players'
            rows.reward[k] = NAN
            rows.truncated[k] = world.terminated and self.truncates and not world.foods.empty()
            rows.terminated[k] = world.terminated and not rows.truncated[k]
        return 0

    cdef object render(self):
        cdef Entity each
        if not self.world.ready():
            raise RuntimeError("render: expected a reset before")
        picture = GridPicture(*self.spec.options["field_size"])
        for each in self.world.foods:
            picture.disk(each.at.row, each.at.col, "red")
            picture.number(each.at.row, each.at.col, each.level)
        for each in self.world.players:
            picture.square(each.at.row, each.at.col, "blue")
            picture.number(each.at.row, each.at.col, each.level)
        return picture.pixels
