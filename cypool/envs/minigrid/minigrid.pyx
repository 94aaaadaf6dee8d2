"""MiniGrid and BabyAI: grid worlds of rooms, doors and objects, with a mission in words."""
import math

import numpy as np

from cypool.envs.minigrid import levels
from cypool.envs.minigrid.observations import goal_directions
from cypool.envs.minigrid.reference import draw_level
from cypool.envs.minigrid.tiles import kind_numbers, tiles

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Rng, Slot
from cypool.envs.common.archived_env cimport Archived, ArchivedEnv
from cypool.random cimport integers, uniform

cnp.import_array()


cdef extern from "cypool/envs/minigrid/game.h" namespace "cypool::minigrid" nogil:
    cdef cppclass Options:
        cbool set(const string& name, double value)

    cdef struct Tiles:
        int size
        const uint8_t* kinds
        const uint8_t* pixels

    cdef cppclass Object:
        uint8_t type, color, state

    cdef cppclass Pos:
        int x, y

    cdef cppclass Game:
        Game() except +
        const Rng* stream
        int width, height, view, dir
        cbool see_through
        Pos agent
        double reward
        cbool terminated, truncated
        string mission
        cbool configure(const string& generator, const Options& options, const string& mission)
        void reset() except +
        void step(int executed, int chosen) except +
        void observe_view(uint8_t* image)
        void observe_all(uint8_t* image)
        void observe_symbols(int64_t* symbols)
        void observe_bits(uint8_t* bits)
        void observe_flat(uint8_t* bytes, int length)
        void observe_view_pixels(uint8_t* pixels, const Tiles& tiles)
        void observe_all_pixels(uint8_t* pixels, const Tiles& tiles) except +
        Pos to_goal()
        void encode(uint8_t* image)
        const Object& carried()
        cbool ready()


# levels.OBS_TYPES
cdef enum:
    PARTIAL, FULL, ONEHOT, SYMBOLIC, RGB, RGB_PARTIAL, FLAT


