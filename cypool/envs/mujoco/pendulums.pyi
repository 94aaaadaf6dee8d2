# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

INFO: dict[Any, Any]

def describe_double(options: Any, seen_forces: Any, common: Any, camera: Any = None) -> Any: ...

class InvertedDoublePendulum(_DoublePendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'inverted_double_pendulum.xml',
        frame_skip: int = 5,
        healthy_reward: float = 10.0,
        reset_noise_scale: float = 0.1,
        **common: Any,
    ) -> EnvSpec: ...

class InvertedDoublePendulumV4(_DoublePendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'inverted_double_pendulum.xml',
        frame_skip: int = 5,
        **common: Any,
    ) -> EnvSpec: ...

class InvertedPendulum(_InvertedPendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'inverted_pendulum.xml',
        frame_skip: int = 2,
        reset_noise_scale: float = 0.01,
        **common: Any,
    ) -> EnvSpec: ...

class InvertedPendulumV4(_InvertedPendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'inverted_pendulum.xml',
        frame_skip: int = 2,
        **common: Any,
    ) -> EnvSpec: ...

class _DoublePendulum(MujocoEnv): ...

class _InvertedPendulum(MujocoEnv): ...
