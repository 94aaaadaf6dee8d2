# by .ci/stubs: not to be edited
from typing import Any

from numpy.typing import NDArray

from cypool.env import Env

class Gatherer:
    def __init__(self, ring: Any, action_parts: list[Any], n_step: int, gamma: float) -> None: ...
    def request(self, index: NDArray[Any], goal: NDArray[Any] | None = None) -> Any: ...

class SampledRow(Env):
    def __init__(self, spec: Any, env_id: int, gatherer: Any) -> None: ...
