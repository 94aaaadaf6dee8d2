# Swimmer: a chain of three links in a thick fluid.
from dataclasses import replace


from cypool.envs.mujoco_common.mujoco_common cimport load_model
from cypool.envs.mujoco_common.obs_writer cimport ObsWriter
from cypool.envs.common.numpy_math cimport norm

# where info has what
cdef enum:
    SWIMMER_X_POSITION
    SWIMMER_Y_POSITION
    SWIMMER_DISTANCE
    SWIMMER_X_VELOCITY
    SWIMMER_Y_VELOCITY
    SWIMMER_REWARD_FORWARD
    SWIMMER_REWARD_CTRL
    SWIMMER_FORWARD_REWARD                       # v4

SWIMMER_INFO = {**dict.fromkeys(("x_position", "y_position", "distance_from_origin", "x_velocity", "y_velocity",
                                 "reward_forward"), "float64"), "reward_ctrl": "action"}


cdef class Swimmer(MujocoEnv):
    """A chain of three links in a thick fluid, which is to swim to the right.

    Follows `gymnasium.envs.mujoco.swimmer_v5.SwimmerEnv` of Gymnasium 1.4, addition by addition.

    Observation: float64 (8,): the angles, and all velocities.
    Action: float32 (2,) in [-1, 1]: the torques.
    Reward: `forward_reward_weight` times the velocity, less `ctrl_cost_weight` times the sum of squares of the action.
    Terminated: Never.
    Info: `x_position`, `y_position`, `distance_from_origin`, `x_velocity`, `y_velocity`, `reward_forward` float64;
        `reward_ctrl` of the action's dtype.
    """
    cdef double forward_reward_weight, ctrl_cost_weight, reset_noise_scale
    cdef int skipped                     # positions at the beginning that are not observed

    @staticmethod
    def describe(xml_file="swimmer.xml", frame_skip=4, forward_reward_weight=1.0, ctrl_cost_weight=1e-4,
                 reset_noise_scale=0.1, exclude_current_positions_from_observation=True, **common):
        """Returns the spec.

        Args:
            xml_file: The robot: a path, or the name of one of Gymnasium's files.
            frame_skip: MuJoCo's steps in one of ours.
            forward_reward_weight, ctrl_cost_weight: Of the parts of the reward.
            reset_noise_scale: How much the start varies.
            exclude_current_positions_from_observation: Whether x and y are not observed.
            **common: See `MujocoEnv.describe`.
        """
        model = load_model(xml_file)
        require_positions(model, 2, "that moves in a plane")
        options = check_options(
            xml_file=xml_file, frame_skip=frame_skip, forward_reward_weight=forward_reward_weight,
            ctrl_cost_weight=ctrl_cost_weight, reset_noise_scale=reset_noise_scale,
            exclude_current_positions_from_observation=exclude_current_positions_from_observation)
        size = model.mj.nq + model.mj.nv - 2 * options["exclude_current_positions_from_observation"]
        return describe_robot(model, size, SWIMMER_INFO, options, common)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
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
    """The same chain, as `gymnasium.envs.mujoco.swimmer_v4.SwimmerEnv` has it: info calls the forward reward
    `reward_fwd` and `forward_reward`.
    """

    @staticmethod
    def describe(**options):
        """Returns the spec; the options are those of `Swimmer.describe`."""
        spec = Swimmer.describe(**options)
        info = dict(spec.info)
        forward, unstable = info.pop("reward_forward"), info.pop("unstable")
        ctrl = info.pop("reward_ctrl")
        return replace(spec, info={**info, "reward_fwd": forward, "reward_ctrl": ctrl, "forward_reward": forward,
                                   "unstable": unstable})

    cdef int step_model(self) except -1 nogil:
        Swimmer.step_model(self)
        self.info[SWIMMER_FORWARD_REWARD] = self.info[SWIMMER_REWARD_FORWARD]
        return 0
