# distutils: extra_compile_args = -O2
"""Crafter: an open world of survival."""
import numpy as np

from cypool.envs.crafter import specs
from cypool.envs.crafter.assets import pictures
from cypool.util.arguments import check_choice, shown

cimport numpy as cnp
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from cypool.env cimport Slot
from cypool.envs.shared.rules.archived_env cimport Archived, ArchivedEnv

cnp.import_array()


cdef extern from "cypool/envs/crafter/world_generation.h" namespace "cypool::crafter" nogil:
    enum Simd "cypool::crafter::Simd":
        pass
    Simd simd
    Simd best_simd() noexcept

    cdef cppclass Options:
        int[2] area, view, size
        int length

    cdef cppclass Shape:
        Shape()
        Shape(const Options& options)
        int width, height

    cdef cppclass Object:
        int16_t x, y

    cdef cppclass World:
        World() except +
        World(const Shape& shape) except +
        void start(int64_t hash_of_seed)
        void reset() except +
        void step(int action) except +
        cbool is_dead()
        cbool is_over()
        const Object& player()
        void follow(const int32_t* choices, size_t count) except +
        Shape shape
        vector[uint8_t] semantic
        int32_t[16] inventory
        int32_t[22] achievements
        double reward

cdef extern from "cypool/envs/crafter/world_state.h" namespace "cypool::crafter" nogil:
    pass

cdef extern from "cypool/envs/crafter/observations.h" namespace "cypool::crafter" nogil:
    void observe_view(const World& world, uint8_t* view) noexcept
    void observe_symbols(const World& world, float* symbols) noexcept

cdef extern from "cypool/envs/crafter/picture.h" namespace "cypool::crafter" nogil:
    cdef struct Pictures:
        const uint8_t* tiles
        const double* vignette
        const uint8_t* items
        int width, height, columns, rows, view_rows
    void draw_picture(const World& world, const Pictures& pictures, uint8_t* image) except +

# the order of OBS_TYPES in specs.py
cdef enum:
    RGB, SEMANTIC

SIMD = ("plain", "avx2", "avx512")


def use_simd(name):
    """Sets which vector instructions of `SIMD` are used, if the CPU has them. The results do not change.

    For tests; call it only while no environment is running.
    """
    global simd
    simd = <Simd><int>min(SIMD.index(check_choice("name", name, SIMD)), <int>best_simd())


cdef class Crafter(ArchivedEnv):
    """An open world with 22 achievements: eat, drink, sleep, fight, and collect, place and make things.

    Follows crafter 1.8.3: the same seed and actions give bit-identical results. crafter picks creatures from sets,
    whose order depends on memory addresses; here, creatures stay in order of creation. The world of episode k depends
    only on the seed and k.

    Observation: uint8 (height, width, 3): the world around the player, darker at night, and the player's inventory.
        With "semantic": `view` uint8 (rows, columns), with the numbers of the info `semantic`, and 0 beyond the edge;
        `inventory` uint8 (16,). With "symbolic": float32 (1345,), in the layout of Craftax-Classic.
    Action: Noop (0), move left, right, up or down (1 to 4), do (5), sleep (6), place a stone, table, furnace or plant
        (7 to 10), make a wood, stone or iron pickaxe (11 to 13), make a wood, stone or iron sword (14 to 16).
    Reward: 1 for a step that unlocks an achievement, plus a tenth of the change in health; without `reward`, 0.
    Terminated: When the player dies.
    Truncated: After `length` steps.
    Info: `inventory` int32 (16,) and `achievements` int32 (22,), counts in the order of `ITEMS` and `ACHIEVEMENTS` in
        `cypool.envs.crafter.assets`. `discount` float64: 0 after death, else 1. `player_pos` int64 (2,): x and y.
        `reward` float64: the reward that `reward=True` gives. `semantic` uint8 (width, height), by x and y: materials 1
        to 12, as in `MATERIALS`, or player (13), cow (14), zombie (15), skeleton (16), arrow (17), plant (18).
    """
    describe = staticmethod(specs.crafter)

    cdef Archived[World] state
    # of `state`
    cdef World* world
    cdef Pictures pictures
    cdef object _pictures
    cdef int obs_type
    cdef bint gives_reward, has_map

    def __init__(self, spec, env_id):
        cdef Options options
        chosen = spec.options
        options.area, options.view, options.size = chosen["area"], chosen["view"], chosen["size"]
        options.length = chosen["length"]
        self.state.hold(new World(Shape(options)))
        self.world, self.archived = self.state.get(), &self.state
        self.obs_type = specs.OBS_TYPES.index(chosen["obs_type"])
        self.gives_reward, self.has_map = chosen["reward"], chosen["semantic"]
        if self.obs_type == RGB:
            self._pictures = pictures(chosen["view"], chosen["size"])
            self.pictures = borrowed(self._pictures)

    cdef int seed(self, object seed) except -1:
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self.world.start(hash(seed))
        return 0

    cdef int reset(self) except -1 nogil:
        self.world.reset()
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.world.step(<int>(<const int64_t*>action)[0])
        self.reward = self.world.reward if self.gives_reward else 0
        self.terminated = self.world.is_dead()
        self.truncated = self.world.is_over()
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef int k
        if self.obs_type == RGB:
            draw_picture(self.world[0], self.pictures, <uint8_t*>out.obs[0])
        elif self.obs_type == SEMANTIC:
            observe_view(self.world[0], <uint8_t*>out.obs[0])
            for k in range(16):
                (<uint8_t*>out.obs[1])[k] = <uint8_t>self.world.inventory[k]
        else:
            observe_symbols(self.world[0], <float*>out.obs[0])
        memcpy(out.info[0], self.world.inventory, sizeof(self.world.inventory))
        memcpy(out.info[1], self.world.achievements, sizeof(self.world.achievements))
        (<double*>out.info[2])[0] = not self.world.is_dead()
        (<int64_t*>out.info[3])[0] = self.world.player().x
        (<int64_t*>out.info[3])[1] = self.world.player().y
        (<double*>out.info[4])[0] = self.world.reward
        if self.has_map:
            memcpy(out.info[5], self.world.semantic.data(), self.world.semantic.size())
        return 0

    def follow(self, choices):
        """Makes the next steps choose among creatures as crafter did, because its choices depend on memory addresses.

        For tests.

        Args:
            choices: int32, for each choice among several creatures in a chunk: their number, and their cells, x *
                height + y, in crafter's order.
        """
        choices = np.ascontiguousarray(choices, np.int32)
        cells = self.world.shape.width * self.world.shape.height
        if len(choices) and not (0 <= choices.min() and choices.max() < cells):
            raise ValueError(f"choices: expected numbers below {cells}, got {shown(choices)}")
        self.world.follow(<const int32_t*>cnp.PyArray_DATA(choices), len(choices))

    cdef object render(self):
        size = self.spec.options["render_size"]
        parts = pictures(self.spec.options["view"], size)
        image = np.empty((size[1], size[0], 3), np.uint8)
        draw_picture(self.world[0], borrowed(parts), <uint8_t*>cnp.PyArray_DATA(image))
        return image


cdef Pictures borrowed(object parts):
    """Points to the result of assets.pictures."""
    cdef Pictures found
    found.tiles = <const uint8_t*>cnp.PyArray_DATA(parts.tiles)
    found.items = <const uint8_t*>cnp.PyArray_DATA(parts.items)
    found.vignette = <const double*>cnp.PyArray_DATA(parts.vignette)
    found.width, found.height = parts.size
    found.columns, found.rows = parts.grid
    found.view_rows = parts.view[1]
    return found
