# Humanoid and HumanoidStandup: a person in three dimensions.
from cypool.envs.mujoco import specs

from libc.string cimport memcpy, memset

from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport CFRC_EXT, CINERT, CVEL, QFRC_ACTUATOR, TEN_LENGTH, TEN_VELOCITY, XIPOS
from cypool.envs.shared.numerics.numpy_math cimport clip, norm, sum as numpy_sum, sum_of_squares


cdef class _Person(MujocoEnv):
    """The observation and the initial state of a humanoid."""
    cdef double ctrl_cost_weight, impact_weight, least_impact, most_impact, reset_noise_scale
    cdef int skipped                     # positions at the beginning that are not observed
    cdef int first_body                  # the first body that is observed
    cdef int first_force                 # the first degree of freedom whose actuator force is
    cdef bint sees_inertia, sees_velocity, sees_actuators, sees_forces
    cdef int tendons                     # where info has their lengths, and then their velocities

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reads = (1 << XIPOS | 1 << CINERT | 1 << CVEL | 1 << CFRC_EXT | 1 << QFRC_ACTUATOR | 1 << TEN_LENGTH
                      | 1 << TEN_VELOCITY)
        self.contact_forces = True
        self.first_body, self.first_force = 1, 6
        self.sees_inertia = self.sees_velocity = self.sees_actuators = self.sees_forces = True
        self.skipped = 2

    cdef void read_options(self, dict options):
        """Reads the version-5 options that select the parts of the observation."""
        self.skipped = 2 if options["exclude_current_positions_from_observation"] else 0
        self.sees_inertia = options["include_cinert_in_observation"]
        self.sees_velocity = options["include_cvel_in_observation"]
        self.sees_actuators = options["include_qfrc_actuator_in_observation"]
        self.sees_forces = options["include_cfrc_ext_in_observation"]

    cdef int reset_model(self) except -1 nogil:
        self.add_uniform(self.reset_noise_scale, self.init_qpos.data(), self.data.qpos, self.model.nq)
        self.add_uniform(self.reset_noise_scale, self.init_qvel.data(), self.data.qvel, self.model.nv)
        return 0

    cdef double control(self) noexcept nogil:
        # of the controls in MuJoCo, whatever the action's dtype
        return self.ctrl_cost_weight * sum_of_squares(<const double*>self.data.ctrl, self.model.nu)

    cdef double impact(self) noexcept nogil:
        cdef double cost = self.impact_weight * sum_of_squares(<const double*>self.data.cfrc_ext, 6 * self.model.nbody)
        return clip(cost, self.least_impact, self.most_impact)

    cdef void tell_tendons(self) noexcept nogil:
        cdef double* tendon_info = self.info.data() + self.tendons
        memcpy(tendon_info, self.data.ten_length, self.model.ntendon * sizeof(double))
        memcpy(tendon_info + self.model.ntendon, self.data.ten_velocity, self.model.ntendon * sizeof(double))

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef Py_ssize_t first = self.first_body, bodies = self.model.nbody - first
        obs.put(self.data.qpos + self.skipped, self.model.nq - self.skipped)
        obs.put(self.data.qvel, self.model.nv)
        if self.sees_inertia:
            obs.put(self.data.cinert + 10 * first, 10 * bodies)
        if self.sees_velocity:
            obs.put(self.data.cvel + 6 * first, 6 * bodies)
        if self.sees_actuators:
            obs.put(self.data.qfrc_actuator + self.first_force, self.model.nv - self.first_force)
        if self.sees_forces:
            obs.put(self.data.cfrc_ext + 6 * first, 6 * bodies)
        return 0


# indices of Humanoid's info
cdef enum:
    HUMANOID_X_POSITION
    HUMANOID_Y_POSITION
    HUMANOID_DISTANCE
    HUMANOID_X_VELOCITY
    HUMANOID_Y_VELOCITY
    HUMANOID_REWARD_SURVIVE
    HUMANOID_REWARD_FORWARD
    HUMANOID_REWARD_CTRL
    HUMANOID_REWARD_CONTACT                       # v5
    HUMANOID_FORWARD_REWARD = HUMANOID_REWARD_CONTACT      # v4
    TENDONS


