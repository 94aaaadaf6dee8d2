# InvertedPendulum and InvertedDoublePendulum: poles on a cart that is pushed.
from cypool.envs.mujoco import specs

from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t

from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport NO_OUTPUTS, QFRC_CONSTRAINT, SITE_XPOS
from cypool.envs.shared.numerics.numpy_math cimport clip, cos, sin, square


cdef class _InvertedPendulum(MujocoEnv):
    """The common part of both versions."""
    cdef double reset_noise_scale

    cdef int reset_model(self) except -1 nogil:
        self.add_uniform(self.reset_noise_scale, self.init_qpos.data(), self.data.qpos, self.model.nq)
        self.add_uniform(self.reset_noise_scale, self.init_qvel.data(), self.data.qvel, self.model.nv)
        return 0

    cdef int step_model(self) except -1 nogil:
        cdef bint finite = True
        cdef int64_t k
        self.simulate()
        for k in range(self.model.nq):
            finite &= isfinite(self.data.qpos[k])
        for k in range(self.model.nv):
            finite &= isfinite(self.data.qvel[k])
        self.terminated = not finite or fabs(self.data.qpos[1]) > 0.2
        self.reward = 0 if self.terminated else 1
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.qpos, self.model.nq)
        obs.put(self.data.qvel, self.model.nv)
        return 0


cdef class InvertedPendulum(_InvertedPendulum):
    """Keep a pole upright on a cart.

    Follows `gymnasium.envs.mujoco.inverted_pendulum_v5.InvertedPendulumEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (4,): position of the cart, angle of the pole, and their velocities.
    Action: float32 (1,) in [-3, 3]: the force.
    Reward: 1 per step, 0 on termination.
    Terminated: When the pole's angle exceeds 0.2, or an observed number is not finite.
    Info: `reward_survive` int64.
    """
    describe = staticmethod(specs.inverted_pendulum)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reads = NO_OUTPUTS
        self.reset_noise_scale = spec.options["reset_noise_scale"]

    cdef int step_model(self) except -1 nogil:
        _InvertedPendulum.step_model(self)
        self.info[0] = self.reward
        return 0


cdef class InvertedPendulumV4(_InvertedPendulum):
    """The same pole as in `gymnasium.envs.mujoco.inverted_pendulum_v4.InvertedPendulumEnv`: the terminating step is
    also rewarded, and the info is empty.
    """
    describe = staticmethod(specs.inverted_pendulum_v4)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reads = NO_OUTPUTS
        self.reset_noise_scale = 0.01

    cdef int step_model(self) except -1 nogil:
        _InvertedPendulum.step_model(self)
        self.reward = 1
        return 0


# indices of the double pendulum's info
cdef enum:
    PENDULUM_REWARD_SURVIVE
    DISTANCE_PENALTY
    VELOCITY_PENALTY


cdef class _DoublePendulum(MujocoEnv):
    """The common part of both versions."""
    cdef double healthy_reward, reset_noise_scale
    cdef bint rewards_the_end
    cdef int64_t seen_forces             # of how many degrees of freedom constraint forces are observed

    cdef int reset_model(self) except -1 nogil:
        self.add_uniform(self.reset_noise_scale, self.init_qpos.data(), self.data.qpos, self.model.nq)
        self.add_normal(self.reset_noise_scale, self.init_qvel.data(), self.data.qvel, self.model.nv)
        return 0

    cdef int step_model(self) except -1 nogil:
        cdef double x, y, distance, velocity, survive
        self.simulate()
        x, y = self.data.site_xpos[0], self.data.site_xpos[2]
        distance = 0.01 * square(x) + square(y - 2)
        velocity = 1e-3 * square(self.data.qvel[1]) + 5e-3 * square(self.data.qvel[2])
        self.terminated = y <= 1
        survive = self.healthy_reward if self.rewards_the_end or not self.terminated else 0 * self.healthy_reward
        self.reward = survive - distance - velocity
        self.info[PENDULUM_REWARD_SURVIVE] = survive
        self.info[DISTANCE_PENALTY] = -distance
        self.info[VELOCITY_PENALTY] = -velocity
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef int64_t k
        obs.put(self.data.qpos[0])
        for k in range(1, self.model.nq):
            obs.put(sin(self.data.qpos[k]))
        for k in range(1, self.model.nq):
            obs.put(cos(self.data.qpos[k]))
        for k in range(self.model.nv):
            obs.put(clip(self.data.qvel[k], -10, 10))
        for k in range(self.seen_forces):
            obs.put(clip(self.data.qfrc_constraint[k], -10, 10))
        return 0


cdef class InvertedDoublePendulum(_DoublePendulum):
    """Balance two poles, one on top of the other, on a cart.

    Follows `gymnasium.envs.mujoco.inverted_double_pendulum_v5.InvertedDoublePendulumEnv` of Gymnasium 1.4, operation by
    operation.

    Observation: float64 (9,): position of the cart; sines of the angles, then cosines; velocities, and the constraint
        force on the cart, clipped to 10.
    Action: float32 (1,) in [-1, 1]: the force.
    Reward: For health, minus the squared distance of the tip from its upright position and the squared angular
        velocities.
    Terminated: When the tip is not higher than 1.
    Info: `reward_survive`, `distance_penalty`, `velocity_penalty` float64.
    """
    describe = staticmethod(specs.inverted_double_pendulum)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reads = 1 << SITE_XPOS | 1 << QFRC_CONSTRAINT
        self.healthy_reward = spec.options["healthy_reward"]
        self.reset_noise_scale = spec.options["reset_noise_scale"]
        self.seen_forces = 1


cdef class InvertedDoublePendulumV4(_DoublePendulum):
    """The same poles as in `gymnasium.envs.mujoco.inverted_double_pendulum_v4.InvertedDoublePendulumEnv`: observations
    are float64 (11,), with constraint forces of all joints, and the terminating step is also rewarded. Gymnasium's info
    is empty.
    """
    describe = staticmethod(specs.inverted_double_pendulum_v4)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reads = 1 << SITE_XPOS | 1 << QFRC_CONSTRAINT
        self.healthy_reward, self.reset_noise_scale = 10, 0.1
        self.rewards_the_end = True
        self.seen_forces = self.model.nv
