# distutils: extra_compile_args = -O2
"""Level-based foraging: players on a grid who load food together."""
from cypool.envs.shared.pixels.grid_picture import GridPicture
from cypool.envs.lbf import specs

from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv, RulesOf


cdef extern from "cypool/envs/lbf/foraging.h" namespace "cypool::lbf" nogil:
    cdef cppclass World:
        pass


cdef class Foraging(RulesEnv):
    """Players and food on a grid have levels: adjacent players can load food if their levels add up to at least the
    food's level.

    Follows lbforaging 2.0.0: the same seed and actions give bit-identical results.

    Observation: float32 (3 * `max_num_food` + 3 * `players`,): row, column and level of each visible food item, row by
        row, then of the player itself, then of the other players. Positions are relative to the field of view. Players
        and food out of sight are (-1, -1, 0). With `grid_observation`, float32 (3, 2 * `sight` + 1, 2 * `sight` + 1):
        levels of players, levels of food, and 1 for free cells.
    Action: None (0), north (1), south (2), west (3), east (4), load (5).
    Reward: For loaded food, the player's level times the food's level; with `unit_reward`, divided by both the sum of
        the loaders' levels and the sum of all food levels. If loading fails, `-penalty`.
    Terminated: When no food is left or, without `truncate`, after `time_limit` steps.
    Truncated: With `truncate`, if food is left after `time_limit` steps.
    """
    describe = staticmethod(specs.foraging)
    settings = staticmethod(specs.settings_of)

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[World](options)

    cdef object draw(self, dict state):
        picture = GridPicture(*self.spec.options["field_size"])
        for food in state["food"]:
            picture.disk(food["row"], food["col"], "red")
            picture.number(food["row"], food["col"], food["level"])
        for player in state["player"]:
            picture.square(player["row"], player["col"], "blue")
            picture.number(player["row"], player["col"], player["level"])
        return picture.pixels
