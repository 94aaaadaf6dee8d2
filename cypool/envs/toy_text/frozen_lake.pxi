# FrozenLake.
import functools
import math

import numpy as np

from cypool.util.arguments import check_bool, check_float, check_list, shown
from cypool.envs.common.pictures import draw
from cypool.spec import Discrete, EnvSpec


MAPS = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"),
}
# rows and columns that left, down, right and up lead on by
LAKE_MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))


def _rows_of(desc):
    """Returns a map as a tuple of strings."""
    expected = "rows of equal length, as strings of S, F, H and G with at least one S"
    rows = []
    for row in check_list("desc", desc, expected):
        # bytes fall apart into numbers
        tiles = [row] if isinstance(row, (str, bytes)) else check_list("desc", row, expected)
        tiles = [tile.decode("latin-1") if isinstance(tile, bytes) else tile for tile in tiles]
        if not all(isinstance(tile, str) for tile in tiles):
            raise TypeError(f"desc: expected {expected}, got the row {shown(row)}")
        rows.append("".join(tiles))
    if not rows or not rows[0] or len(set(map(len, rows))) > 1:
        raise ValueError(f"desc: expected {expected}, got rows of the lengths {list(map(len, rows))}")
    tiles = set("".join(rows))
    if not tiles <= set("SFHG") or "S" not in tiles:
        raise ValueError(f"desc: expected {expected}, got {shown(rows)}")
    return tuple(rows)


@functools.lru_cache(maxsize=64)
def _lake_table(rows, is_slippery, success_rate, reward_schedule):
    height, width = len(rows), len(rows[0])
    tiles = "".join(rows)
    fail_rate = (1.0 - success_rate) / 2.0
    reward_of = dict(zip("GHF", reward_schedule), S=reward_schedule[2])

    def following(state, move):
        down, right = LAKE_MOVES[move % 4]
        row = min(max(state // width + down, 0), height - 1)
        col = min(max(state % width + right, 0), width - 1)
        tile = rows[row][col]
        return row * width + col, reward_of[tile], tile in "GH"

    def outcomes(state, action):
        if tiles[state] in "GH":
            return [(1.0, state, 0, True)]
        if not is_slippery:
            return [(1.0, *following(state, action))]
        return [(success_rate if move == action else fail_rate, *following(state, move))
                for move in (action - 1, action, action + 1)]

    start = np.array([tile == "S" for tile in tiles], np.float64)
    return Table([[outcomes(state, action) for action in range(4)] for state in range(len(tiles))],
                 start / start.sum())


cdef class FrozenLake(Tabular):
    """A walk over a frozen lake with holes: left (0), down (1), right (2) or up (3).

    Follows `gymnasium.envs.toy_text.FrozenLakeEnv` of Gymnasium 1.4: the same seed and actions give the same bits.

    Observation: `Discrete(rows * columns)`: the row times the number of columns, plus the column.
    Reward: 1 at the goal, 0 elsewhere; see `reward_schedule`.
    Terminated: On a goal or a hole.
    Info: `prob` float64: the probability of the move that was made, 1 after a reset.
    """

    @staticmethod
    def describe(desc=None, map_name="4x4", is_slippery=True, success_rate=1.0 / 3.0, reward_schedule=(1, 0, 0)):
        """Returns the spec.

        Args:
            desc: A map of one's own: rows of the tiles S (start), F (frozen), H (hole) and G (goal).
            map_name: "4x4" or "8x8", where there is no `desc`. None: a random map of 8 x 8, the same for all
                environments of a pool, unless they come with `env_options`.
            is_slippery: Whether a move may go off to its left or right.
            success_rate: The probability that a slippery move goes where it should.
            reward_schedule: The rewards of reaching a goal, a hole, and any other tile.
        """
        if desc is not None:
            desc, map_name = _rows_of(desc), None
        elif map_name is None:
            from gymnasium.envs.toy_text.frozen_lake import generate_random_map

            desc = _rows_of(generate_random_map())
        elif not isinstance(map_name, str) or map_name not in MAPS:
            raise ValueError(f"map_name: expected {', '.join(map(repr, MAPS))} or None, got {shown(map_name)}")
        if not isinstance(reward_schedule, (tuple, list)) or len(reward_schedule) != 3:
            raise TypeError(f"reward_schedule: expected three numbers, got {shown(reward_schedule)}")
        options = {
            "desc": desc,
            "map_name": map_name,
            "is_slippery": check_bool("is_slippery", is_slippery),
            "success_rate": check_float("success_rate", success_rate, 0, 1),
            "reward_schedule": tuple(check_float("reward_schedule", reward, -math.inf, math.inf)
                                     for reward in reward_schedule),
        }
        rows = desc or MAPS[map_name]
        return EnvSpec(observation=Discrete(len(rows) * len(rows[0])), action=Discrete(4), info=INFO, render_fps=4,
                       options=options, brief_steps=True)

    def __init__(self, spec, env_id):
        options = spec.options
        self.table = _lake_table(options["desc"] or MAPS[options["map_name"]], options["is_slippery"],
                                 options["success_rate"], options["reward_schedule"])

    cdef object render(self):
        options = self.spec.options
        # before 1.4 Gymnasium's elf faced where it went; ours looks as in the first picture
        return draw("gymnasium.envs.toy_text.frozen_lake:FrozenLakeEnv",
                    {"desc": options["desc"], "map_name": options["map_name"]}, {"s": self.state, "lastaction": None})
