# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

EMULATOR: str
PRESETS: dict[Any, Any]
SIMD: list[Any]

def game_facts(task: Any) -> Any: ...
def picture_of(
        height: Any,
        width: Any,
        gray: Any,
        rgb: Any,
        out_size: Any,
        by_area: Any,
        channels_last: Any,
    ) -> Any: ...
def pool_frames(a: Any, b: Any, table: Any, *, simd: bool = True) -> Any: ...
def start_of(task: Any, mode: Any, difficulty: Any) -> Any: ...
def state_of(text: Any) -> Any: ...
def use_simd(name: Any) -> Any: ...

class Atari(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Picture:
    def __init__(
        self,
        height: int,
        width: int,
        gray: bytes,
        rgb: bytes,
        out_size: Any,
        by_area: bool,
        channels_last: bool,
    ) -> None: ...
    @property
    def frame_bytes(self) -> int: ...
    @property
    def num_planes(self) -> int: ...

class SharedStart: ...
