# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

def describe_pusher(options: Any, common: Any) -> Any: ...
def describe_reacher(options: Any, seen_dimensions: Any, common: Any) -> Any: ...

class Pusher(_Pusher):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'pusher_v5.xml',
        frame_skip: int = 5,
        reward_near_weight: float = 0.5,
        reward_dist_weight: float = 1.0,
        reward_control_weight: float = 0.1,
        **common: Any,
    ) -> EnvSpec: ...

class PusherV4(_Pusher):
    @staticmethod
    def describe(xml_file: str = 'pusher.xml', frame_skip: int = 5, **common: Any) -> EnvSpec: ...

class Reacher(_Reacher):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        xml_file: str = 'reacher.xml',
        frame_skip: int = 2,
        reward_dist_weight: float = 1.0,
        reward_control_weight: float = 1.0,
        **common: Any,
    ) -> EnvSpec: ...

class ReacherV4(_Reacher):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(xml_file: str = 'reacher.xml', frame_skip: int = 2, **common: Any) -> EnvSpec: ...

class _Arm(MujocoEnv): ...

class _Pusher(_Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class _Reacher(_Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
