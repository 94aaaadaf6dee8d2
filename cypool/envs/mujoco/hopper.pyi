# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

INFO: dict

def describe_upright(options: Any, common: Any, distance: Any) -> Any: ...

class Hopper(_Upright):
    @staticmethod
    def describe(
        xml_file: Any = 'hopper.xml',
        frame_skip: Any = 4,
        forward_reward_weight: Any = 1.0,
        ctrl_cost_weight: Any = 0.001,
        healthy_reward: Any = 1.0,
        terminate_when_unhealthy: Any = True,
        healthy_state_range: Any = ...,
        healthy_z_range: Any = ...,
        healthy_angle_range: Any = ...,
        reset_noise_scale: Any = 0.005,
        exclude_current_positions_from_observation: Any = True,
        **common: Any,
    ) -> EnvSpec: ...

class HopperV4(Hopper): ...

class Walker2d(_Upright):
    @staticmethod
    def describe(
        xml_file: Any = 'walker2d_v5.xml',
        frame_skip: Any = 4,
        forward_reward_weight: Any = 1.0,
        ctrl_cost_weight: Any = 0.001,
        healthy_reward: Any = 1.0,
        terminate_when_unhealthy: Any = True,
        healthy_z_range: Any = ...,
        healthy_angle_range: Any = ...,
        reset_noise_scale: Any = 0.005,
        exclude_current_positions_from_observation: Any = True,
        **common: Any,
    ) -> EnvSpec: ...

class Walker2dV4(Walker2d):
    @staticmethod
    def describe(xml_file: Any = 'walker2d.xml', **options: Any) -> EnvSpec: ...

class _Upright(MujocoEnv): ...
