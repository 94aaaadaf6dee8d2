# Things to catch, to turn and to reach: ball_in_cup, finger, point_mass, reacher.
from cypool.envs.dm_control import specs

from libc.math cimport M_PI, fabs
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport cos, dot, log1p, norm, sin, sum as numpy_sum
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport SENSED_FORCES, SENSED_MOTION, SITE_XPOS, XPOS


cdef class BallInCup(ControlTask):
    """Swing a ball on a string into a cup.

    Follows `dm_control.suite.ball_in_cup` 1.0.50.

    Observation: float64 `position` (4,), `velocity` (4,).
    Action: float64 (2,) in [-1, 1]: the forces on the cup.
    Reward: 1 while the ball is in the cup, else 0.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("ball_in_cup"))

    cdef int x, z, target, ball, ball_geom

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "ball_in_cup")
        self.reads = 1 << XPOS | 1 << SITE_XPOS
        self.x, self.z = self.qpos_of("ball_x"), self.qpos_of("ball_z")
        self.target, self.ball, self.ball_geom = self.site("target"), self.body("ball"), self.geom("ball")

    cdef int begin_episode(self) except -1 nogil:
        cdef int attempts = 0
        while not self.is_free(&attempts):
            self.data.qpos[self.x] = self.random.uniform(-0.2, 0.2)
            self.data.qpos[self.z] = self.random.uniform(0.2, 0.5)
            self.forward()
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef const double* target = self.data.site_xpos + 3 * self.target
        cdef const double* ball = self.data.xpos + 3 * self.ball
        cdef const double* size = self.model.site_size + 3 * self.target
        cdef double radius = self.model.geom_size[3 * self.ball_geom]
        return fabs(target[0] - ball[0]) < size[0] - radius and fabs(target[2] - ball[2]) < size[2] - radius


cdef class Finger(ControlTask):
    """A finger spins a body on a hinge, or turns the body's tip to a target.

    Follows `dm_control.suite.finger` 1.0.50.

    Observation: float64 `position` (4,), `velocity` (3,), `touch` (2,); for turn also `target_position` (2,),
        `dist_to_target` ().
    Action: float64 (2,) in [-1, 1]: the torques.
    Reward: 1 while the body spins fast enough or its tip is in the target, else 0.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("finger"))

    cdef bint spins
    cdef double target_radius
    cdef int hinge, hinge_dof, cap, target
    cdef vector[int] angles, velocities
    cdef int[2] touches
    cdef int sensor_tip, sensor_spinner, sensor_target

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "finger", ("dof_damping", "site_pos", "site_size"))
        self.reads, self.writes_model = 1 << SENSED_MOTION | 1 << SENSED_FORCES, True
        task = spec.options["task"]
        self.spins, self.target_radius = task == "spin", 0.07 if task == "turn_easy" else 0.03
        self.hinge, self.hinge_dof, self.cap = self.joint("hinge"), self.qvel_of("hinge"), self.geom("cap1")
        self.target = self.site("target")
        self.angles = [self.sensor("proximal"), self.sensor("distal")]
        self.velocities = [self.sensor(f"{name}_velocity") for name in ("proximal", "distal", "hinge")]
        self.touches = [self.sensor("touchtop"), self.sensor("touchbottom")]
        self.sensor_tip, self.sensor_spinner = self.sensor("tip"), self.sensor("spinner")
        self.sensor_target = self.sensor("target")

    cdef int begin_episode(self) except -1 nogil:
        cdef double angle, radius
        cdef double* site
        cdef const double* anchor = self.data.xanchor + 3 * self.hinge
        cdef int attempts = 0
        if self.spins:
            self.own.dof_damping[self.hinge_dof] = 0.03
        else:
            angle = self.random.uniform(-M_PI, M_PI)
            radius = numpy_sum(&self.own.geom_size[3 * self.cap], 3)
            site = self.own.site_pos + 3 * self.target
            site[0] = anchor[0] + radius * sin(angle)
            site[2] = anchor[2] + radius * cos(angle)
            self.own.site_size[3 * self.target] = self.target_radius
        while not self.is_free(&attempts):
            self.randomize_joints()
            self.forward()
        return 0

    cdef double distance(self) noexcept nogil:
        cdef const double* sensors = self.data.sensordata
        cdef double[2] way
        cdef int k
        for k in range(2):
            # in the plane of x and z
            way[k] = ((sensors[self.sensor_target + 2 * k] - sensors[self.sensor_spinner + 2 * k])
                      - (sensors[self.sensor_tip + 2 * k] - sensors[self.sensor_spinner + 2 * k]))
        return norm(way, 2) - self.model.site_size[3 * self.target]

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef const double* sensors = self.data.sensordata
        cdef int k
        obs.put(sensors, self.angles)
        for k in range(2):
            obs.put(sensors[self.sensor_tip + 2 * k] - sensors[self.sensor_spinner + 2 * k])
        obs.put(sensors, self.velocities)
        for k in range(2):
            obs.put(log1p(sensors[self.touches[k]]))
        if not self.spins:
            for k in range(2):
                obs.put(sensors[self.sensor_target + 2 * k] - sensors[self.sensor_spinner + 2 * k])
            obs.put(self.distance())
        return 0

    cdef double get_reward(self) except? -1 nogil:
        if self.spins:
            return self.data.sensordata[self.velocities[2]] <= -15.0
        return self.distance() <= 0


