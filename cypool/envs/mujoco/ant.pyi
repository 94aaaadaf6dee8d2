# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

INFO: dict

class Ant(_Ant):
    @staticmethod
    def describe(
        xml_file: Any = 'ant.xml',
        frame_skip: Any = 5,
        forward_reward_weight: Any = 1.0,
        ctrl_cost_weight: Any = 0.5,
        contact_cost_weight: Any = 0.0005,
        healthy_reward: Any = 1.0,
        main_body: Any = 1,
        terminate_when_unhealthy: Any = True,
        healthy_z_range: Any = ...,
        contact_force_range: Any = ...,
        reset_noise_scale: Any = 0.1,
        exclude_current_positions_from_observation: Any = True,
        include_cfrc_ext_in_observation: Any = True,
        **common: Any,
    ) -> EnvSpec: ...

class AntV4(_Ant):
    @staticmethod
    def describe(
        xml_file: Any = 'ant.xml',
        frame_skip: Any = 5,
        ctrl_cost_weight: Any = 0.5,
        use_contact_forces: Any = False,
        contact_cost_weight: Any = 0.0005,
        healthy_reward: Any = 1.0,
        terminate_when_unhealthy: Any = True,
        healthy_z_range: Any = ...,
        contact_force_range: Any = ...,
        reset_noise_scale: Any = 0.1,
        exclude_current_positions_from_observation: Any = True,
        **common: Any,
    ) -> EnvSpec: ...

class _Ant(MujocoEnv): ...
