# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.toy_text.tabular import Tabular
from cypool.spec import EnvSpec

INFO: dict[Any, Any]
MAPS: dict[Any, Any]
MOVES: tuple[Any, ...]

class FrozenLake(Tabular):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        desc: Any = None,
        map_name: str = '4x4',
        is_slippery: bool = True,
        success_rate: float = 0.3333333333333333,
        reward_schedule: Any = ...,
    ) -> EnvSpec: ...
