"""MuJoCo, as its wheel has it: C headers and a shared library, whose layout of structs changes with each version."""

from .library import WheelLibrary

MUJOCO = WheelLibrary(
    family="mujoco",
    project="mujoco",
    version="3.17.0",
    library="libmujoco.so.3.17.0",
    include_dir="include",
)
