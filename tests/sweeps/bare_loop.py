"""The functions of bare_loop.cpp: MuJoCo's steps in a loop in C++, without an environment around it. Needs g++."""
import ctypes
import subprocess
from pathlib import Path

import mujoco


def compiled(folder):
    """Returns a library that calls the MuJoCo of this process; its file is in the folder."""
    package = Path(mujoco.__file__).parent
    library = next(package.glob("libmujoco.so.*"))
    subprocess.run(["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-pthread", "-I", package / "include",
                    Path(__file__).with_name("bare_loop.cpp"), library, "-o", f"{folder}/bare_loop.so"], check=True)
    return ctypes.CDLL(f"{folder}/bare_loop.so")
