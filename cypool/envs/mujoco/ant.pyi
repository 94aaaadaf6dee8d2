# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

INFO: dict[Any, Any]

class Ant(_Ant):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'ant.xml',
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 0.0005,
        healthy_reward: float = 1.0,
        main_body: int = 1,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        contact_force_range: Any = ...,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class AntV4(_Ant):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'ant.xml',
        frame_skip: int = 5,
        ctrl_cost_weight: float = 0.5,
        use_contact_forces: bool = False,
        contact_cost_weight: float = 0.0005,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        contact_force_range: Any = ...,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class _Ant(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
