# HalfCheetah: the robot to read first.
from cypool.envs.mujoco import specs

from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport NO_OUTPUTS

# indices of info
cdef enum:
    CHEETAH_X_POSITION
    CHEETAH_X_VELOCITY
    CHEETAH_REWARD_FORWARD
    CHEETAH_REWARD_CTRL


cdef class HalfCheetah(MujocoEnv):
    """A two-legged cheetah runs to the right in the plane.

    Follows `gymnasium.envs.mujoco.half_cheetah_v5.HalfCheetahEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (17,): positions without x, and velocities.
    Action: float32 (6,) in [-1, 1]: the torques.
    Reward: `forward_reward_weight` times the velocity, minus `ctrl_cost_weight` times the sum of squares of the action.
    Terminated: Never.
    Info: `x_position`, `x_velocity`, `reward_forward` float64; `reward_ctrl` of the action's dtype.
    """
    describe = staticmethod(specs.half_cheetah)

    cdef double forward_reward_weight, ctrl_cost_weight, reset_noise_scale
    cdef int skipped                     # positions at the beginning that are not observed

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reads = NO_OUTPUTS
        options = spec.options
        self.forward_reward_weight = options["forward_reward_weight"]
        self.ctrl_cost_weight = options["ctrl_cost_weight"]
        self.reset_noise_scale = options["reset_noise_scale"]
        self.skipped = options["exclude_current_positions_from_observation"]

    cdef int reset_model(self) except -1 nogil:
        self.add_uniform(self.reset_noise_scale, self.init_qpos.data(), self.data.qpos, self.model.nq)
        self.add_normal(self.reset_noise_scale, self.init_qvel.data(), self.data.qvel, self.model.nv)
        return 0

    cdef int reset_info(self) except -1 nogil:
        self.info[CHEETAH_X_POSITION] = self.data.qpos[0]
        return 0

    cdef int step_model(self) except -1 nogil:
        cdef double before = self.data.qpos[0], velocity, forward, cost
        self.simulate()
        velocity = (self.data.qpos[0] - before) / self.dt
        forward = self.forward_reward_weight * velocity
        cost = self.control_cost(self.ctrl_cost_weight)
        self.reward = forward - cost
        self.info[CHEETAH_X_POSITION] = self.data.qpos[0]
        self.info[CHEETAH_X_VELOCITY] = velocity
        self.info[CHEETAH_REWARD_FORWARD] = forward
        self.info[CHEETAH_REWARD_CTRL] = -cost
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.qpos + self.skipped, self.model.nq - self.skipped)
        obs.put(self.data.qvel, self.model.nv)
        return 0


cdef class HalfCheetahV4(HalfCheetah):
    """The same cheetah as in `gymnasium.envs.mujoco.half_cheetah_v4.HalfCheetahEnv`: `reward_forward` is called
    `reward_run`.
    """
    describe = staticmethod(specs.half_cheetah_v4)
