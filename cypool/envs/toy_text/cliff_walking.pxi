# CliffWalking.
import functools

from cypool.envs.toy_text import specs, tables


@functools.lru_cache
def _cliff_table(is_slippery):
    return Table(*tables.cliff_walking(is_slippery))


cdef class CliffWalking(Tabular):
    """A walk along a cliff, in a grid of 4 rows and 12 columns: up (0), right (1), down (2) or left (3).

    Follows `gymnasium.envs.toy_text.CliffWalkingEnv` of Gymnasium 1.4: the same seed and actions give bit-identical
    results.

    Observation: `Discrete(48)`: the row times 12, plus the column. The start is 36, the goal is 47, and the cliff lies
        in between.
    Reward: -1 per step; -100 for stepping off the cliff, which leads back to the start.
    Terminated: At the goal.
    Info: `prob` float64: the probability of the actual move, 1 after a reset.
    """
    describe = staticmethod(specs.cliff_walking)

    def __init__(self, spec, env_id):
        self.table = _cliff_table(spec.options["is_slippery"])

    cdef object render(self):
        return self.draw("gymnasium.envs.toy_text.cliffwalking:CliffWalkingEnv", {}, {})
