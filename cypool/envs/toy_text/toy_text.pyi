# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

FACES: str
SUITS: str

class Blackjack(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(*, natural: bool = False, sab: bool = False) -> EnvSpec: ...

class Catch(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(*, height: int = 10, width: int = 5) -> EnvSpec: ...

class CliffWalking(Tabular):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(*, is_slippery: bool = False) -> EnvSpec: ...

class FrozenLake(Tabular):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        desc: Any = None,
        map_name: str = '4x4',
        is_slippery: bool = True,
        success_rate: float = 0.3333333333333333,
        reward_schedule: Any = ...,
    ) -> EnvSpec: ...

class NChain(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        n: int = 5,
        slip: float = 0.2,
        small: float = 2.0,
        large: float = 10.0,
    ) -> EnvSpec: ...

class Table:
    def __init__(self, transitions: Any, start: Any) -> None: ...

class Tabular(Env): ...

class Taxi(Tabular):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        is_rainy: bool = False,
        fickle_passenger: bool = False,
        rainy_probability: float = 0.8,
        fickle_probability: float = 0.3,
    ) -> EnvSpec: ...
