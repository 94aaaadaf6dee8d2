# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

def use_simd(on: Any) -> Any: ...

class LunarLander(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        continuous: bool = False,
        gravity: float = -10.0,
        enable_wind: bool = False,
        wind_power: float = 15.0,
        turbulence_power: float = 1.5,
        action_dtype: str = 'float32',
    ) -> EnvSpec: ...
