# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco_common.mujoco_common import Simulation
from cypool.spec import EnvSpec

ARM_JOINTS: tuple[Any, ...]
ARM_TOUCH: tuple[Any, ...]
DOG_SPEEDS: dict[Any, Any]
DOG_TOUCH: tuple[Any, ...]
DOMAINS: dict[Any, Any]
FEET: tuple[Any, ...]
INERTIAL: tuple[Any, ...]
MAX_STEPS: int
PROBABILITIES: tuple[Any, ...]
QUADRUPED_SPEEDS: dict[Any, Any]
SWIMMER_JOINTS: tuple[Any, ...]

def check_task(domain: Any, task: Any) -> Any: ...
def describe_task(domain: Any, task: Any, parts: Any, common: Any, **own: Any) -> Any: ...

class Acrobot(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'swingup', **common: Any) -> EnvSpec: ...

class Arm(ControlTask):
    def __init__(self, spec: Any, env_id: Any, domain: Any, written: Any) -> None: ...

class BallInCup(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'catch', **common: Any) -> EnvSpec: ...

class Cartpole(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'swingup', **common: Any) -> EnvSpec: ...

class Cheetah(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'run', **common: Any) -> EnvSpec: ...

class ControlTask(Simulation):
    def __init__(self, spec: Any, env_id: Any, domain: Any, written: Any = ...) -> None: ...
    @staticmethod
    def describe(
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        action_dtype: str = 'float64',
        width: int = 320,
        height: int = 240,
        max_geom: int = 10000,
        **common: Any,
    ) -> EnvSpec: ...

class Dog(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'walk', **common: Any) -> EnvSpec: ...

class Finger(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'spin', **common: Any) -> EnvSpec: ...

class Fish(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'swim', **common: Any) -> EnvSpec: ...

class Hopper(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'stand', **common: Any) -> EnvSpec: ...

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
    @staticmethod
    def describe(task: str = 'walk', **common: Any) -> EnvSpec: ...

class HumanoidCMU(Humanoid):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'walk', **common: Any) -> EnvSpec: ...

class LQR(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'lqr_2_1', **common: Any) -> EnvSpec: ...

class Manipulator(Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        task: str = 'bring_ball',
        fully_observable: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class Pendulum(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'swingup', **common: Any) -> EnvSpec: ...

class PointMass(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'easy', **common: Any) -> EnvSpec: ...

class Quadruped(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'walk', **common: Any) -> EnvSpec: ...

class Reacher(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'easy', **common: Any) -> EnvSpec: ...

class Stacker(Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        task: str = 'stack_2',
        fully_observable: bool = True,
        **common: Any,
    ) -> EnvSpec: ...

class Swimmer(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'swimmer6', **common: Any) -> EnvSpec: ...

class Walker(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(task: str = 'walk', **common: Any) -> EnvSpec: ...
