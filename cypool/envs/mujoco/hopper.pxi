# Hopper and Walker2d: one leg, and two, in the plane.
from cypool.envs.mujoco import specs

from libc.stdint cimport int64_t

from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport NO_OUTPUTS
from cypool.envs.shared.numerics.numpy_math cimport clip

# indices of info
cdef enum:
    UPRIGHT_X_POSITION
    UPRIGHT_Z_DISTANCE
    UPRIGHT_X_VELOCITY
    UPRIGHT_REWARD_FORWARD
    UPRIGHT_REWARD_CTRL
    UPRIGHT_REWARD_SURVIVE


cdef class _Upright(MujocoEnv):
    """A robot that has to stay upright while it runs. A subclass defines the healthy states."""
    cdef double forward_reward_weight, ctrl_cost_weight, healthy_reward, reset_noise_scale
    cdef double least_z, most_z, least_angle, most_angle
    cdef bint terminate_when_unhealthy
    cdef bint rewards_the_end            # v4: health is rewarded also when it is lost, if that ends the episode
    cdef int skipped                     # positions at the beginning that are not observed

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reads = NO_OUTPUTS
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


cdef class Hopper(_Upright):
    """A one-legged robot hops to the right without falling.

    Follows `gymnasium.envs.mujoco.hopper_v5.HopperEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (11,): positions without x; velocities clipped to 10.
    Action: float32 (3,) in [-1, 1]: the torques.
    Reward: For velocity and health, minus the cost of the action.
    Terminated: When the height, the angle or any other position or velocity is unhealthy.
    Info: `x_position`, `z_distance_from_origin`, `x_velocity`, `reward_forward`, `reward_survive` float64;
        `reward_ctrl` of the action's dtype.
    """
    describe = staticmethod(specs.hopper)

    cdef double least_state, most_state

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
    """The same robot as in `gymnasium.envs.mujoco.hopper_v4.HopperEnv`: the step in which the robot becomes unhealthy
    is also rewarded if it ends the episode. The info contains more than Gymnasium's, as in `Hopper`.
    """

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.rewards_the_end = True


cdef class Walker2d(_Upright):
    """A two-legged robot walks to the right without falling.

    Follows `gymnasium.envs.mujoco.walker2d_v5.Walker2dEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (17,): positions without x; velocities clipped to 10.
    Action: float32 (6,) in [-1, 1]: the torques.
    Reward: For velocity and health, minus the cost of the action.
    Terminated: When the height or the angle is unhealthy.
    Info: As in `Hopper`.
    """
    describe = staticmethod(specs.walker2d)


cdef class Walker2dV4(Walker2d):
    """The same robot as in `gymnasium.envs.mujoco.walker2d_v4.Walker2dEnv`: one foot has less friction than the other,
    and the step in which the robot becomes unhealthy is also rewarded if it ends the episode. The info contains more
    than Gymnasium's.
    """
    describe = staticmethod(specs.walker2d_v4)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.rewards_the_end = True
