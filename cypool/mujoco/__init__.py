"""Your own robots: `Batch` steps many simulations of a MuJoCo model, `Task` turns them into environments.

Both work with live arrays: NumPy arrays over all simulations, named as in `mujoco.MjData`. `cypool.make`
takes a subclass of `Task`.
"""
from __future__ import annotations

from cypool.mujoco.batch import Batch
from cypool.mujoco.task import Task

__all__ = ["Batch", "Task"]
