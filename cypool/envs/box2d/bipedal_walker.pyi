# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class BipedalWalker(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        hardcore: bool = False,
        fresh_world: bool = False,
        action_dtype: str = 'float32',
    ) -> EnvSpec: ...
    def state_fields(self, state: Any) -> Any: ...
