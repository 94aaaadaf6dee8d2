# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

INFO: dict

def describe_double(options: Any, seen_forces: Any, common: Any, camera: Any = None) -> Any: ...

class InvertedDoublePendulum(_DoublePendulum):
    @staticmethod
    def describe(
        xml_file: Any = 'inverted_double_pendulum.xml',
        frame_skip: Any = 5,
        healthy_reward: Any = 10.0,
        reset_noise_scale: Any = 0.1,
        **common: Any,
    ) -> EnvSpec: ...

class InvertedDoublePendulumV4(_DoublePendulum):
    @staticmethod
    def describe(
        xml_file: Any = 'inverted_double_pendulum.xml',
        frame_skip: Any = 5,
        **common: Any,
    ) -> EnvSpec: ...

class InvertedPendulum(_InvertedPendulum):
    @staticmethod
    def describe(
        xml_file: Any = 'inverted_pendulum.xml',
        frame_skip: Any = 2,
        reset_noise_scale: Any = 0.01,
        **common: Any,
    ) -> EnvSpec: ...

class InvertedPendulumV4(_InvertedPendulum):
    @staticmethod
    def describe(
        xml_file: Any = 'inverted_pendulum.xml',
        frame_skip: Any = 2,
        **common: Any,
    ) -> EnvSpec: ...

class _DoublePendulum(MujocoEnv): ...

class _InvertedPendulum(MujocoEnv): ...
