# distutils: extra_compile_args = -O2
"""Overcooked: cooks in a kitchen who cook and serve soups together."""
from cypool.envs.shared.pixels.grid_picture import GridPicture
from cypool.envs.overcooked import specs

from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv, RulesOf


cdef extern from "cypool/envs/overcooked/kitchen.h" namespace "cypool::overcooked" nogil:
    enum Kind "cypool::overcooked::Kind":
        NOTHING, ONION, TOMATO, DISH, SOUP

    cdef cppclass World:
        pass

COLORS = {"X": "gray", "P": "black", "O": "yellow", "T": "red", "D": "brown", "S": "green"}


cdef class Overcooked(RulesEnv):
    """Cooks fill pots with onions and tomatoes, wait until a soup is ready, and serve it in a dish.

    Follows overcooked_ai 1.1.0: the same actions give bit-identical results. Nothing is random.

    Observation: int64 or uint8 (width, height, 26): layers of the kitchen, for the agent's position, the others'
        positions, the agent's one-hot direction (north, south, east, west), the others' directions, pots, counters,
        dispensers of onions, tomatoes and dishes, serving counters, onions and tomatoes in pots before cooking, onions
        and tomatoes in soups, remaining cooking time, soups that are ready, dishes, onions, tomatoes, and 1 everywhere
        in the last 39 steps.
    Action: North (0), south (1), east (2), west (3), stay (4), interact with the cell in front (5).
    Reward: For each agent, the value of all soups served in this step, plus `shaped_reward` times its own shaped reward
        for putting ingredients into pots, and for taking useful dishes and finished soups. For the environment, the
        value of soups plus all weighted shaped rewards.
    Truncated: After `horizon` steps.
    Info: `sparse_reward` and `shaped_reward`: float64 (agents,): the value of the soups that each agent served, and its
        shaped reward.
    """
    describe = staticmethod(specs.overcooked)
    settings = staticmethod(specs.settings_of)

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[World](options)

    cdef object draw(self, dict state):
        kitchen = specs.settings_of(self.spec.options)
        width = kitchen["width"]
        picture = GridPicture(kitchen["height"], width)

        def draw_thing(row, col, thing):
            if thing["kind"] == NOTHING:
                return
            if thing["kind"] != SOUP:
                picture.disk(row, col, {ONION: "yellow", TOMATO: "red", DISH: "white"}[thing["kind"]])
                return
            left = kitchen["times"][specs.recipe_number(thing["onions"], thing["tomatoes"])] - thing["tick"]
            if thing["tick"] >= 0:
                picture.disk(row, col, "red" if left > 0 else "teal")
            cooks = thing["tick"] >= 0 and left > 0
            picture.number(row, col, left if cooks else thing["onions"] + thing["tomatoes"])

        for k, (cell, thing) in enumerate(zip(kitchen["terrain"], state["thing"], strict=True)):
            if cell != " ":
                picture.fill(k // width, k % width, COLORS[cell])
            draw_thing(k // width, k % width, thing)
        for player in state["player"]:
            picture.fill(player["y"], player["x"], "blue")
            draw_thing(player["y"], player["x"], player["held"])
            picture.arrow(player["y"], player["x"], ((-1, 0), (1, 0), (0, 1), (0, -1))[player["direction"]])
        return picture.pixels
