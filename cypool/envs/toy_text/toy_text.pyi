# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

FACES: str
SUITS: str

class Blackjack(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Catch(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class CliffWalking(Tabular):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class FrozenLake(Tabular):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class NChain(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Table:
    def __init__(self, transitions: Any, start: Any) -> None: ...

class Tabular(Env): ...

class Taxi(Tabular):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]
