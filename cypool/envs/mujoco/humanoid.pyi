# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

POSITIONS: tuple[Any, ...]
STANDUP: tuple[Any, ...]

def camera_at(height: Any) -> Any: ...

class Humanoid(_Humanoid):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'humanoid.xml',
        frame_skip: int = 5,
        forward_reward_weight: float = 1.25,
        ctrl_cost_weight: float = 0.1,
        contact_cost_weight: float = 5e-07,
        contact_cost_range: Any = ...,
        healthy_reward: float = 5.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        reset_noise_scale: float = 0.01,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class HumanoidStandup(_Standup):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'humanoidstandup.xml',
        frame_skip: int = 5,
        uph_cost_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        impact_cost_weight: float = 5e-07,
        impact_cost_range: Any = ...,
        reset_noise_scale: float = 0.01,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class HumanoidStandupV4(_Standup):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'humanoidstandup.xml',
        frame_skip: int = 5,
        **common: Any,
    ) -> EnvSpec: ...

class HumanoidV4(_Humanoid):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'humanoid.xml',
        frame_skip: int = 5,
        forward_reward_weight: float = 1.25,
        ctrl_cost_weight: float = 0.1,
        healthy_reward: float = 5.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        reset_noise_scale: float = 0.01,
        exclude_current_positions_from_observation: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class _Humanoid(_Person):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class _Person(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class _Standup(_Person):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
