from collections.abc import Iterable
from typing import Any, Literal, final

from numpy.typing import NDArray

from cypool.policies import Policy
from cypool.spec import EnvSpec

ACTIVATIONS: list[str]
INPUTS: list[str]
OUTPUTS: list[str]
SIMD: list[str]

class MLP(Policy):
    def __init__(self, spec: EnvSpec, weights: Iterable[Any], biases: Iterable[Any], *,
                 activation: Literal["tanh", "relu"] = "tanh",
                 output: Literal["argmax", "identity", "clip", "tanh"] | None = None) -> None: ...
    def __call__(self, observation: Any) -> NDArray[Any]: ...
    def check(self, spec: EnvSpec, num_envs: int) -> None: ...

@final
class _Network:
    def __init__(self, layers: list[Any], activation: int, output: int, input: int, low: Any, high: Any,
                 is_double: bool) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def simd(self) -> list[str]: ...
    def use_simd(self, name: str) -> None: ...
    def apply(self, obs: NDArray[Any], actions: NDArray[Any]) -> None: ...
