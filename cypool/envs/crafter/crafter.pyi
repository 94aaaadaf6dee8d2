# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

SIMD: tuple[Any, ...]

def use_simd(name: Any) -> Any: ...

class Crafter(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]
    def follow(self, choices: Any) -> Any: ...
