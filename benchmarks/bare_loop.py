"""The functions of bare_loop.cpp: MuJoCo steps in a C++ loop, without an environment. Needs g++."""
import ctypes
import functools
import subprocess
import tempfile
from pathlib import Path

import mujoco
import numpy as np


@functools.cache
def compiled():
    """Returns a library that calls this process's MuJoCo."""
    package = Path(mujoco.__file__).parent
    library = next(package.glob("libmujoco.so.*"))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-pthread", "-I", package / "include",
                        Path(__file__).with_name("bare_loop.cpp"), library, "-o", f"{folder}/bare_loop.so"], check=True)
        return ctypes.CDLL(f"{folder}/bare_loop.so")


def pointer(array):
    """Returns a pointer to the elements of an array, or to a struct from MuJoCo's package."""
    return ctypes.c_void_p(array._address) if hasattr(array, "_address") else array.ctypes.data_as(ctypes.c_void_p)


def loop_of(model, datas, actions, frame_skip, num_threads):
    """Returns a candidate that takes actions, (steps, environments, controls), from the states of `datas`."""
    steps, num_envs = actions.shape[:2]
    pointers = (ctypes.c_void_p * num_envs)(*map(pointer, datas))
    # the loop reads float64
    controls = actions.astype("float64")

    def run():
        compiled().run(pointer(model), pointers, num_envs, pointer(controls), steps, frame_skip, max(num_threads, 1))
        return steps * num_envs

    # the objects at the addresses have to live as long
    run.owned = model, datas
    return run


def arms_of(model, datas, actions, frame_skip):
    """Returns a candidate that moves the mocap body by a part of each action, (steps, environments, at least three)."""
    steps, num_envs = actions.shape[:2]
    way = np.clip(np.cumsum(0.05 * actions[..., :3].astype("float64"), 0), -0.15, 0.15)
    moves = [data.mocap_pos[0] + way[:, k] for k, data in enumerate(datas)]
    controls = np.zeros((steps, max(model.nu, 1)))

    def run():
        for data, places in zip(datas, moves, strict=True):
            compiled().run_arm(pointer(model), pointer(data), pointer(places), pointer(controls), steps, frame_skip)
        return steps * num_envs

    run.owned = model, datas
    return run
