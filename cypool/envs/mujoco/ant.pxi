# Ant: four legs around a ball.
from cypool.envs.mujoco import specs

from libc.math cimport isfinite
from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport CFRC_EXT, XPOS
from cypool.envs.shared.numerics.numpy_math cimport clip, norm, sum_of_squares

# indices of info
cdef enum:
    ANT_X_POSITION
    ANT_Y_POSITION
    ANT_DISTANCE
    ANT_X_VELOCITY
    ANT_Y_VELOCITY
    ANT_REWARD_FORWARD
    ANT_REWARD_CTRL
    ANT_REWARD_SURVIVE
    ANT_REWARD_CONTACT                       # v5
    ANT_FORWARD_REWARD = ANT_REWARD_CONTACT      # v4


cdef class _Ant(MujocoEnv):
    """The common part of both versions."""
    cdef double ctrl_cost_weight, contact_cost_weight, healthy_reward, reset_noise_scale
    cdef double least_z, most_z, least_force, most_force
    cdef bint terminate_when_unhealthy
    cdef int main_body
    cdef int skipped                     # positions at the beginning that are not observed
    cdef int first_force                 # the first body whose contact forces are observed; -1: none are
    cdef vector[double] forces           # on all bodies, clipped

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reads = 1 << XPOS | 1 << CFRC_EXT
        options = spec.options
        self.contact_forces = True
        self.ctrl_cost_weight = options["ctrl_cost_weight"]
        self.contact_cost_weight = options["contact_cost_weight"]
        self.healthy_reward = options["healthy_reward"]
        self.terminate_when_unhealthy = options["terminate_when_unhealthy"]
        self.least_z, self.most_z = options["healthy_z_range"]
        self.least_force, self.most_force = options["contact_force_range"]
        self.reset_noise_scale = options["reset_noise_scale"]
        self.skipped = 2 if options["exclude_current_positions_from_observation"] else 0
        self.forces.resize(6 * self.model.nbody)

    cdef int reset_model(self) except -1 nogil:
        self.add_uniform(self.reset_noise_scale, self.init_qpos.data(), self.data.qpos, self.model.nq)
        self.add_normal(self.reset_noise_scale, self.init_qvel.data(), self.data.qvel, self.model.nv)
        return 0

    cdef int reset_info(self) except -1 nogil:
        self.clip_forces()
        return 0

    cdef int simulate_with_velocity(self) except -1 nogil:
        """Applies the action; info contains the velocity."""
        cdef const double* position = self.data.xpos + 3 * self.main_body
        cdef double x = position[0], y = position[1]
        self.simulate()
        self.clip_forces()
        self.info[ANT_X_VELOCITY] = (position[0] - x) / self.dt
        self.info[ANT_Y_VELOCITY] = (position[1] - y) / self.dt
        return 0

    cdef void write_position(self, const double* position) noexcept nogil:
        self.info[ANT_X_POSITION] = position[0]
        self.info[ANT_Y_POSITION] = position[1]
        self.info[ANT_DISTANCE] = norm(position, 2)

    cdef bint is_healthy(self) noexcept nogil:
        cdef bint finite = True
        cdef int64_t k
        for k in range(self.model.nq):
            finite &= isfinite(self.data.qpos[k])
        for k in range(self.model.nv):
            finite &= isfinite(self.data.qvel[k])
        return finite and self.least_z <= self.data.qpos[2] <= self.most_z

    cdef double contact_cost(self) noexcept nogil:
        return self.contact_cost_weight * sum_of_squares(self.forces.data(), self.forces.size())

    cdef void clip_forces(self) noexcept nogil:
        cdef size_t k
        for k in range(self.forces.size()):
            self.forces[k] = clip(self.data.cfrc_ext[k], self.least_force, self.most_force)

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef int first = 6 * self.first_force
        obs.put(self.data.qpos + self.skipped, self.model.nq - self.skipped)
        obs.put(self.data.qvel, self.model.nv)
        if first >= 0:
            obs.put(self.forces.data() + first, self.forces.size() - first)
        return 0


