# CliffWalking.
import functools

import numpy as np

from cypool.util.arguments import check_bool
from cypool.envs.common.pictures import draw
from cypool.spec import Discrete, EnvSpec


HEIGHT, WIDTH = 4, 12
START, GOAL = 36, 47
# rows and columns that up, right, down and left lead on by
CLIFF_MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


@functools.lru_cache
def _cliff_table(is_slippery):
    def following(state, move):
        down, right = CLIFF_MOVES[move % 4]
        row = min(max(state // WIDTH + down, 0), HEIGHT - 1)
        col = min(max(state % WIDTH + right, 0), WIDTH - 1)
        there = row * WIDTH + col
        return (START, -100, False) if START < there < GOAL else (there, -1, there == GOAL)

    def outcomes(state, action):
        moves = (action - 1, action, action + 1) if is_slippery else (action,)
        return [(1.0 / len(moves), *following(state, move)) for move in moves]

    return Table([[outcomes(state, action) for action in range(4)] for state in range(HEIGHT * WIDTH)],
                 np.arange(HEIGHT * WIDTH) == START)


cdef class CliffWalking(Tabular):
    """A walk along a cliff, in a grid of 4 rows and 12 columns: up (0), right (1), down (2) or left (3).

    Follows `gymnasium.envs.toy_text.CliffWalkingEnv` of Gymnasium 1.4: the same seed and actions give the same bits.

    Observation: `Discrete(48)`: the row times 12, plus the column. The start is 36, the goal 47, the cliff between.
    Reward: -1 a step; -100 for one off the cliff, which leads back to the start.
    Terminated: At the goal.
    Info: `prob` float64: the probability of the move that was made, 1 after a reset.
    """

    @staticmethod
    def describe(is_slippery=False):
        """Returns the spec.

        Args:
            is_slippery: Whether a move goes off to its left or right, each with probability 1/3.
        """
        options = {"is_slippery": check_bool("is_slippery", is_slippery)}
        return EnvSpec(observation=Discrete(HEIGHT * WIDTH), action=Discrete(4), info=INFO, render_fps=4,
                       options=options, brief_steps=True)

    def __init__(self, spec, env_id):
        self.table = _cliff_table(spec.options["is_slippery"])

    cdef object render(self):
        # before 1.4 Gymnasium's hiker faced where he went; ours looks as in the first picture
        return draw("gymnasium.envs.toy_text.cliffwalking:CliffWalkingEnv", {}, {"s": self.state, "lastaction": None})
