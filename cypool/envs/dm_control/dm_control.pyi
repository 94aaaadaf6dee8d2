# by .ci/stubs: not to be edited
from collections.abc import Callable
from typing import Any

from cypool.envs.mujoco_common.mujoco_common import Simulation
from cypool.spec import EnvSpec

ARM_JOINTS: tuple[Any, ...]
ARM_TOUCH: tuple[Any, ...]
DOG_SPEEDS: dict[Any, Any]
DOG_TOUCH: tuple[Any, ...]
FEET: tuple[Any, ...]
INERTIAL: tuple[Any, ...]
PROBABILITIES: tuple[Any, ...]
QUADRUPED_SPEEDS: dict[Any, Any]
SWIMMER_JOINTS: tuple[Any, ...]

class Acrobot(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Arm(ControlTask):
    def __init__(self, spec: Any, env_id: Any, domain: Any, written: Any) -> None: ...

class BallInCup(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Cartpole(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Cheetah(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class ControlTask(Simulation):
    def __init__(self, spec: Any, env_id: Any, domain: Any, written: Any = ...) -> None: ...
    describe: Callable[..., EnvSpec]

class Dog(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Finger(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Fish(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Hopper(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Humanoid(ControlTask):
    def __init__(
        self,
        spec: Any,
        env_id: Any,
        domain: Any = ...,
        torso: Any = ...,
        upright: Any = ...,
        limbs: Any = ...,
    ) -> None: ...
    describe: Callable[..., EnvSpec]

class HumanoidCMU(Humanoid):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class LQR(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Manipulator(Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Pendulum(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class PointMass(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Quadruped(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Reacher(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Stacker(Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Swimmer(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]

class Walker(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    describe: Callable[..., EnvSpec]
