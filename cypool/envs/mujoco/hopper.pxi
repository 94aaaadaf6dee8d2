# Hopper and Walker2d: one leg, and two, in the plane.

from libc.stdint cimport int64_t

from cypool.envs.mujoco_common.mujoco_common cimport load_model
from cypool.envs.mujoco_common.obs_writer cimport ObsWriter
from cypool.envs.common.numpy_math cimport clip

# where info has what
cdef enum:
    UPRIGHT_X_POSITION
    UPRIGHT_Z_DISTANCE
    UPRIGHT_X_VELOCITY
    UPRIGHT_REWARD_FORWARD
    UPRIGHT_REWARD_CTRL
    UPRIGHT_REWARD_SURVIVE

UPRIGHT_INFO = {"x_position": "float64", "z_distance_from_origin": "float64", "x_velocity": "float64",
                "reward_forward": "float64", "reward_ctrl": "action", "reward_survive": "float64"}


cdef class _Upright(MujocoEnv):
    """A robot that has to stay upright while it runs. A subclass defines what is healthy."""
    cdef double forward_reward_weight, ctrl_cost_weight, healthy_reward, reset_noise_scale
    cdef double least_z, most_z, least_angle, most_angle
    cdef bint terminate_when_unhealthy
    cdef bint rewards_the_end            # v4: health is rewarded also when it is lost, if that ends the episode
    cdef int skipped                     # positions at the beginning that are not observed

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        options = spec.options
        self.forward_reward_weight = options["forward_reward_weight"]
        self.ctrl_cost_weight = options["ctrl_cost_weight"]
        self.healthy_reward = options["healthy_reward"]
        self.terminate_when_unhealthy = options["terminate_when_unhealthy"]
        self.least_z, self.most_z = options["healthy_z_range"]
        self.least_angle, self.most_angle = options["healthy_angle_range"]
        self.reset_noise_scale = options["reset_noise_scale"]
        self.skipped = options["exclude_current_positions_from_observation"]

    cdef bint is_healthy(self) noexcept nogil:
        return (self.least_z < self.data.qpos[1] < self.most_z
                and self.least_angle < self.data.qpos[2] < self.most_angle)

    cdef int reset_model(self) except -1 nogil:
        self.add_uniform(self.reset_noise_scale, self.init_qpos.data(), self.data.qpos, self.model.nq)
        self.add_uniform(self.reset_noise_scale, self.init_qvel.data(), self.data.qvel, self.model.nv)
        return 0

    cdef int reset_info(self) except -1 nogil:
        self.info[UPRIGHT_X_POSITION] = self.data.qpos[0]
        self.info[UPRIGHT_Z_DISTANCE] = self.data.qpos[1] - self.init_qpos[1]
        return 0

    cdef int step_model(self) except -1 nogil:
        cdef double before = self.data.qpos[0], velocity, forward, survive, cost
        cdef bint healthy
        self.simulate()
        velocity = (self.data.qpos[0] - before) / self.dt
        healthy = self.is_healthy()
        forward = self.forward_reward_weight * velocity
        survive = (healthy or (self.rewards_the_end and self.terminate_when_unhealthy)) * self.healthy_reward
        cost = self.control_cost(self.ctrl_cost_weight)
        self.reward = (forward + survive) - cost
        self.terminated = not healthy and self.terminate_when_unhealthy
        self.reset_info()
        self.info[UPRIGHT_X_VELOCITY] = velocity
        self.info[UPRIGHT_REWARD_FORWARD] = forward
        self.info[UPRIGHT_REWARD_CTRL] = -cost
        self.info[UPRIGHT_REWARD_SURVIVE] = survive
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef int64_t k
        obs.put(self.data.qpos + self.skipped, self.model.nq - self.skipped)
        for k in range(self.model.nv):
            obs.put(clip(self.data.qvel[k], -10, 10))
        return 0


def describe_upright(options, common, distance):
    """Returns the spec of a robot with these options, which are not checked yet, and its camera so far away."""
    model = load_model(options["xml_file"])
    require_positions(model, 3, "with x, z and an angle")
    options = check_options(**options)
    size = model.mj.nq + model.mj.nv - options["exclude_current_positions_from_observation"]
    camera = {"distance": distance, "lookat": (0.0, 0.0, 1.15), "elevation": -20.0}
    return describe_robot(model, size, UPRIGHT_INFO, options, common, camera)


