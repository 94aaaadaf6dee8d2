# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.toy_text.tabular import Tabular
from cypool.spec import EnvSpec

INFO: dict
MAPS: dict
MOVES: tuple

class FrozenLake(Tabular):
    @staticmethod
    def describe(
        desc: Any = None,
        map_name: Any = '4x4',
        is_slippery: Any = True,
        success_rate: Any = 0.3333333333333333,
        reward_schedule: Any = ...,
    ) -> EnvSpec: ...
