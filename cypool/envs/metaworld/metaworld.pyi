# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.envs.mujoco_common.mujoco_common import Simulation
from cypool.spec import EnvSpec

NORMALIZATIONS: dict[Any, Any]
SIZES: dict[Any, Any]
TASKS: dict[Any, Any]

def load_sawyer(task: str) -> Any: ...

class Sawyer(Simulation):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]
