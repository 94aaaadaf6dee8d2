# FrozenLake.
import functools

from cypool.envs.toy_text import specs, tables


@functools.lru_cache(maxsize=64)
def _lake_table(rows, is_slippery, success_rate, reward_schedule):
    return Table(*tables.frozen_lake(rows, is_slippery, success_rate, reward_schedule))


cdef class FrozenLake(Tabular):
    """A walk across a frozen lake with holes: left (0), down (1), right (2) or up (3).

    Follows `gymnasium.envs.toy_text.FrozenLakeEnv` of Gymnasium 1.4: the same seed and actions give bit-identical
    results.

    Observation: `Discrete(rows * columns)`: the row times the number of columns, plus the column.
    Reward: 1 at the goal, 0 elsewhere; see `reward_schedule`.
    Terminated: At a goal or in a hole.
    Info: `prob` float64: the probability of the actual move, 1 after a reset.
    """
    describe = staticmethod(specs.frozen_lake)

    def __init__(self, spec, env_id):
        options = spec.options
        self.table = _lake_table(options["desc"] or tables.MAPS[options["map_name"]], options["is_slippery"],
                                 options["success_rate"], options["reward_schedule"])

    cdef object render(self):
        options = self.spec.options
        return self.draw("gymnasium.envs.toy_text.frozen_lake:FrozenLakeEnv",
                         {"desc": options["desc"], "map_name": options["map_name"]}, {})
