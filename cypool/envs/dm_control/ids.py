"""The ids of the DeepMind Control Suite: those of Shimmy, and EnvPool's.

`cypool.envs` runs this file without importing the package around it, which needs dm_control.
"""
import importlib.util
import os
from importlib.machinery import PathFinder

from cypool.registry import register

_here = os.path.dirname(__file__)
_spec = importlib.util.spec_from_file_location("cypool.envs.dm_control.tasks", os.path.join(_here, "tasks.py"))
assert _spec is not None and _spec.loader is not None
_tasks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_tasks)

# a build may leave the extensions out: CYPOOL_WITHOUT=mujoco
_is_built = PathFinder.find_spec("task", [_here])
for _name, _domain in _tasks.DOMAINS.items() if _is_built else ():
    for _task in _domain.tasks:
        for _id in (f"dm_control/{_name}-{_task}-v0", _tasks.envpool_id(_name, _task)):
            register(_id, f"cypool.envs.dm_control.{_domain.entry_point}",
                     reference="cypool.envs.dm_control.reference:make_reference", task=_task)
