# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

SIMD: tuple[Any, ...]

def use_simd(name: Any) -> Any: ...

class Crafter(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        area: Any = ...,
        view: Any = ...,
        size: Any = ...,
        reward: bool = True,
        length: int = 10000,
        obs_type: str = 'rgb',
        semantic: bool = True,
        render_size: Any = ...,
    ) -> EnvSpec: ...
    def follow(self, choices: Any) -> Any: ...
