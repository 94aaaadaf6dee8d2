"""Checks whether another kind of machine gives the same results as this one:

    python fuzz/sweep_machine.py > here.txt         # there too; compare the files, as .ci/aarch64 does
    python fuzz/sweep_machine.py parity             # there, compared with the reference packages

The first command writes a digest for each image kernel and environment whose results are the same on all machines.
MuJoCo's results and NumPy's sines are not, so the second command compares them with Gymnasium's environments in the
same process. It leaves out Humanoid, because Gymnasium computes its center of mass with NumPy's einsum, which fuses
additions on aarch64.
"""
import hashlib
import importlib
import sys

import numpy as np
from tests_path import TESTS

import cypool
from cypool.envs.shared.pixels.resize import shrink, shrink_linear

ENVS = ["FrozenLake-v1", "CliffWalkingSlippery-v1", "Taxi-v4", "Blackjack-v1", "Catch-v0", "NChain-v0", "CartPole-v1",
        "MountainCar-v0", "MountainCarContinuous-v0", "Pong-v5", "Breakout-v5", "MsPacman-v5"]
FOLLOWED = ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1", "FrozenLake-v1",
            "Blackjack-v1", "Ant-v5", "Hopper-v5", "Walker2d-v5", "Pusher-v5"]


def digest(arrays):
    total = hashlib.sha256()
    for array in arrays:
        total.update(f"{array.dtype} {array.shape}:".encode() + np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:16]


def images():
    random = np.random.default_rng(0)
    planes = [random.integers(0, 256, (210, 160), dtype=np.uint8),
              (random.integers(0, 13, (250, 160)) * 20).astype(np.uint8)]
    for size in (84, 84), (96, 96), (64, 64), (110, 84), (1, 1), (210, 160), (70, 80):
        for kernel in shrink, shrink_linear:
            yield f"{kernel.__name__} {size}", [kernel(plane, *size) for plane in planes]
    # image kernels of a family's own
    for path in sorted((TESTS / "envs").glob("*/machine.py")):
        yield from importlib.import_module(f"envs.{path.parent.name}.machine").images(planes[0])


def histories():
    for id in ENVS:
        with cypool.make(id, num_envs=5, num_threads=2, seed=3) as env:
            env.reset()
            kept = []
            space = env.action_space
            space.seed(1)
            for _ in range(150):
                obs, *rest, _ = env.step(space.sample())
                kept += [each.copy() for each in (*(obs if isinstance(obs, tuple) else [obs]), *rest)]
            yield id, kept


if __name__ == "__main__":
    if sys.argv[1:] == ["parity"]:
        from cypool.testing import check_parity

        for id in FOLLOWED:
            print(check_parity(id, num_envs=2, num_steps=60, seeds=(0, 1)), flush=True)
    else:
        for source in images(), histories():
            for name, arrays in source:
                print(name, digest(arrays), flush=True)
