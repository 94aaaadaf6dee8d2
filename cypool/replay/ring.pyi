# by .ci/stubs: not to be edited
from typing import Any

from numpy.typing import NDArray

from cypool.env import Env

class Ring:
    def __init__(
        self,
        num_envs: int,
        rows: int,
        memory: dict[Any, Any],
        parts: list[Any],
        columns: list[Any],
        action_parts: list[Any],
        groups: list[Any],
        n_step: int,
        gamma: float,
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
    ) -> Any: ...
    def all_eligible(self) -> Any: ...
    def clear(self) -> Any: ...
    def cut(self) -> Any: ...
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
    def open_envs(self) -> Any: ...
    @property
    def padding(self) -> int: ...
    def request(self, index: NDArray[Any], goal: NDArray[Any] | None = None) -> Any: ...
    def restore(self, obs_sums: NDArray[Any], step_sums: NDArray[Any]) -> Any: ...
    @property
    def rows(self) -> int: ...
    def set_priorities(self, index: NDArray[Any], priority: NDArray[Any]) -> Any: ...
    def sums(self) -> Any: ...

class SampledRow(Env):
    def __init__(self, spec: Any, env_id: int, ring: Any) -> None: ...
