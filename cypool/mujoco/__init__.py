"""Robots of your own: `Batch` steps many simulations of a MuJoCo model, `Task` makes environments of them.

Both work with live arrays: NumPy arrays over all simulations, with the names that `mujoco.MjData` has. `cypool.make`
takes a subclass of `Task`.
"""
from __future__ import annotations

from cypool.mujoco.batch import Batch
from cypool.mujoco.task import Task

__all__ = ["Batch", "Task"]
