# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

POSITIONS: tuple
STANDUP: tuple

def camera_at(height: Any) -> Any: ...

class Humanoid(_Humanoid):
    @staticmethod
    def describe(
        xml_file: Any = 'humanoid.xml',
        frame_skip: Any = 5,
        forward_reward_weight: Any = 1.25,
        ctrl_cost_weight: Any = 0.1,
        contact_cost_weight: Any = 5e-07,
        contact_cost_range: Any = ...,
        healthy_reward: Any = 5.0,
        terminate_when_unhealthy: Any = True,
        healthy_z_range: Any = ...,
        reset_noise_scale: Any = 0.01,
        exclude_current_positions_from_observation: Any = True,
        include_cinert_in_observation: Any = True,
        include_cvel_in_observation: Any = True,
        include_qfrc_actuator_in_observation: Any = True,
        include_cfrc_ext_in_observation: Any = True,
        **common: Any,
    ) -> EnvSpec: ...

class HumanoidStandup(_Standup):
    @staticmethod
    def describe(
        xml_file: Any = 'humanoidstandup.xml',
        frame_skip: Any = 5,
        uph_cost_weight: Any = 1.0,
        ctrl_cost_weight: Any = 0.1,
        impact_cost_weight: Any = 5e-07,
        impact_cost_range: Any = ...,
        reset_noise_scale: Any = 0.01,
        exclude_current_positions_from_observation: Any = True,
        include_cinert_in_observation: Any = True,
        include_cvel_in_observation: Any = True,
        include_qfrc_actuator_in_observation: Any = True,
        include_cfrc_ext_in_observation: Any = True,
        **common: Any,
    ) -> EnvSpec: ...

class HumanoidStandupV4(_Standup):
    @staticmethod
    def describe(
        xml_file: Any = 'humanoidstandup.xml',
        frame_skip: Any = 5,
        **common: Any,
    ) -> EnvSpec: ...

class HumanoidV4(_Humanoid):
    @staticmethod
    def describe(
        xml_file: Any = 'humanoid.xml',
        frame_skip: Any = 5,
        forward_reward_weight: Any = 1.25,
        ctrl_cost_weight: Any = 0.1,
        healthy_reward: Any = 5.0,
        terminate_when_unhealthy: Any = True,
        healthy_z_range: Any = ...,
        reset_noise_scale: Any = 0.01,
        exclude_current_positions_from_observation: Any = True,
        **common: Any,
    ) -> EnvSpec: ...

class _Humanoid(_Person): ...

class _Person(MujocoEnv): ...

class _Standup(_Person): ...
