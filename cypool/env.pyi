from cypool.spec import EnvSpec

ABI: int

class Env:
    def __init__(self, spec: EnvSpec, env_id: int) -> None: ...
    @property
    def env_id(self) -> int: ...
    @property
    def spec(self) -> EnvSpec: ...
