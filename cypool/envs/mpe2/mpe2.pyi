# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

SCENARIOS: dict[Any, Any]

def shape_of(number: Any, options: dict[Any, Any]) -> Any: ...

class CollectTreasure(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class MPE2(ArchivedEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class Shared: ...

class Simple(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleAdversary(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleCrypto(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleFormation(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleLine(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimplePush(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleReference(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleSpeakerListener(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleSpread(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleTag(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleWorldComm(MPE2):
    describe: Callable[..., EnvSpec]
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...
