# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env

class ArchivedEnv(Env):
    def state_fields(self, state: Any) -> Any: ...
