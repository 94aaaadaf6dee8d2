"""A robot of a stranger's: its own XML, its own rules, on cypool's base class for MuJoCo."""
import os

from cypool.envs.mujoco.specs import describe_robot, describes_robot
from cypool.options import number

from cypool.env cimport import_cypool
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.mujoco.mujoco cimport MujocoEnv
from cypool.envs.shared.mujoco.mujoco_common cimport Model

import_cypool()

XML = os.path.join(os.path.dirname(os.path.abspath(__file__)), "robot.xml")


@describes_robot(XML, 10, goal=number(0.9, -10, 10, "How high the tip is when an episode ends."))
def describe(model, options):
    return describe_robot(model, model.nq + model.nv, {"height": "float64"}, options)


def set_gravity(Model model, double z):
    """Changes a model that others hold, which nothing in cypool does."""
    model.mj.opt.gravity[2] = z


def set_control_limit(Model model, double limit):
    """Changes the range of all controls of such a model."""
    for k in range(model.mj.nu):
        model.mj.actuator_ctrlrange[2 * k], model.mj.actuator_ctrlrange[2 * k + 1] = -limit, limit


cdef class Robot(MujocoEnv):
    """A finger that is to reach up.

    Observation: float64 (4,): angles and their velocities.
    Action: float32 (2,) in [-1, 1]: the torques.
    Reward: The height of the tip, less the cost of the action.
    Terminated: The tip is above `goal`.
    Info: `height` float64.
    """
    describe = staticmethod(describe)
    read_fields = ("xpos",)

    cdef double goal
    cdef int tip

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.goal = spec.options["goal"]
        self.tip = self.loaded.body("tip")

    cdef int reset_model(self) except -1 nogil:
        self.add_uniform(0.1, self.init_qpos.data(), self.data.qpos, self.model.nq)
        self.add_normal(0.01, self.init_qvel.data(), self.data.qvel, self.model.nv)
        return 0

    cdef int step_model(self) except -1 nogil:
        cdef double height
        self.simulate()
        height = self.data.xpos[3 * self.tip + 2]
        self.reward = height - self.control_cost(0.01)
        self.terminated = height > self.goal
        self.info[0] = height
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.qpos, self.model.nq)
        obs.put(self.data.qvel, self.model.nv)
        return 0
