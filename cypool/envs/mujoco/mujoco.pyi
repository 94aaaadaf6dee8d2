# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.envs.mujoco_common.mujoco_common import Simulation
from cypool.spec import EnvSpec

class Ant(_Ant):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class AntV4(_Ant):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class HalfCheetah(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class HalfCheetahV4(HalfCheetah):
    describe: Callable[..., EnvSpec]

class Hopper(_Upright):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class HopperV4(Hopper):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class Humanoid(_Humanoid):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class HumanoidStandup(_Standup):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class HumanoidStandupV4(_Standup):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class HumanoidV4(_Humanoid):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class InvertedDoublePendulum(_DoublePendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class InvertedDoublePendulumV4(_DoublePendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class InvertedPendulum(_InvertedPendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class InvertedPendulumV4(_InvertedPendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class MujocoEnv(Simulation):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Pusher(_Pusher):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class PusherV4(_Pusher):
    describe: Callable[..., EnvSpec]

class Reacher(_Reacher):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class ReacherV4(_Reacher):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Swimmer(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class SwimmerV4(Swimmer):
    describe: Callable[..., EnvSpec]

class Walker2d(_Upright):
    describe: Callable[..., EnvSpec]

class Walker2dV4(Walker2d):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class _Ant(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class _Arm(MujocoEnv): ...

class _DoublePendulum(MujocoEnv): ...

class _Humanoid(_Person):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class _InvertedPendulum(MujocoEnv): ...

class _Person(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class _Pusher(_Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class _Reacher(_Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class _Standup(_Person):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class _Upright(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