cdef class _Humanoid(_Person):
    """The common part of both versions."""
    cdef double forward_reward_weight, healthy_reward, least_z, most_z
    cdef bint terminate_when_unhealthy
    cdef double[2] centre                # of the mass, as MuJoCo last computed it

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        options = spec.options
        self.forward_reward_weight = options["forward_reward_weight"]
        self.ctrl_cost_weight = options["ctrl_cost_weight"]
        self.healthy_reward = options["healthy_reward"]
        self.terminate_when_unhealthy = options["terminate_when_unhealthy"]
        self.least_z, self.most_z = options["healthy_z_range"]
        self.reset_noise_scale = options["reset_noise_scale"]

    cdef bint is_healthy(self) noexcept nogil:
        return self.least_z < self.data.qpos[2] < self.most_z

    cdef int simulate_with_velocity(self) except -1 nogil:
        """Applies the action; info contains the velocity."""
        cdef double x, y
        self.find_centre()
        x, y = self.centre[0], self.centre[1]
        self.simulate()
        self.find_centre()
        self.info[HUMANOID_X_VELOCITY] = (self.centre[0] - x) / self.dt
        self.info[HUMANOID_Y_VELOCITY] = (self.centre[1] - y) / self.dt
        return 0

    cdef void find_centre(self) noexcept nogil:
        cdef double mass = numpy_sum(<const double*>self.model.body_mass, self.model.nbody)
        cdef Py_ssize_t k
        memset(self.centre, 0, sizeof(self.centre))
        for k in range(self.model.nbody):
            self.centre[0] += self.model.body_mass[k] * self.data.xipos[3 * k]
            self.centre[1] += self.model.body_mass[k] * self.data.xipos[3 * k + 1]
        self.centre[0] /= mass
        self.centre[1] /= mass

    cdef void write_position(self, const double* position) noexcept nogil:
        self.info[HUMANOID_X_POSITION] = position[0]
        self.info[HUMANOID_Y_POSITION] = position[1]
        self.info[HUMANOID_DISTANCE] = norm(position, 2)


cdef class Humanoid(_Humanoid):
    """A humanoid walks to the right without falling.

    Follows `gymnasium.envs.mujoco.humanoid_v5.HumanoidEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (348,): positions without x and y, and velocities; inertia and velocity of each body except the
        world; actuator forces; contact forces on each body.
    Action: float32 (17,) in [-0.4, 0.4]: the torques.
    Reward: For the velocity of the center of mass and for health, minus the costs of the action and of contact forces.
    Terminated: When the torso is too high or too low.
    Info: `x_position`, `y_position`, `distance_from_origin`, `x_velocity`, `y_velocity`, the parts of the reward
        (`reward_survive`, `reward_forward`, `reward_ctrl`, `reward_contact`) and, with tendons, `tendon_length` and
        `tendon_velocity`: float64.
    """
    describe = staticmethod(specs.humanoid)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.read_options(spec.options)
        self.impact_weight = spec.options["contact_cost_weight"]
        self.least_impact, self.most_impact = spec.options["contact_cost_range"]
        self.tendons = TENDONS

    cdef int reset_info(self) except -1 nogil:
        self.write_position(self.data.qpos)
        self.tell_tendons()
        return 0

    cdef int step_model(self) except -1 nogil:
        self.simulate_with_velocity()
        cdef double forward = self.forward_reward_weight * self.info[HUMANOID_X_VELOCITY]
        cdef bint healthy = self.is_healthy()
        cdef double survive = healthy * self.healthy_reward
        cdef double ctrl_cost = self.control(), contact_cost = self.impact()
        self.reward = (forward + survive) - (ctrl_cost + contact_cost)
        self.terminated = not healthy and self.terminate_when_unhealthy
        self.reset_info()
        self.info[HUMANOID_REWARD_SURVIVE] = survive
        self.info[HUMANOID_REWARD_FORWARD] = forward
        self.info[HUMANOID_REWARD_CTRL] = -ctrl_cost
        self.info[HUMANOID_REWARD_CONTACT] = -contact_cost
        return 0


