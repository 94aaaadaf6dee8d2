# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

def use_canvas_simd(on: Any) -> Any: ...
def use_simd(on: Any) -> Any: ...

class BipedalWalker(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class CarRacing(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class LunarLander(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]
