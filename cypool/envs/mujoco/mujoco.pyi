# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco_common.mujoco_common import Simulation
from cypool.spec import EnvSpec

class Ant(_Ant):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'ant.xml',
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 0.0005,
        healthy_reward: float = 1.0,
        main_body: int = 1,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        contact_force_range: Any = ...,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ) -> EnvSpec: ...

class AntV4(_Ant):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'ant.xml',
        frame_skip: int = 5,
        ctrl_cost_weight: float = 0.5,
        use_contact_forces: bool = False,
        contact_cost_weight: float = 0.0005,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        contact_force_range: Any = ...,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
    ) -> EnvSpec: ...

class HalfCheetah(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'half_cheetah.xml',
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
    ) -> EnvSpec: ...

class HalfCheetahV4(HalfCheetah):
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'half_cheetah.xml',
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
    ) -> EnvSpec: ...

class Hopper(_Upright):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'hopper.xml',
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.001,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_state_range: Any = ...,
        healthy_z_range: Any = ...,
        healthy_angle_range: Any = ...,
        reset_noise_scale: float = 0.005,
        exclude_current_positions_from_observation: bool = True,
    ) -> EnvSpec: ...

class HopperV4(Hopper):
    def __init__(self, spec: Any, env_id: Any) -> None: ...

class Humanoid(_Humanoid):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'humanoid.xml',
        frame_skip: int = 5,
        forward_reward_weight: float = 1.25,
        ctrl_cost_weight: float = 0.1,
        contact_cost_weight: float = 5e-07,
        contact_cost_range: Any = ...,
        healthy_reward: float = 5.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        reset_noise_scale: float = 0.01,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ) -> EnvSpec: ...

class HumanoidStandup(_Standup):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'humanoidstandup.xml',
        frame_skip: int = 5,
        uph_cost_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        impact_cost_weight: float = 5e-07,
        impact_cost_range: Any = ...,
        reset_noise_scale: float = 0.01,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ) -> EnvSpec: ...

class HumanoidStandupV4(_Standup):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'humanoidstandup.xml',
        frame_skip: int = 5,
    ) -> EnvSpec: ...

class HumanoidV4(_Humanoid):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'humanoid.xml',
        frame_skip: int = 5,
        forward_reward_weight: float = 1.25,
        ctrl_cost_weight: float = 0.1,
        healthy_reward: float = 5.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        reset_noise_scale: float = 0.01,
        exclude_current_positions_from_observation: bool = True,
    ) -> EnvSpec: ...

class InvertedDoublePendulum(_DoublePendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'inverted_double_pendulum.xml',
        frame_skip: int = 5,
        healthy_reward: float = 10.0,
        reset_noise_scale: float = 0.1,
    ) -> EnvSpec: ...

class InvertedDoublePendulumV4(_DoublePendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'inverted_double_pendulum.xml',
        frame_skip: int = 5,
    ) -> EnvSpec: ...

class InvertedPendulum(_InvertedPendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'inverted_pendulum.xml',
        frame_skip: int = 2,
        reset_noise_scale: float = 0.01,
    ) -> EnvSpec: ...

class InvertedPendulumV4(_InvertedPendulum):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'inverted_pendulum.xml',
        frame_skip: int = 2,
    ) -> EnvSpec: ...

class MujocoEnv(Simulation):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
    ) -> EnvSpec: ...

class Pusher(_Pusher):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'pusher_v5.xml',
        frame_skip: int = 5,
        reward_near_weight: float = 0.5,
        reward_dist_weight: float = 1.0,
        reward_control_weight: float = 0.1,
    ) -> EnvSpec: ...

class PusherV4(_Pusher):
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'pusher.xml',
        frame_skip: int = 5,
    ) -> EnvSpec: ...

class Reacher(_Reacher):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'reacher.xml',
        frame_skip: int = 2,
        reward_dist_weight: float = 1.0,
        reward_control_weight: float = 1.0,
    ) -> EnvSpec: ...

class ReacherV4(_Reacher):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'reacher.xml',
        frame_skip: int = 2,
    ) -> EnvSpec: ...

class Swimmer(MujocoEnv):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'swimmer.xml',
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.0001,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
    ) -> EnvSpec: ...

class SwimmerV4(Swimmer):
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'swimmer.xml',
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.0001,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
    ) -> EnvSpec: ...

class Walker2d(_Upright):
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'walker2d_v5.xml',
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.001,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        healthy_angle_range: Any = ...,
        reset_noise_scale: float = 0.005,
        exclude_current_positions_from_observation: bool = True,
    ) -> EnvSpec: ...

class Walker2dV4(Walker2d):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        obs_dtype: str = 'float64',
        action_dtype: str = 'float32',
        frame_stack: int = 1,
        randomize: Any = None,
        from_pixels: bool = False,
        width: int = 480,
        height: int = 480,
        camera_id: Any = None,
        camera_name: Any = None,
        max_geom: int = 1000,
        visual_options: Any = None,
        shadows: bool = True,
        default_camera_config: Any = None,
        xml_file: str = 'walker2d.xml',
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.001,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Any = ...,
        healthy_angle_range: Any = ...,
        reset_noise_scale: float = 0.005,
        exclude_current_positions_from_observation: bool = True,
    ) -> EnvSpec: ...

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
