# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco_common.simulation import Simulation
from cypool.spec import EnvSpec

DOMAINS: dict[Any, Any]
MAX_STEPS: int

def check_task(domain: Any, task: Any) -> Any: ...
def describe_task(domain: Any, task: Any, parts: Any, common: Any, **own: Any) -> Any: ...

class ControlTask(Simulation):
    def __init__(self, spec: Any, env_id: Any, domain: Any, written: Any = ...) -> None: ...
    @staticmethod
    def describe(
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        action_dtype: str = 'float64',
        width: int = 320,
        height: int = 240,
        max_geom: int = 10000,
        **common: Any,
    ) -> EnvSpec: ...
