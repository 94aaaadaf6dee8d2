# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

def use_simd(on: Any) -> Any: ...

class CarRacing(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        continuous: bool = True,
        lap_complete_percent: float = 0.95,
        domain_randomize: bool = False,
        fresh_world: bool = False,
        action_dtype: str = 'float32',
    ) -> EnvSpec: ...