cdef class Hopper(_Upright):
    """One leg with a foot, which is to hop to the right without falling.

    Follows `gymnasium.envs.mujoco.hopper_v5.HopperEnv` of Gymnasium 1.4, addition by addition.

    Observation: float64 (11,): positions without x; velocities, clipped to 10.
    Action: float32 (3,) in [-1, 1]: the torques.
    Reward: For velocity and health, less the cost of the action.
    Terminated: Height, angle or any other position or velocity is not healthy.
    Info: `x_position`, `z_distance_from_origin`, `x_velocity`, `reward_forward`, `reward_survive` float64;
        `reward_ctrl` of the action's dtype.
    """
    cdef double least_state, most_state

    @staticmethod
    def describe(xml_file="hopper.xml", frame_skip=4, forward_reward_weight=1.0, ctrl_cost_weight=1e-3,
                 healthy_reward=1.0, terminate_when_unhealthy=True, healthy_state_range=(-100.0, 100.0),
                 healthy_z_range=(0.7, float("inf")), healthy_angle_range=(-0.2, 0.2), reset_noise_scale=5e-3,
                 exclude_current_positions_from_observation=True, **common):
        """Returns the spec.

        Args:
            xml_file: The robot: a path, or the name of one of Gymnasium's files.
            frame_skip: MuJoCo's steps in one of ours.
            forward_reward_weight, ctrl_cost_weight, healthy_reward: Of the parts of the reward.
            terminate_when_unhealthy: Whether an episode ends when the robot is not healthy.
            healthy_state_range, healthy_z_range, healthy_angle_range: What positions and velocities, height and angle
                of a healthy one lie between.
            reset_noise_scale: How much the start varies.
            exclude_current_positions_from_observation: Whether x is not observed.
            **common: See `MujocoEnv.describe`.
        """
        return describe_upright(dict(
            xml_file=xml_file, frame_skip=frame_skip, forward_reward_weight=forward_reward_weight,
            ctrl_cost_weight=ctrl_cost_weight, healthy_reward=healthy_reward,
            terminate_when_unhealthy=terminate_when_unhealthy, healthy_state_range=healthy_state_range,
            healthy_z_range=healthy_z_range, healthy_angle_range=healthy_angle_range,
            reset_noise_scale=reset_noise_scale,
            exclude_current_positions_from_observation=exclude_current_positions_from_observation), common, 3.0)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.least_state, self.most_state = spec.options["healthy_state_range"]

    cdef bint is_healthy(self) noexcept nogil:
        cdef bint healthy = _Upright.is_healthy(self)
        cdef int64_t k
        for k in range(2, self.model.nq):
            healthy &= self.least_state < self.data.qpos[k] < self.most_state
        for k in range(self.model.nv):
            healthy &= self.least_state < self.data.qvel[k] < self.most_state
        return healthy


cdef class HopperV4(Hopper):
    """The same leg, as `gymnasium.envs.mujoco.hopper_v4.HopperEnv` has it: health is rewarded also when it is lost, if
    that ends the episode. Its info contains more than Gymnasium's, as in `Hopper`.
    """

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.rewards_the_end = True


cdef class Walker2d(_Upright):
    """Two legs, which are to walk to the right without falling.

    Follows `gymnasium.envs.mujoco.walker2d_v5.Walker2dEnv` of Gymnasium 1.4, addition by addition.

    Observation: float64 (17,): positions without x; velocities, clipped to 10.
    Action: float32 (6,) in [-1, 1]: the torques.
    Reward: For velocity and health, less the cost of the action.
    Terminated: Height or angle is not healthy.
    Info: As `Hopper`.
    """

    @staticmethod
    def describe(xml_file="walker2d_v5.xml", frame_skip=4, forward_reward_weight=1.0, ctrl_cost_weight=1e-3,
                 healthy_reward=1.0, terminate_when_unhealthy=True, healthy_z_range=(0.8, 2.0),
                 healthy_angle_range=(-1.0, 1.0), reset_noise_scale=5e-3,
                 exclude_current_positions_from_observation=True, **common):
        """Returns the spec; the options are those of `Hopper.describe`, but for `healthy_state_range`."""
        return describe_upright(dict(
            xml_file=xml_file, frame_skip=frame_skip, forward_reward_weight=forward_reward_weight,
            ctrl_cost_weight=ctrl_cost_weight, healthy_reward=healthy_reward,
            terminate_when_unhealthy=terminate_when_unhealthy, healthy_z_range=healthy_z_range,
            healthy_angle_range=healthy_angle_range, reset_noise_scale=reset_noise_scale,
            exclude_current_positions_from_observation=exclude_current_positions_from_observation), common, 4.0)


cdef class Walker2dV4(Walker2d):
    """The legs as `gymnasium.envs.mujoco.walker2d_v4.Walker2dEnv` has them: one foot is of less friction than the
    other, and health is rewarded also when it is lost, if that ends the episode. Its info has more than Gymnasium's.
    """

    @staticmethod
    def describe(xml_file="walker2d.xml", **options):
        """Returns the spec; the options are those of `Walker2d.describe`."""
        return Walker2d.describe(xml_file=xml_file, **options)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.rewards_the_end = True
