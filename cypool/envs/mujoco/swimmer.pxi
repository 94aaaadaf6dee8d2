# Swimmer: a chain of three links in a thick fluid.
from cypool.envs.mujoco import specs

from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.numerics.numpy_math cimport norm
from cypool.envs.shared.lanes.record cimport NO_OUTPUTS

# indices of info
cdef enum:
    SWIMMER_X_POSITION
    SWIMMER_Y_POSITION
    SWIMMER_DISTANCE
    SWIMMER_X_VELOCITY
    SWIMMER_Y_VELOCITY
    SWIMMER_REWARD_FORWARD
    SWIMMER_REWARD_CTRL
    SWIMMER_FORWARD_REWARD                       # v4


cdef class Swimmer(MujocoEnv):
    """A chain of three links swims to the right in a viscous fluid.

    Follows `gymnasium.envs.mujoco.swimmer_v5.SwimmerEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (8,): the angles, and all velocities.
    Action: float32 (2,) in [-1, 1]: the torques.
    Reward: `forward_reward_weight` times the velocity, minus `ctrl_cost_weight` times the sum of squares of the action.
    Terminated: Never.
    Info: `x_position`, `y_position`, `distance_from_origin`, `x_velocity`, `y_velocity`, `reward_forward` float64;
        `reward_ctrl` of the action's dtype.
    """
    describe = staticmethod(specs.swimmer)

    cdef double forward_reward_weight, ctrl_cost_weight, reset_noise_scale
    cdef int skipped                     # positions at the beginning that are not observed

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reads = NO_OUTPUTS
        options = spec.options
        self.forward_reward_weight = options["forward_reward_weight"]
        self.ctrl_cost_weight = options["ctrl_cost_weight"]
        self.reset_noise_scale = options["reset_noise_scale"]
        self.skipped = 2 if options["exclude_current_positions_from_observation"] else 0

    cdef int reset_model(self) except -1 nogil:
        self.add_uniform(self.reset_noise_scale, self.init_qpos.data(), self.data.qpos, self.model.nq)
        self.add_uniform(self.reset_noise_scale, self.init_qvel.data(), self.data.qvel, self.model.nv)
        return 0

    cdef int reset_info(self) except -1 nogil:
        self.info[SWIMMER_X_POSITION] = self.data.qpos[0]
        self.info[SWIMMER_Y_POSITION] = self.data.qpos[1]
        self.info[SWIMMER_DISTANCE] = norm(self.data.qpos, 2)
        return 0

    cdef int step_model(self) except -1 nogil:
        cdef double x = self.data.qpos[0], y = self.data.qpos[1], velocity, forward, cost
        self.simulate()
        velocity = (self.data.qpos[0] - x) / self.dt
        forward = self.forward_reward_weight * velocity
        cost = self.control_cost(self.ctrl_cost_weight)
        self.reward = forward - cost
        self.reset_info()
        self.info[SWIMMER_X_VELOCITY] = velocity
        self.info[SWIMMER_Y_VELOCITY] = (self.data.qpos[1] - y) / self.dt
        self.info[SWIMMER_REWARD_FORWARD] = forward
        self.info[SWIMMER_REWARD_CTRL] = -cost
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.qpos + self.skipped, self.model.nq - self.skipped)
        obs.put(self.data.qvel, self.model.nv)
        return 0


cdef class SwimmerV4(Swimmer):
    """The same chain as in `gymnasium.envs.mujoco.swimmer_v4.SwimmerEnv`: the info calls the forward reward
    `reward_fwd` and `forward_reward`.
    """
    describe = staticmethod(specs.swimmer_v4)

    cdef int step_model(self) except -1 nogil:
        Swimmer.step_model(self)
        self.info[SWIMMER_FORWARD_REWARD] = self.info[SWIMMER_REWARD_FORWARD]
        return 0
