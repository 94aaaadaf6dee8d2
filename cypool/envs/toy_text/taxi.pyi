# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.toy_text.tabular import Tabular
from cypool.spec import EnvSpec

DROPOFF: int
EAST: int
INFO: dict
NORTH: int
PICKUP: int
SIDES: tuple
SIZE: int
SOUTH: int
STANDS: tuple
WALLS: set
WEST: int

class Taxi(Tabular):
    @staticmethod
    def describe(
        is_rainy: Any = False,
        fickle_passenger: Any = False,
        rainy_probability: Any = 0.8,
        fickle_probability: Any = 0.3,
    ) -> EnvSpec: ...