cdef class Ant(_Ant):
    """A four-legged robot walks to the right.

    Follows `gymnasium.envs.mujoco.ant_v5.AntEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (105,): positions of torso and joints, without x and y; velocities; clipped contact forces on
        each body except the world.
    Action: float32 (8,) in [-1, 1]: the torques.
    Reward: For velocity and health, minus the costs of the action and of contact forces.
    Terminated: When the torso is too high or too low, or a position or velocity is not finite.
    Info: `x_position`, `y_position`, `distance_from_origin`, `x_velocity`, `y_velocity` and the parts of the reward,
        `reward_forward`, `reward_ctrl` (of the action's dtype), `reward_survive`, `reward_contact`: float64.
    """
    describe = staticmethod(specs.ant)

    cdef double forward_reward_weight

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.forward_reward_weight = spec.options["forward_reward_weight"]
        self.main_body = self.loaded.body(spec.options["main_body"])
        self.first_force = 1 if spec.options["include_cfrc_ext_in_observation"] else -1

    cdef int reset_info(self) except -1 nogil:
        self.clip_forces()
        self.write_position(self.data.qpos)
        return 0

    cdef int step_model(self) except -1 nogil:
        self.simulate_with_velocity()
        cdef double forward = self.info[ANT_X_VELOCITY] * self.forward_reward_weight
        cdef bint healthy = self.is_healthy()
        cdef double survive = healthy * self.healthy_reward
        cdef double ctrl_cost = self.control_cost(self.ctrl_cost_weight), contact_cost = self.contact_cost()
        self.reward = (forward + survive) - (ctrl_cost + contact_cost)
        self.terminated = not healthy and self.terminate_when_unhealthy
        self.write_position(self.data.qpos)
        self.info[ANT_REWARD_FORWARD] = forward
        self.info[ANT_REWARD_CTRL] = -ctrl_cost
        self.info[ANT_REWARD_SURVIVE] = survive
        self.info[ANT_REWARD_CONTACT] = -contact_cost
        return 0


cdef class AntV4(_Ant):
    """The earlier version of the ant.

    Follows `gymnasium.envs.mujoco.ant_v4.AntEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (27,), as in `Ant` without contact forces; with `use_contact_forces`, (111,), including the
        contact forces on all bodies.
    Action, Terminated: As in `Ant`.
    Reward: As in `Ant`, but contact forces only have a cost with `use_contact_forces`, and the step in which the
        robot becomes unhealthy is also rewarded if it ends the episode.
    Info: As in `Ant`, without `reward_contact`, but with `forward_reward`. With `use_contact_forces`, `reward_ctrl` is
        the cost of contacts.
    """
    describe = staticmethod(specs.ant_v4)

    cdef bint use_contact_forces

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.main_body = self.loaded.body("torso")
        self.use_contact_forces = spec.options["use_contact_forces"]
        self.first_force = 0 if self.use_contact_forces else -1

    cdef int step_model(self) except -1 nogil:
        self.simulate_with_velocity()
        cdef double forward = self.info[ANT_X_VELOCITY]
        cdef bint healthy = self.is_healthy()
        cdef double survive = (healthy or self.terminate_when_unhealthy) * self.healthy_reward
        cdef double cost = self.control_cost(self.ctrl_cost_weight)
        self.info[ANT_REWARD_CTRL] = -cost
        if self.use_contact_forces:
            cost += self.contact_cost()
            self.info[ANT_REWARD_CTRL] = -self.contact_cost()
        self.reward = (forward + survive) - cost
        self.terminated = not healthy and self.terminate_when_unhealthy
        self.write_position(self.data.xpos + 3 * self.main_body)
        self.info[ANT_REWARD_FORWARD] = self.info[ANT_FORWARD_REWARD] = forward
        self.info[ANT_REWARD_SURVIVE] = survive
        return 0
