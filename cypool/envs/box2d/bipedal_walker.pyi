# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

class BipedalWalker(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        hardcore: bool = False,
        fresh_world: bool = False,
        action_dtype: str = 'float32',
    ) -> EnvSpec: ...