cdef class MiniGrid(ArchivedEnv):
    """A level of MiniGrid or BabyAI; its options are the arguments of the level's class.

    Follows minigrid 3.2.0: the same seed and actions give bit-identical results.

    Observation: `direction`: `Discrete(4)`: right (0), down (1), left (2), up (3). `image` uint8 (view, view, 3): type,
        colour and state of the visible cells, from left to right and from far to near. `mission`: `Text`.
    Action: Left (0), right (1), forward (2), pick up (3), drop (4), toggle (5), done (6).
    Reward: 1 - 0.9 * (steps / limit) for success; else 0, or -1 for a collision in Dynamic-Obstacles.
    Terminated: The mission is done or has failed.
    Truncated: The step limit is reached: `max_steps`, or that of the level or its mission.
    """
    describe = staticmethod(levels.any_level)

    cdef Archived[Game] state
    # of `state`
    cdef Game* game
    cdef int mission_length, obs_type, num_actions, random_action
    cdef bint image_only
    cdef double action_prob
    # to the goal, by the way there: rows of 2 * width - 1
    cdef const double* directions
    cdef Tiles tiles
    # of the parts of an observation
    cdef vector[size_t] row_bytes
    # the owners of their targets
    cdef object _kinds, _pixels, _directions

    def __init__(self, spec, env_id):
        cdef Options options
        self.state.reset(new Game())
        self.game, self.archived = self.state.get(), &self.state
        level, shared = levels.settings(type(self).describe.__wrapped__, spec.options)
        numbers = dict(level.numbers)
        numbers["fixed_steps"] = shared["max_steps"] or level.max_steps
        see_through = shared["see_through_walls"]
        numbers["see_through"] = level.see_through if see_through is None else see_through
        numbers["view"] = shared["view_size"] or shared["agent_view_size"]
        numbers["view_is_late"] = shared["view_size"] is not None
        numbers["highlight"] = shared["highlight"]
        numbers["bonus"] = 0 if shared["bonus"] is None else 1 + levels.BONUSES.index(shared["bonus"])
        numbers["bonus_scale"] = shared["bonus_scale"]
        numbers["no_death"] = sum({1 << levels.DEATH_NUMBERS[levels.DEATHS.index(name)]
                                   for name in shared["no_death_types"]})
        numbers["death_cost"] = shared["death_cost"]
        numbers["mission_length"] = level.mission_length
        for name, value in numbers.items():
            if not options.set(name.encode(), value):
                raise ValueError(f"numbers: expected fields of Options in rooms.h, got {name!r}")
        self.obs_type = levels.OBS_TYPES.index(shared["obs_type"])
        self.image_only = shared["image_only"]
        if self.obs_type in (RGB, RGB_PARTIAL):
            self._take_tiles(shared["obs_tile_size"])
        if shared["goal_direction"]:
            self._take_directions(goal_directions(shared["goal_direction"], *level.grid()))
        self.action_prob = -1 if shared["action_prob"] is None else shared["action_prob"]
        self.random_action = -1 if shared["random_action"] is None else shared["random_action"]
        self.num_actions = level.num_actions
        self.mission_length = level.mission_length
        self.row_bytes = [math.prod(part.shape) * part.dtype.itemsize for _, part in spec.observations]
        if not self.game.configure(level.generator.encode(), options, level.mission.encode()):
            raise ValueError(f"generator: expected one of LEVELS in levels.h or babyai.h, got {level.generator!r}")

    cdef int _take_tiles(self, int size) except -1:
        self._kinds, self._pixels = kind_numbers().ravel(), tiles(size).ravel()
        self.tiles.size = size
        self.tiles.kinds = <const uint8_t*>cnp.PyArray_DATA(self._kinds)
        self.tiles.pixels = <const uint8_t*>cnp.PyArray_DATA(self._pixels)
        return 0

    cdef int _take_directions(self, table) except -1:
        self._directions = np.ascontiguousarray(table, np.float64)
        self.directions = <const double*>cnp.PyArray_DATA(self._directions)
        return 0

    cdef int seed(self, object seed) except -1:
        ArchivedEnv.seed(self, seed)
        self.game.stream = self.rng
        return 0

    cdef int reset(self) except -1 nogil:
        self.game.reset()
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef int chosen = <int>(<const int64_t*>action)[0], executed = chosen
        # StochasticActionWrapper
        if self.action_prob >= 0 and uniform(self.rng, 0, 1) >= self.action_prob:
            executed = self.random_action if self.random_action >= 0 else <int>integers(self.rng, 0, self.num_actions)
        self.game.step(executed, chosen)
        self.reward = self.game.reward
        self.terminated = self.game.terminated
        self.truncated = self.game.truncated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef size_t length = self.game.mission.size()
        cdef Pos way
        cdef int k = 1
        if not self.game.ready():
            return self._observe_nothing(out)
        if self.image_only or self.obs_type == FLAT:
            return self._observe_image(out.obs[0])
        (<int64_t*>out.obs[0])[0] = self.game.dir
        if self.directions != NULL:
            way = self.game.to_goal()
            (<double*>out.obs[1])[0] = self.directions[
                (self.game.height - 1 + way.y) * (2 * self.game.width - 1) + self.game.width - 1 + way.x]
            k = 2
        self._observe_image(out.obs[k])
        memcpy(out.obs[k + 1], self.game.mission.data(), length)
        memset(<char*>out.obs[k + 1] + length, 0, self.mission_length - length)
        return 0

    cdef int _observe_nothing(self, const Slot* out) except -1 nogil:
        # the last reset failed
        cdef size_t k
        for k in range(self.row_bytes.size()):
            memset(out.obs[k], 0, self.row_bytes[k])
        return 0

    cdef int _observe_image(self, void* out) except -1 nogil:
        if self.obs_type == PARTIAL:
            self.game.observe_view(<uint8_t*>out)
        elif self.obs_type == FULL:
            self.game.observe_all(<uint8_t*>out)
        elif self.obs_type == ONEHOT:
            self.game.observe_bits(<uint8_t*>out)
        elif self.obs_type == SYMBOLIC:
            self.game.observe_symbols(<int64_t*>out)
        elif self.obs_type == RGB:
            self.game.observe_all_pixels(<uint8_t*>out, self.tiles)
        elif self.obs_type == RGB_PARTIAL:
            self.game.observe_view_pixels(<uint8_t*>out, self.tiles)
        else:
            self.game.observe_flat(<uint8_t*>out, self.mission_length)
        return 0

    cdef object render(self):
        if not self.game.ready():
            raise RuntimeError("render: expected a successful reset before")
        cdef const Object* carried = &self.game.carried()
        codes = np.empty((self.game.width, self.game.height, 3), np.uint8)
        self.game.encode(<uint8_t*>cnp.PyArray_DATA(codes))
        options = self.spec.options
        return draw_level(codes, (self.game.agent.x, self.game.agent.y), self.game.dir,
                          (carried.type, carried.color, carried.state), bool(self.game.see_through),
                          options["agent_view_size"], options["highlight"], options["tile_size"], options["agent_pov"])


for _name, _level in levels.CLASSES.items():
    globals()[_name] = type(_name, (MiniGrid,), {"__module__": __name__, "__slots__": (),
                                                 "describe": staticmethod(levels.describe_of(_level.arguments))})