cdef class HumanoidV4(_Humanoid):
    """The earlier version of the humanoid.

    Follows `gymnasium.envs.mujoco.humanoid_v4.HumanoidEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (376,): as in `Humanoid`, but including the world body, and the actuator forces of all degrees
        of freedom.
    Action, Terminated: As in `Humanoid`.
    Reward: As in `Humanoid`, but contact forces have no cost, and the step in which the robot becomes unhealthy is also
        rewarded if it ends the episode.
    Info: `x_position` and `y_position` of the center of mass, `distance_from_origin`, `x_velocity`, `y_velocity`,
        `reward_alive`, `reward_linvel`, `reward_quadctrl`, `forward_reward` float64.
    """
    describe = staticmethod(specs.humanoid_v4)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.first_body = self.first_force = 0
        self.skipped = 2 if spec.options["exclude_current_positions_from_observation"] else 0

    cdef int step_model(self) except -1 nogil:
        self.simulate_with_velocity()
        cdef double forward = self.forward_reward_weight * self.info[HUMANOID_X_VELOCITY]
        cdef bint healthy = self.is_healthy()
        cdef double survive = (healthy or self.terminate_when_unhealthy) * self.healthy_reward
        cdef double ctrl_cost = self.control()
        self.reward = (forward + survive) - ctrl_cost
        self.terminated = not healthy and self.terminate_when_unhealthy
        self.write_position(self.centre)
        self.info[HUMANOID_REWARD_SURVIVE] = survive
        self.info[HUMANOID_REWARD_FORWARD] = self.info[HUMANOID_FORWARD_REWARD] = forward
        self.info[HUMANOID_REWARD_CTRL] = -ctrl_cost
        return 0


# indices of HumanoidStandup's info
cdef enum:
    STANDUP_X
    STANDUP_Y
    STANDUP_Z_DISTANCE
    STANDUP_LINUP
    STANDUP_QUADCTRL
    STANDUP_IMPACT
    STANDUP_TENDONS


cdef class _Standup(_Person):
    """The common part of both versions."""

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.tendons = STANDUP_TENDONS

    cdef int reset_info(self) except -1 nogil:
        self.info[STANDUP_X] = self.data.qpos[0]
        self.info[STANDUP_Y] = self.data.qpos[1]
        self.info[STANDUP_Z_DISTANCE] = self.data.qpos[2] - self.init_qpos[2]
        self.tell_tendons()
        return 0

    cdef int step_model(self) except -1 nogil:
        cdef double height, ctrl_cost, impact_cost
        self.simulate()
        height = self.data.qpos[2] / self.model.opt.timestep
        ctrl_cost, impact_cost = self.control(), self.impact()
        self.reward = height - ctrl_cost - impact_cost + 1
        self.reset_info()
        self.info[STANDUP_LINUP] = height
        self.info[STANDUP_QUADCTRL] = -ctrl_cost
        self.info[STANDUP_IMPACT] = -impact_cost
        return 0


cdef class HumanoidStandup(_Standup):
    """A humanoid gets up from the ground.

    Follows `gymnasium.envs.mujoco.humanoidstandup_v5.HumanoidStandupEnv` of Gymnasium 1.4, operation by operation.

    Observation, Action: As in `Humanoid`.
    Reward: The height of the torso divided by the time step, minus the costs of the action and of contact forces, plus
        1.
    Terminated: Never.
    Info: `x_position`, `y_position`, `z_distance_from_origin`, the parts of the reward (`reward_linup`,
        `reward_quadctrl`, `reward_impact`) and, with tendons, `tendon_length` and `tendon_velocity`: float64.
    """
    describe = staticmethod(specs.humanoid_standup)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        options = spec.options
        self.read_options(options)
        self.ctrl_cost_weight = options["ctrl_cost_weight"]
        self.impact_weight = options["impact_cost_weight"]
        self.least_impact, self.most_impact = options["impact_cost_range"]
        self.reset_noise_scale = options["reset_noise_scale"]


cdef class HumanoidStandupV4(_Standup):
    """The earlier version of the humanoid.

    Follows `gymnasium.envs.mujoco.humanoidstandup_v4.HumanoidStandupEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (376,), as in `HumanoidV4`. Everything else is as in `HumanoidStandup` with its defaults, but
        Gymnasium's info contains only the parts of the reward.
    """
    describe = staticmethod(specs.humanoid_standup_v4)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.first_body = self.first_force = 0
        self.ctrl_cost_weight, self.impact_weight = 0.1, 0.5e-6
        self.least_impact, self.most_impact = -float("inf"), 10
        self.reset_noise_scale = 0.01
