"""Players for comparisons with ViZDoom's wrapper."""
import numpy as np
from family_tests import playing

from cypool.envs.vizdoom.reference import Reference


def players(seed):
    """Has `check_parity` play at random, with numbers that are not larger than a player's."""
    rng = np.random.default_rng(seed)

    def choose(_, actions):
        if isinstance(actions, dict):
            actions["continuous"] = rng.normal(0, 8, actions["continuous"].shape).astype(np.float32)
        return actions

    return playing(choose, Reference)
