# by .ci/stubs: not to be edited
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
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'swingup',
    ) -> EnvSpec: ...

class Arm(ControlTask):
    def __init__(self, spec: Any, env_id: Any, domain: Any, written: Any) -> None: ...

class BallInCup(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'catch',
    ) -> EnvSpec: ...

class Cartpole(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'swingup',
    ) -> EnvSpec: ...

class Cheetah(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'run',
    ) -> EnvSpec: ...

class ControlTask(Simulation):
    def __init__(self, spec: Any, env_id: Any, domain: Any, written: Any = ...) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
    ) -> EnvSpec: ...

class Dog(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'walk',
    ) -> EnvSpec: ...

class Finger(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'spin',
    ) -> EnvSpec: ...

class Fish(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'swim',
    ) -> EnvSpec: ...

class Hopper(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'stand',
    ) -> EnvSpec: ...

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
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'walk',
    ) -> EnvSpec: ...

class HumanoidCMU(Humanoid):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'walk',
    ) -> EnvSpec: ...

class LQR(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'lqr_2_1',
    ) -> EnvSpec: ...

class Manipulator(Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'bring_ball',
        fully_observable: bool = True,
    ) -> EnvSpec: ...

class Pendulum(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'swingup',
    ) -> EnvSpec: ...

class PointMass(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'easy',
    ) -> EnvSpec: ...

class Quadruped(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'walk',
    ) -> EnvSpec: ...

class Reacher(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'easy',
    ) -> EnvSpec: ...

class Stacker(Arm):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'stack_2',
        fully_observable: bool = True,
    ) -> EnvSpec: ...

class Swimmer(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'swimmer6',
    ) -> EnvSpec: ...

class Walker(ControlTask):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float64',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 320,
        height: int = 240,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 10000,
        visual_options: Any = None,
        shadows: bool = True,
        time_limit: Any = None,
        control_timestep: Any = None,
        n_sub_steps: Any = None,
        legacy_step: bool = True,
        action_repeat: int = 1,
        flat_observation: bool = False,
        pixels_only: bool = True,
        task: str = 'walk',
    ) -> EnvSpec: ...
