"""The ids of the DeepMind Control Suite: those of Shimmy, and EnvPool's."""
import importlib.util
import os

from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="dm_control",
    title="DeepMind Control Suite",
    description="all 51 tasks of `dm_control.suite`, with numbers or images as observations",
    licence="MuJoCo, dm_control: Apache 2.0",
    package="dm_control",
    extra="dm-control",
    reference="dm_control 1.0.50 with the installed MuJoCo",
    fidelity="observations, rewards, discounts, episode ends, random streams and pixels",
    smoke_ids=("dm_control/walker-walk-v0", "CartpoleSwingup-v1"),
    loop="cypool.envs.dm_control.reference:loop",
    peers={"*": ("loop", "envpool")})

# an import would import the package first, which needs dm_control
_spec = importlib.util.spec_from_file_location("cypool.envs.dm_control.tasks",
                                               os.path.join(os.path.dirname(__file__), "tasks.py"))
assert _spec is not None and _spec.loader is not None
_tasks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_tasks)

for _name, _domain in _tasks.DOMAINS.items():
    for _task in _domain.tasks:
        for _id in (f"dm_control/{_name}-{_task}-v0", _tasks.envpool_id(_name, _task)):
            register(_id, f"cypool.envs.dm_control.dm_control:{_domain.entry_point}",
                     reference="cypool.envs.dm_control.reference:make_reference", task=_task)
