# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

def use_canvas_simd(on: Any) -> Any: ...
def use_simd(on: Any) -> Any: ...

class BipedalWalker(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        hardcore: bool = False,
        fresh_world: bool = False,
        action_dtype: str = 'float32',
    ) -> EnvSpec: ...

class CarRacing(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        continuous: bool = True,
        lap_complete_percent: float = 0.95,
        domain_randomize: bool = False,
        fresh_world: bool = False,
        action_dtype: str = 'float32',
    ) -> EnvSpec: ...

class LunarLander(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        continuous: bool = False,
        gravity: float = -10.0,
        enable_wind: bool = False,
        wind_power: float = 15.0,
        turbulence_power: float = 1.5,
        action_dtype: str = 'float32',
    ) -> EnvSpec: ...
