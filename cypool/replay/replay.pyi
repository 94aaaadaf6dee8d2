# by .ci/stubs: not to be edited
from typing import Any, final

from numpy.typing import NDArray

from cypool.env import Env

@final
class Gatherer:
    def __init__(self, ring: Any, action_parts: list[Any], n_step: int, gamma: float) -> None: ...
    def request(self, index: NDArray[Any], goal: NDArray[Any] | None = None) -> Any: ...

@final
class Ring:
    def __init__(
        self,
        num_envs: int,
        rows: int,
        memory: dict[Any, Any],
        parts: list[Any],
        columns: list[Any],
        groups: list[Any],
        length: int,
        alpha: float,
        goals: Any,
    ) -> None: ...
    def add(
        self,
        env_ids: NDArray[Any],
        stepped: NDArray[Any],
        starts: NDArray[Any],
        obs: list[Any],
        reward: NDArray[Any],
        terminated: NDArray[Any],
        truncated: NDArray[Any],
        agents: list[Any],
        final_obs: list[Any] | None = None,
        of_caller: bool = False,
    ) -> Any: ...
    def all_eligible(self) -> Any: ...
    def clear(self) -> Any: ...
    def continues(self, env_ids: NDArray[Any], led_to: list[Any], obs: list[Any]) -> Any: ...
    def cut_pool(self) -> Any: ...
    def draw(
        self,
        bit_generator: Any,
        index: NDArray[Any],
        weight: NDArray[Any],
        beta: float,
    ) -> Any: ...
    def draw_goals(
        self,
        bit_generator: Any,
        index: NDArray[Any],
        goal: NDArray[Any],
        share: float,
    ) -> Any: ...
    def episodes(self) -> Any: ...
    def is_eligible(self, index: NDArray[Any]) -> Any: ...
    def newest(self, env_ids: NDArray[Any]) -> Any: ...
    def note_actions(self, actions: NDArray[Any], env_ids: NDArray[Any]) -> Any: ...
    @property
    def num_eligible(self) -> int: ...
    @property
    def num_envs(self) -> int: ...
    @property
    def padding(self) -> int: ...
    def priorities(self, index: NDArray[Any]) -> Any: ...
    def restore(
        self,
        obs_sums: NDArray[Any],
        step_sums: NDArray[Any],
        writers: NDArray[Any] | None = None,
    ) -> Any: ...
    @property
    def rows(self) -> int: ...
    def set_priorities(self, index: NDArray[Any], priority: NDArray[Any]) -> Any: ...
    def sums(self) -> Any: ...
    def writers(self) -> Any: ...

class SampledRow(Env):
    def __init__(self, spec: Any, env_id: int, gatherer: Any) -> None: ...
