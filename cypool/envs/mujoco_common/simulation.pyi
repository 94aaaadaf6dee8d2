# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env

class Simulation(Env):
    @property
    def loaded(self) -> Any: ...
