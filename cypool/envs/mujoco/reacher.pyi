# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco.mujoco_env import MujocoEnv
from cypool.spec import EnvSpec

def describe_pusher(options: Any, common: Any) -> Any: ...
def describe_reacher(options: Any, seen_dimensions: Any, common: Any) -> Any: ...

class Pusher(_Pusher):
    @staticmethod
    def describe(
        xml_file: Any = 'pusher_v5.xml',
        frame_skip: Any = 5,
        reward_near_weight: Any = 0.5,
        reward_dist_weight: Any = 1.0,
        reward_control_weight: Any = 0.1,
        **common: Any,
    ) -> EnvSpec: ...

class PusherV4(_Pusher):
    @staticmethod
    def describe(xml_file: Any = 'pusher.xml', frame_skip: Any = 5, **common: Any) -> EnvSpec: ...

class Reacher(_Reacher):
    @staticmethod
    def describe(
        xml_file: Any = 'reacher.xml',
        frame_skip: Any = 2,
        reward_dist_weight: Any = 1.0,
        reward_control_weight: Any = 1.0,
        **common: Any,
    ) -> EnvSpec: ...

class ReacherV4(_Reacher):
    @staticmethod
    def describe(xml_file: Any = 'reacher.xml', frame_skip: Any = 2, **common: Any) -> EnvSpec: ...

class _Arm(MujocoEnv): ...

class _Pusher(_Arm): ...

class _Reacher(_Arm): ...
