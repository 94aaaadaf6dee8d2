from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, final

from numpy.typing import ArrayLike, NDArray

from cypool.policies import Policy
from cypool.spec import EnvSpec

ACTIVATIONS: list[str]
CONTINUOUS: list[str]
DISCRETE: list[str]
GAUSSIANS: list[str]
LOG_STD_LIMIT: int
INPUTS: list[str]
OUTPUTS: list[str]
SIMD: list[str]

class Choice(NamedTuple):
    action: NDArray[Any]
    raw_action: NDArray[Any] | None
    log_prob: NDArray[Any] | None
    entropy: NDArray[Any] | None
    value: NDArray[Any] | None

class MLP(Policy):
    def __init__(self, spec: EnvSpec, weights: Iterable[Any], biases: Iterable[Any], *,
                 activation: Literal["tanh", "relu"] = "tanh",
                 output: Literal["argmax", "categorical", "identity", "clip", "tanh", "gaussian",
                                 "tanh_gaussian"] | None = None,
                 log_std: ArrayLike | None = None, value: tuple[Iterable[Any], Iterable[Any]] | None = None,
                 seed: int = 0) -> None: ...
    def __call__(self, observation: Any) -> NDArray[Any]: ...
    def choose(self, observation: Any) -> Choice: ...
    def values(self, observation: Any) -> NDArray[Any]: ...
    def update(self, weights: Iterable[Any], biases: Iterable[Any], *, log_std: ArrayLike | None = None,
               value: tuple[Iterable[Any], Iterable[Any]] | None = None) -> None: ...
    def check(self, spec: EnvSpec, num_envs: int) -> None: ...

@final
class _Network:
    def __init__(self, policy: list[Any], value: list[Any], activation: int, output: int, input: int, low: Any,
                 high: Any, log_std: Any, is_double: bool, seed: int, observation_bytes: int,
                 action_bytes: int) -> None: ...
    @property
    def simd(self) -> list[str]: ...
    def use_simd(self, name: str) -> None: ...
