# distutils: extra_compile_args = -O3
"""Craftax: open worlds that were written in JAX."""
import functools

import numpy as np

from cypool.envs.craftax import specs

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv
from cypool.random cimport Rng

cnp.import_array()


cdef extern from "cypool/envs/craftax/world.h" namespace "cypool::craftax" nogil:
    cbool knows_streams
    uint64_t place_of(const Rng* rng)

    cdef cppclass Pictures:
        int tile
        string ground, sprites, cells
        vector[float] noise

    cdef cppclass AnyWorld:
        void start(uint32_t seed)
        void start(uint32_t a, uint32_t b, uint32_t index)
        cbool ready()
        void draw(const Pictures& pictures, float* image)

    Rules* new_rules(bint is_full, const Options& options) except +
    AnyWorld* world_of(Rules* rules, bint is_full)

# pixels of a side of a cell as it is drawn, and how many times it is enlarged
DRAWN_TILE, ENLARGED = 16, 3


cdef _look_at_streams():
    """Checks that NumPy's streams have the layout that `place_of` reads, which NumPy does not guarantee."""
    global knows_streams
    stream = np.random.PCG64(1)
    numbers = stream.state["state"]["state"]
    knows_streams = True
    place = place_of(<const Rng*>PyCapsule_GetPointer(stream.capsule, "BitGenerator"))
    knows_streams = place == (numbers >> 64 ^ numbers & 2**64 - 1)


_look_at_streams()


cdef class _Drawn:
    """The parts of pictures that `render` draws."""
    cdef Pictures pictures


@functools.lru_cache(2)
def drawn(game):
    cdef _Drawn found = _Drawn()
    parts = specs.parts_of(game, DRAWN_TILE)
    found.pictures.tile = parts["tile"]
    found.pictures.ground, found.pictures.sprites = parts["ground"], parts["sprites"]
    found.pictures.cells, found.pictures.noise = parts["cells"], np.ravel(parts["noise"]).tolist()
    return found


cdef class _OpenWorld(RulesEnv):
    def settings(self, options):
        return specs.settings_of(self.game, options)

    cdef Rules* make(self, const Options& options) except NULL:
        return new_rules(self.game == "Craftax", options)

    cdef AnyWorld* world(self):
        return world_of(self.rules.get(), self.game == "Craftax")

    cdef int seed(self, object seed) except -1:
        RulesEnv.seed(self, seed)
        key = self.spec.options["key"]
        if key is not None:
            self.world().start(key[0], key[1], self.env_id)
        elif seed is None:
            self.world().start(np.random.SeedSequence().generate_state(1)[0])
        else:
            # as PRNGKey does where JAX is without numbers of 64 bits
            self.world().start(seed % 2**32)
        return 0

    cdef object render(self):
        if not self.world().ready():
            raise RuntimeError("render: expected a reset first")
        image = np.empty((*self.drawn_cells, 3), np.float32).repeat(DRAWN_TILE, 0).repeat(DRAWN_TILE, 1)
        self.world().draw((<_Drawn>drawn(self.game)).pictures, <float*>cnp.PyArray_DATA(image))
        return (image * 255 + 0.5).astype(np.uint8).repeat(ENLARGED, 0).repeat(ENLARGED, 1)


cdef class CraftaxClassic(_OpenWorld):
    """An open world with 22 achievements: eat, drink, sleep, fight, and collect, place and make things.

    Follows craftax 1.6.1: with the same seed or key and actions, results are bit-identical to those of a single jitted
    environment in JAX 0.10.2.

    Observation: float32 (1345,): for each of 7 x 9 cells around the player, 17 kinds of blocks and 4 kinds of
        creatures, one-hot; then 12 items and 4 vitals (all divided by 10), 4 directions, the light level, and whether
        the player is asleep. With "pixels": float32 (63, 63, 3).
    Action: Noop (0), move left, right, up or down (1 to 4), do (5), sleep (6), place a stone, table, furnace or plant
        (7 to 10), make a wood, stone or iron pickaxe (11 to 13), make a wood, stone or iron sword (14 to 16).
    Reward: 1 for a step that unlocks an achievement, plus a tenth of the change in health.
    Terminated: When the player has no health left or walks into lava, or after `max_timesteps` steps.
    Info: `achievements` float32 (22,), in the order of `ACHIEVEMENTS` in `cypool.envs.craftax.specs`: at an episode's
        end, 100 for each one unlocked; otherwise 0. `discount` float32: 0 at the end, else 1. `score` float32: the
        package's score, a geometric mean of the achievements.
    """
    describe = staticmethod(specs.classic)
    game = "Craftax-Classic"
    drawn_cells = (9, 9)


cdef class Craftax(_OpenWorld):
    """Nine floors of dungeons, mines and realms below an open world, with a boss, spells, potions and 67 achievements.

    Follows craftax 1.6.1: with the same seed or key and actions, results are bit-identical to those of a single jitted
    environment in JAX 0.10.2.

    Observation: float32 (8268,): for each of 9 x 11 cells around the player, one-hot kinds of blocks (37), items (5),
        creatures and projectiles (5 x 8); and whether the cell is lit. Then 51 numbers: 16 for items, 6 for potions, 9
        for needs and attributes, 4 for the direction, 8 for armor, the light level, 2 for sleep and rest, 2 for spells,
        the floor, whether its ladder is open, and whether the boss is vulnerable. With "pixels": float32 (130, 110, 3).
    Action: The 17 actions of Craftax-Classic, then rest (17), descend (18), ascend (19), make a diamond pickaxe (20),
        diamond sword (21), iron armor (22) or diamond armor (23), shoot an arrow (24), make an arrow (25), cast a
        fireball (26) or iceball (27), place a torch (28), drink a red, green, blue, pink, cyan or yellow potion (29 to
        34), read a book (35), enchant a sword (36) or armor (37), make a torch (38), level up dexterity (39), strength
        (40) or intelligence (41), enchant a bow (42).
    Reward: 1, 3, 5 or 8 for each achievement unlocked, plus a tenth of the change in health.
    Terminated: When the player has no health left or has beaten the boss, or after `max_timesteps` steps.
    Info: `achievements` float32 (67,), in the order of `ACHIEVEMENTS` in `cypool.envs.craftax.specs`: at an episode's
        end, 100 for each one unlocked; otherwise 0. `discount` float32: 0 at the end, else 1.
    """
    describe = staticmethod(specs.full)
    game = "Craftax"
    drawn_cells = (13, 11)
