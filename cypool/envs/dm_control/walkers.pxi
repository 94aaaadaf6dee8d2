# Animals in the plane that walk, run or hop: cheetah, hopper, walker.
from cypool.envs.dm_control import specs

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from cypool.envs.shared.numerics.numpy_math cimport log1p
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport SENSED_FORCES, SENSED_MOTION, XIPOS, XMAT, XPOS


cdef class Cheetah(ControlTask):
    """A two-legged animal runs in the plane.

    Follows `dm_control.suite.cheetah` 1.0.50.

    Observation: float64 `position` (8,), `velocity` (9,).
    Action: float64 (6,) in [-1, 1]: the torques.
    Reward: In [0, 1], linear in the speed up to 10 m/s.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("cheetah"))

    cdef int speed

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "cheetah")
        self.reads = 1 << SENSED_MOTION
        self.speed = self.sensor("torso_subtreelinvel")

    cdef int begin_episode(self) except -1 nogil:
        cdef const double* limits
        cdef int64_t j
        for j in range(self.model.njnt):
            if self.model.jnt_limited[j]:
                limits = self.model.jnt_range + 2 * j
                self.data.qpos[self.model.jnt_qposadr[j]] = self.random.uniform(limits[0], limits[1])
        # it falls to the ground
        self.advance(200)
        self.data.time = 0
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.qpos + 1, self.model.nq - 1)
        obs.put(self.data.qvel, self.model.nv)
        return 0

    cdef double get_reward(self) except? -1 nogil:
        return linear(self.data.sensordata[self.speed], 10, INFINITY, 10, 0)


cdef class Hopper(ControlTask):
    """A one-legged animal stands or hops in the plane.

    Follows `dm_control.suite.hopper` 1.0.50.

    Observation: float64 `position` (6,), `velocity` (7,), `touch` (2,).
    Action: float64 (4,) in [-1, 1]: the torques.
    Reward: In [0, 1]: for standing upright, times a factor for small controls ("stand") or speed up to 2 m/s ("hop").
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("hopper"))

    cdef int torso, foot, speed, toe, heel
    cdef bint hops

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "hopper")
        self.reads = 1 << XIPOS | 1 << SENSED_MOTION | 1 << SENSED_FORCES
        self.hops = spec.options["task"] == "hop"
        self.torso, self.foot = self.body("torso"), self.body("foot")
        self.speed = self.sensor("torso_subtreelinvel")
        self.toe, self.heel = self.sensor("touch_toe"), self.sensor("touch_heel")

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.qpos + 1, self.model.nq - 1)
        obs.put(self.data.qvel, self.model.nv)
        obs.put(log1p(self.data.sensordata[self.toe]))
        obs.put(log1p(self.data.sensordata[self.heel]))
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double height = self.data.xipos[3 * self.torso + 2] - self.data.xipos[3 * self.foot + 2]
        cdef double standing = within(height, 0.6, 2)
        if self.hops:
            return standing * linear(self.data.sensordata[self.speed], 2, INFINITY, 1, 0.5)
        return standing * ((small_control(self.data.ctrl, self.model.nu) + 4) / 5)


cdef class Walker(ControlTask):
    """A two-legged robot stands, walks or runs in the plane.

    Follows `dm_control.suite.walker` 1.0.50.

    Observation: float64 `orientations` (14,), `height` (), `velocity` (9,).
    Action: float64 (6,) in [-1, 1]: the torques.
    Reward: In [0, 1]: torso height, an upright torso, and the speed up to 1 m/s ("walk") or 8 m/s ("run").
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("walker"))

    cdef int torso, sensor_of_speed
    cdef double speed                    # 0: it only stands

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "walker")
        self.reads = 1 << XPOS | 1 << XMAT | 1 << SENSED_MOTION
        self.torso, self.sensor_of_speed = self.body("torso"), self.sensor("torso_subtreelinvel")
        self.speed = {"stand": 0, "walk": 1, "run": 8}[spec.options["task"]]

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef int64_t body
        for body in range(1, self.model.nbody):
            obs.put(self.data.xmat[9 * body])
            obs.put(self.data.xmat[9 * body + 2])
        obs.put(self.data.xpos[3 * self.torso + 2])
        obs.put(self.data.qvel, self.model.nv)
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double standing = gaussian(self.data.xpos[3 * self.torso + 2], 1.2, INFINITY, 1.2 / 2)
        cdef double upright = (1 + self.data.xmat[9 * self.torso + 8]) / 2
        cdef double stands = (3 * standing + upright) / 4, moves
        if self.speed == 0:
            return stands
        moves = linear(self.data.sensordata[self.sensor_of_speed], self.speed, INFINITY, self.speed / 2, 0.5)
        return stands * (5 * moves + 1) / 6
