# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.common.archived_env import ArchivedEnv
from cypool.spec import EnvSpec

SCENARIOS: dict[Any, Any]

def shape_of(number: Any, options: dict[Any, Any]) -> Any: ...

class CollectTreasure(MPE2):
    @staticmethod
    def describe(
        *,
        num_collectors: int = 6,
        num_deposits: int = 2,
        num_treasures: int = 6,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
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
    @staticmethod
    def describe(
        *,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleAdversary(MPE2):
    @staticmethod
    def describe(
        *,
        N: int = 2,
        num_agent_neighbors: Any = None,
        num_landmark_neighbors: Any = None,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleCrypto(MPE2):
    @staticmethod
    def describe(
        *,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleFormation(MPE2):
    @staticmethod
    def describe(
        *,
        N: int = 4,
        terminate_on_success: bool = False,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleLine(MPE2):
    @staticmethod
    def describe(
        *,
        N: int = 4,
        terminate_on_success: bool = False,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimplePush(MPE2):
    @staticmethod
    def describe(
        *,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleReference(MPE2):
    @staticmethod
    def describe(
        *,
        local_ratio: float = 0.5,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleSpeakerListener(MPE2):
    @staticmethod
    def describe(
        *,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleSpread(MPE2):
    @staticmethod
    def describe(
        *,
        N: int = 3,
        local_ratio: float = 0.5,
        curriculum_stage: Any = None,
        terminate_on_success: bool = False,
        num_agent_neighbors: Any = None,
        num_landmark_neighbors: Any = None,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleTag(MPE2):
    @staticmethod
    def describe(
        *,
        num_good: int = 1,
        num_adversaries: int = 3,
        num_obstacles: int = 2,
        curriculum_stage: Any = None,
        terminate_on_success: bool = False,
        num_agent_neighbors: Any = None,
        num_landmark_neighbors: Any = None,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...

class SimpleWorldComm(MPE2):
    @staticmethod
    def describe(
        *,
        num_good: int = 2,
        num_adversaries: int = 4,
        num_obstacles: int = 1,
        num_food: int = 2,
        num_forests: int = 2,
        max_cycles: int = 25,
        continuous_actions: bool = False,
        dynamic_rescaling: bool = True,
    ) -> EnvSpec: ...
    @property
    def module(self) -> Any: ...
    @property
    def number(self) -> Any: ...
