# People: humanoid, and humanoid_CMU with more joints.
from cypool.envs.dm_control import specs

from libc.math cimport INFINITY

from cypool.envs.shared.numerics.numpy_math cimport norm
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport SENSED_MOTION, XMAT, XPOS


cdef class Humanoid(ControlTask):
    """A humanoid stands, walks or runs.

    Follows `dm_control.suite.humanoid` 1.0.50.

    Observation: float64 `joint_angles` (21,), `head_height` (), `extremities` (12,), `torso_vertical` (3,),
        `com_velocity` (3,), `velocity` (27,); for "run_pure_state" `position` (28,), `velocity` (27,).
    Action: float64 (21,) in [-1, 1]: the torques.
    Reward: In [0, 1]: head height, an upright torso, small controls, and speed: none ("stand"), up to 1 m/s ("walk") or
        10 m/s.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("humanoid"))

    cdef bint is_pure_state
    cdef double speed                    # 0: none is wanted
    cdef int torso, upright, head, com_velocity      # `upright`: where in xmat
    cdef int[4] limbs

    def __init__(self, spec, env_id, domain="humanoid", torso="torso", upright=8,
                 limbs=("left_hand", "left_foot", "right_hand", "right_foot")):
        super().__init__(spec, env_id, domain)
        self.reads = 1 << XPOS | 1 << XMAT | 1 << SENSED_MOTION
        task = spec.options["task"]
        self.is_pure_state = task == "run_pure_state"
        self.speed = {"stand": 0, "walk": 1}.get(task, 10)
        self.torso, self.head = self.body(torso), self.body("head")
        self.upright = 9 * self.torso + upright
        self.com_velocity = self.sensor(f"{torso}_subtreelinvel")
        self.limbs = [self.body(limb) for limb in limbs]

    cdef int begin_episode(self) except -1 nogil:
        cdef int attempts = 0
        while not self.is_free(&attempts):
            self.randomize_joints()
            self.forward()
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef const double* frame = self.data.xmat + 9 * self.torso
        cdef int k
        if self.is_pure_state:
            obs.put(self.data.qpos, self.model.nq)
        else:
            obs.put(self.data.qpos + 7, self.model.nq - 7)
            obs.put(self.data.xpos[3 * self.head + 2])
            for k in range(4):
                put_seen(obs, self.data.xpos + 3 * self.limbs[k], self.data.xpos + 3 * self.torso, frame)
            obs.put(frame + 6, 3)
            obs.put(self.data.sensordata + self.com_velocity, 3)
        obs.put(self.data.qvel, self.model.nv)
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef const double* velocity = self.data.sensordata + self.com_velocity
        cdef double standing = gaussian(self.data.xpos[3 * self.head + 2], 1.4, INFINITY, 1.4 / 4)
        cdef double stands = standing * linear(self.data.xmat[self.upright], 0.9, INFINITY, 1.9, 0)
        cdef double control = (4 + small_control(self.data.ctrl, self.model.nu)) / 5
        cdef double moves
        if self.speed == 0:
            return control * stands * ((gaussian_of_element(velocity[0], 2) + gaussian_of_element(velocity[1], 2)) / 2)
        moves = linear(norm(velocity, 2), self.speed, INFINITY, self.speed, 0)
        return control * stands * ((5 * moves + 1) / 6)


cdef class HumanoidCMU(Humanoid):
    """A humanoid for CMU's motion-capture data stands, walks or runs.

    Follows `dm_control.suite.humanoid_CMU` 1.0.50.

    Observation: float64 `joint_angles` (56,), `head_height` (), `extremities` (12,), `torso_vertical` (3,),
        `com_velocity` (3,), `velocity` (62,).
    Action: float64 (56,) in [-1, 1]: the torques.
    Reward, Terminated: As in `Humanoid`.
    """
    describe = staticmethod(specs.describer("humanoid_CMU"))

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "humanoid_CMU", "thorax", 7, ("lhand", "lfoot", "rhand", "rfoot"))
