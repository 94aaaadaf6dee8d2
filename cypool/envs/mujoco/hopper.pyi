# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

INFO: dict[Any, Any]

def describe_upright(options: Any, common: Any, distance: Any) -> Any: ...

class Hopper(_Upright):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'hopper.xml',
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.001,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_state_range: Any = ...,
        healthy_z_range: Any = ...,
        healthy_angle_range: Any = ...,
        reset_noise_scale: float = 0.005,
        exclude_current_positions_from_observation: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class HopperV4(Hopper):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class Walker2d(_Upright):
    @staticmethod
    def describe(
        xml_file: str = 'walker2d_v5.xml',
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.001,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        healthy_angle_range: Any = ...,
        reset_noise_scale: float = 0.005,
        exclude_current_positions_from_observation: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class Walker2dV4(Walker2d):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(xml_file: str = 'walker2d.xml', **options: Any) -> EnvSpec: ...

class _Upright(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
