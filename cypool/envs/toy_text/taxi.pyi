# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.toy_text.tabular import Tabular
from cypool.spec import EnvSpec

DROPOFF: int
EAST: int
INFO: dict[Any, Any]
NORTH: int
PICKUP: int
SIDES: tuple[Any, ...]
SIZE: int
SOUTH: int
STANDS: tuple[Any, ...]
WALLS: set[Any]
WEST: int

class Taxi(Tabular):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        is_rainy: bool = False,
        fickle_passenger: bool = False,
        rainy_probability: float = 0.8,
        fickle_probability: float = 0.3,
    ) -> EnvSpec: ...
