# distutils: extra_compile_args = -O2
"""MiniGrid and BabyAI: grid worlds of rooms, doors and objects, with a mission in words."""
import numpy as np

from cypool.envs.shared.rules.rules_env import bytes_of
from cypool.envs.minigrid import levels, specs
from cypool.envs.minigrid.observations import goal_directions
from cypool.envs.minigrid.reference import draw_level
from cypool.envs.minigrid.tiles import kind_numbers, tiles

cimport numpy as cnp
from libc.stdint cimport uint8_t
from libcpp cimport bool as cbool

from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv, RulesOf

cnp.import_array()


cdef extern from "cypool/envs/minigrid/game.h" namespace "cypool::minigrid" nogil:
    cdef cppclass Object:
        uint8_t type, color, state

    cdef cppclass Pos:
        int x, y

    cdef cppclass Game:
        int width, height, dir
        cbool see_through
        Pos agent
        void encode(uint8_t* image)
        const Object& carried()
        cbool ready()


cdef class MiniGrid(RulesEnv):
    """A level of MiniGrid or BabyAI; its options are the arguments of the level's class.

    Follows minigrid 3.2.0: the same seed and actions give bit-identical results.

    Observation: `direction`: `Discrete(4)`: right (0), down (1), left (2), up (3). `image` uint8 (view, view, 3): type,
        color and state of the visible cells, from left to right and from far to near. `mission`: `Text`.
    Action: Left (0), right (1), forward (2), pick up (3), drop (4), toggle (5), done (6).
    Reward: 1 - 0.9 * (steps / limit) for success; else 0, or -1 for a collision in Dynamic-Obstacles.
    Terminated: When the mission is done or has failed.
    Truncated: At the step limit: `max_steps`, or else the limit of the level or its mission.
    """
    describe = staticmethod(specs.any_level)

    def settings(self, options):
        level = self.level.make(**{name: options[name] for name in self.level.declared})
        see_through, directed = options["see_through_walls"], options["goal_direction"]
        has_tiles = options["obs_type"].startswith("rgb")
        return {
            **{name: specs.number_of(name, value) for name, value in {**options, **level.numbers}.items()},
            "width": level.grid[0], "height": level.grid[1], "fixed_steps": options["max_steps"] or level.max_steps,
            "see_through": level.see_through if see_through is None else see_through,
            "view": options["view_size"] or options["agent_view_size"],
            "view_is_late": options["view_size"] is not None,
            "no_death": sum({1 << specs.DEATHS[name] for name in options["no_death_types"]}),
            "mission_length": level.mission_length, "num_actions": level.num_actions, "generator": level.generator,
            "mission": level.mission,
            "tiles": tiles(options["obs_tile_size"]).tobytes() if has_tiles else b"",
            "kinds": kind_numbers().tobytes() if has_tiles else b"",
            "directions": goal_directions(directed, *level.grid) if directed else (),
            "row_bytes": [bytes_of(part) for _, part in self.spec.observations]}

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[Game](options)

    cdef object render(self):
        cdef Game* game = (<RulesOf[Game]*>self.rules.get()).get()
        if not game.ready():
            raise RuntimeError("render: expected a successful reset first")
        cdef const Object* carried = &game.carried()
        codes = np.empty((game.width, game.height, 3), np.uint8)
        game.encode(<uint8_t*>cnp.PyArray_DATA(codes))
        options = self.spec.options
        return draw_level(codes, (game.agent.x, game.agent.y), game.dir,
                          (carried.type, carried.color, carried.state), bool(game.see_through),
                          options["agent_view_size"], options["highlight"], options["tile_size"], options["agent_pov"])


# a class for each of sixty levels: `levels.door_key` describes `DoorKey`
for _name, _level in levels.CLASSES.items():
    globals()[_name] = type(_name, (MiniGrid,), {"__module__": __name__, "__slots__": (), "level": _level,
                                                 "describe": staticmethod(specs.describe_of(_level))})
