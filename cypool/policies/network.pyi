# by .ci/stubs: not to be edited
from typing import Any, final

from numpy.typing import NDArray

LOG_STD_LIMIT: int
POLICY: int
RANDOM_POLICY: int
SIMD: list[Any]

@final
class Network:
    def __init__(
        self,
        policy: list[Any],
        value: list[Any],
        activation: int,
        output: int,
        input: int,
        low: Any,
        high: Any,
        log_std: Any,
        is_double: bool,
        seed: int,
        observation_bytes: int,
        action_bytes: int,
    ) -> None: ...
    @property
    def simd(self) -> Any: ...
    def use_simd(self, name: str) -> Any: ...

@final
class NetworkCall:
    def __init__(
        self,
        network: Any,
        agents: int,
        first_step: int,
        rows: int,
        raw_action: NDArray[Any],
        log_prob: NDArray[Any],
        entropy: NDArray[Any],
        value: NDArray[Any],
    ) -> None: ...
    @property
    def address(self) -> Any: ...
    def choose(
        self,
        obs: NDArray[Any],
        mask: NDArray[Any],
        actions: NDArray[Any],
        step: int,
        count: int,
    ) -> Any: ...

@final
class RandomCall:
    def __init__(self, seed: int, agents: int, num_actions: int, first_step: int) -> None: ...
    @property
    def address(self) -> Any: ...
    def choose(self, mask: NDArray[Any], actions: NDArray[Any], step: int, count: int) -> Any: ...

@final
class Steps:
    def take(self, num_steps: int) -> Any: ...
