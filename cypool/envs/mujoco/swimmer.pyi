# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

INFO: dict

class Swimmer(MujocoEnv):
    @staticmethod
    def describe(
        xml_file: Any = 'swimmer.xml',
        frame_skip: Any = 4,
        forward_reward_weight: Any = 1.0,
        ctrl_cost_weight: Any = 0.0001,
        reset_noise_scale: Any = 0.1,
        exclude_current_positions_from_observation: Any = True,
        **common: Any,
    ) -> EnvSpec: ...

class SwimmerV4(Swimmer):
    @staticmethod
    def describe(**options: Any) -> EnvSpec: ...
