"""The family's image kernels, whose results hold on all machines: `fuzz/sweep_machine.py` compares them."""
import numpy as np

from cypool.envs.atari.atari import pool_frames


def images(plane):
    """Yields names of kernels with their results for a picture of a screen."""
    table = np.random.default_rng(1).integers(0, 256, 256, dtype=np.uint8)
    yield "pool_frames", [pool_frames(plane, plane[::-1].copy(), table)]
