# by .ci/stubs: not to be edited
from typing import Any, final

from numpy.typing import NDArray

from cypool.env import Env

EVALUATORS: dict[Any, Any]
POLICY: int

def num_players_of(env: Any) -> Any: ...
def redraws_chance(env: Any) -> Any: ...

@final
class Search:
    def __init__(
        self,
        spec: Any,
        num_players: int,
        leaves: int,
        options: dict[Any, Any],
        seed: int,
    ) -> None: ...
    def acquire(self) -> Any: ...
    def begin(
        self,
        target: int,
        evaluator: Any,
        num_games: int,
        noise: NDArray[Any] | None = None,
        given: Any = None,
        values: NDArray[Any] | None = None,
    ) -> Any: ...
    def begin_step(self, follows: bool = False, has_answers: bool = False) -> Any: ...
    @property
    def is_finished(self) -> Any: ...
    @property
    def leaves(self) -> int: ...
    @property
    def num_values(self) -> int: ...
    def release(self) -> Any: ...
    @property
    def spec(self) -> Any: ...

@final
class TreeEnv(Env):
    def __init__(
        self,
        spec: Any,
        env_id: int,
        search: Any,
        source: Any,
        copies: list[Any],
    ) -> None: ...
    def check_position(self) -> Any: ...
    def drop(self) -> Any: ...
    @property
    def num_nodes(self) -> Any: ...
    def prepare(self, action: int) -> Any: ...
    def settle(self) -> Any: ...
    def write_result(self, visits: NDArray[Any], q: NDArray[Any], policy: NDArray[Any]) -> Any: ...