cdef class PointMass(ControlTask):
    """A point mass in the plane moves to the middle.

    Follows `dm_control.suite.point_mass` 1.0.50.

    Observation: float64 `position` (2,), `velocity` (2,).
    Action: float64 (2,) in [-1, 1]: the forces; with "hard", along two directions drawn for each episode.
    Reward: In [0, 1]: for being close to the middle, with small controls.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("point_mass"))

    cdef bint is_hard
    cdef int target, mass

    def __init__(self, spec, env_id):
        self.is_hard = spec.options["task"] == "hard"
        super().__init__(spec, env_id, "point_mass", ("wrap_prm",) if self.is_hard else ())
        self.reads = 1 << XPOS
        # the geom is where its body is
        self.target, self.mass = self.geom("target"), self.body("pointmass")

    cdef int begin_episode(self) except -1 nogil:
        cdef double[2] one, two
        self.randomize_joints()
        if self.is_hard:
            self.draw_unit(one, 2)
            self.draw_unit(two, 2)
            # not nearly parallel
            while fabs(dot(one, two, 2)) > 0.9:
                self.draw_unit(two, 2)
            memcpy(self.own.wrap_prm, one, sizeof(one))
            memcpy(self.own.wrap_prm + 2, two, sizeof(two))
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double size = self.model.geom_size[3 * self.target]
        cdef double far = apart(self.data.geom_xpos + 3 * self.target, self.data.xpos + 3 * self.mass, 3)
        return gaussian(far, 0, size, size) * ((small_control(self.data.ctrl, self.model.nu) + 4) / 5)


cdef class Reacher(ControlTask):
    """A planar arm with two links moves its tip to a target.

    Follows `dm_control.suite.reacher` 1.0.50.

    Observation: float64 `position` (2,), `to_target` (2,), `velocity` (2,).
    Action: float64 (2,) in [-1, 1]: the torques.
    Reward: 1 while the tip is in the target, else 0.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("reacher"))

    cdef double radius
    cdef int target, finger, finger_body

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "reacher", ("geom_size", "geom_pos"))
        # nothing touches the target
        self.reads, self.keeps_model = 1 << XPOS, True
        self.radius = 0.05 if spec.options["task"] == "easy" else 0.015
        self.target, self.finger = self.geom("target"), self.geom("finger")
        # the geom is where its body is
        self.finger_body = self.body("finger")

    cdef int begin_episode(self) except -1 nogil:
        cdef double angle, distance
        cdef double* place = self.own.geom_pos + 3 * self.target
        self.own.geom_size[3 * self.target] = self.radius
        self.randomize_joints()
        angle = self.random.uniform(0, 2 * M_PI)
        distance = self.random.uniform(0.05, 0.2)
        place[0], place[1] = distance * sin(angle), distance * cos(angle)
        return 0

    cdef void to_target(self, double* out) noexcept nogil:
        cdef int k
        for k in range(2):
            out[k] = self.data.geom_xpos[3 * self.target + k] - self.data.xpos[3 * self.finger_body + k]

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef double[2] way
        obs.put(self.data.qpos, self.model.nq)
        self.to_target(way)
        obs.put(way, 2)
        obs.put(self.data.qvel, self.model.nv)
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double[2] way
        self.to_target(way)
        return within(norm(way, 2), 0,
                      self.model.geom_size[3 * self.target] + self.model.geom_size[3 * self.finger])
