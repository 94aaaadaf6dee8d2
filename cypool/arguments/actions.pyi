from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from cypool.spec import Array, Discrete

class ArraysReader:
    reader: Callable[..., NDArray[Any]]
    def __init__(self, action: Any, most: int, reader: Callable[..., NDArray[Any]],
                 axes: tuple[int, ...] = ()) -> None: ...
    def __call__(self, actions: Any, *acting: NDArray[Any] | None) -> NDArray[Any]: ...

class ActionReader:
    def __init__(self, space: Array | Discrete, num_envs: int) -> None: ...
    def read(self, actions: Any) -> NDArray[Any]: ...
