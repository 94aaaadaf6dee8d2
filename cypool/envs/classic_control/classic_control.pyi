# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class Acrobot(Env):
    describe: Callable[..., EnvSpec]

class CartPole(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Fast(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class FastAcrobot(Fast): ...

class FastCartPole(Fast): ...

class FastMountainCar(Fast): ...

class FastMountainCarContinuous(Fast): ...

class FastPendulum(Fast): ...

class MountainCar(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class MountainCarContinuous(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Pendulum(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]
