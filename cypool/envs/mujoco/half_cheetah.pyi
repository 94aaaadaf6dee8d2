# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

class HalfCheetah(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'half_cheetah.xml',
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class HalfCheetahV4(HalfCheetah):
    @staticmethod
    def describe(**options: Any) -> EnvSpec: ...
