# A dog with bones and muscles.
import numpy as np

from cypool.envs.dm_control import specs

from libc.math cimport INFINITY, M_PI, sqrt
from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport cos, sin, sum as numpy_sum, vector_times_matrix
from cypool.envs.shared.mujoco cimport guard, libmujoco
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter


INERTIAL = ("accelerometer", "velocimeter", "gyro")
FEET = ("foot_L", "foot_R", "hand_L", "hand_R")
DOG_TOUCH = ("palm_L", "palm_R", "sole_L", "sole_R")
# metres per second
DOG_SPEEDS = {"walk": 1, "trot": 3, "run": 9}


cdef class Dog(ControlTask):
    """A dog stands, walks, trots, runs, or fetches a ball.

    Follows `dm_control.suite.dog` 1.0.50.

    Observation: float64 `joint_angles` (73,), `joint_velocites` (73,), `torso_pelvis_height` (2,), `z_projection`
        (9,), `torso_com_velocity` (3,), `inertial_sensors` (9,), `foot_forces` (12,), `touch_sensors` (4,),
        `actuator_state` (38,); for fetch also `ball_state` (6,), `target_position` (3,).
    Action: float64 (38,) in [-1, 1].
    Reward: In [0, 1]: the product of terms for upright posture, body height, weight on the feet and, depending on the
        task, speed, or how close the ball is to the mouth and to the target.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("dog"))

    cdef bint fetches
    cdef double speed                    # 0: none is wanted
    cdef double upright_cosine
    cdef vector[int] qpos_of_hinges, qvel_of_hinges
    cdef int[3] trunk                    # skull, torso, pelvis
    cdef int linvel, root
    cdef int[3] inertial
    cdef int[4] feet
    cdef vector[int] touch
    cdef int head, upper_bite, lower_bite, ball, ball_qpos, ball_dof, target, floor

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "dog")
        task = spec.options["task"]
        # the heights of torso and pelvis
        self.episode.resize(2)
        self.fetches, self.speed = task == "fetch", DOG_SPEEDS.get(task, 0)
        self.upright_cosine = np.cos(np.deg2rad(30))
        for k in range(self.model.njnt):
            if self.model.jnt_type[k] == libmujoco.mjJNT_HINGE:
                self.qpos_of_hinges.push_back(self.model.jnt_qposadr[k])
                self.qvel_of_hinges.push_back(self.model.jnt_dofadr[k])
        self.trunk = [self.body(name) for name in ("skull", "torso", "pelvis")]
        self.linvel, self.root = self.sensor("torso_linvel"), self.qpos_of("root")
        self.inertial = [self.sensor(name) for name in INERTIAL]
        self.feet, self.touch = [self.sensor(name) for name in FEET], [self.sensor(name) for name in DOG_TOUCH]
        if self.fetches:
            self.head, self.ball, self.target = self.site("head"), self.geom("ball"), self.geom("target")
            self.upper_bite, self.lower_bite = self.site("upper_bite"), self.site("lower_bite")
            self.floor = self.geom("floor")
            self.ball_qpos, self.ball_dof = self.qpos_of("ball_root"), self.qvel_of("ball_root")

    cdef int begin_episode(self) except -1 nogil:
        cdef double azimuth, radius, speed, up
        cdef const double* limits
        cdef double* qpos = self.data.qpos + self.root
        cdef double* qvel = self.data.qvel
        cdef int64_t k
        # once more
        guard.restart(self.own, self.data)
        self.episode[0] = self.data.xpos[3 * self.trunk[1] + 2] * 0.9
        self.episode[1] = self.data.xpos[3 * self.trunk[2] + 2] * 0.9
        azimuth = self.random.uniform(0, 2 * M_PI)
        qpos[3], qpos[4], qpos[5], qpos[6] = cos(azimuth / 2), 0, 0, sin(azimuth / 2)
        qvel[0] = 2 * self.random.normal()
        qvel[1] = 2 * self.random.normal()
        qvel[5] = 2 * self.random.normal()
        for k in range(self.model.nu):
            limits = self.model.actuator_ctrlrange + 2 * k
            self.data.act[k] = self.random.uniform(limits[0], limits[1])
        if self.fetches:
            radius = 0.75 * self.model.geom_size[3 * self.floor]
            azimuth = self.random.uniform(0, 2 * M_PI)
            qpos, qvel = self.data.qpos + self.ball_qpos, self.data.qvel + self.ball_dof
            qpos[0], qpos[1], qpos[2] = radius * sin(azimuth), radius * cos(azimuth), 0.05
            up = sqrt(2 * -self.model.opt.gravity[2] * self.random.uniform(0, 3))
            speed = self.random.uniform(0, 5)
            qvel[0] = speed * (-sin(azimuth) + 0.05 * self.random.normal())
            qvel[1] = speed * (-cos(azimuth) + 0.05 * self.random.normal())
            qvel[2] = up
        return 0

    cdef void com_velocity(self, double* out) noexcept nogil:
        vector_times_matrix(self.data.sensordata + self.linvel, self.data.xmat + 9 * self.trunk[1], out)

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef const double* sensors = self.data.sensordata
        cdef double[3] velocity
        cdef int k
        obs.put(self.data.qpos, self.qpos_of_hinges)
        obs.put(self.data.qvel, self.qvel_of_hinges)
        obs.put(self.data.xpos[3 * self.trunk[1] + 2])
        obs.put(self.data.xpos[3 * self.trunk[2] + 2])
        for k in range(3):
            obs.put(self.data.xmat + 9 * self.trunk[k] + 6, 3)
        self.com_velocity(velocity)
        obs.put(velocity, 3)
        for k in range(3):
            obs.put(sensors + self.inertial[k], 3)
        for k in range(4):
            obs.put(sensors + self.feet[k], 3)
        obs.put(sensors, self.touch)
        obs.put(self.data.act, self.model.na)
        if self.fetches:
            self.put_ball(obs)
        return 0

    cdef void put_ball(self, ObsWriter* obs) noexcept nogil:
        """Writes the ball's position and velocity, and the target's position, as seen from the head."""
        cdef const double* place = self.data.site_xpos + 3 * self.head
        cdef const double* frame = self.data.site_xmat + 9 * self.head
        cdef double[6] head, ball
        put_seen(obs, self.data.geom_xpos + 3 * self.ball, place, frame)
        libmujoco.mj_objectVelocity(self.model, self.data, libmujoco.mjOBJ_SITE, self.head, head, 0)
        libmujoco.mj_objectVelocity(self.model, self.data, libmujoco.mjOBJ_GEOM, self.ball, ball, 0)
        put_seen(obs, &ball[3], &head[3], frame)
        put_seen(obs, self.data.geom_xpos + 3 * self.target, place, frame)

    cdef double get_reward(self) except? -1 nogil:
        cdef double cosine = self.upright_cosine
        cdef double weight = -self.model.opt.gravity[2] * self.model.body_subtreemass[self.trunk[1]]
        cdef double product = 1
        cdef double[4] forces
        cdef double[3] velocity
        cdef int k
        for k in range(2):
            product *= gaussian(
                self.data.xpos[3 * self.trunk[1 + k] + 2], self.episode[k], INFINITY, self.episode[k])
        for k in range(3):
            product *= linear(self.data.xmat[9 * self.trunk[k] + 8], cosine, INFINITY, cosine + 1, 0)
        for k in range(4):
            forces[k] = self.data.sensordata[self.touch[k]]
        product *= linear(numpy_sum(&forces[0], 4), weight, INFINITY, weight, 0.9)
        if self.speed > 0:
            self.com_velocity(velocity)
            product *= (4 * linear(velocity[0], self.speed, 2 * self.speed, self.speed, 0) + 1) / 5
        return self.fetch_reward(product) if self.fetches else product

    cdef double fetch_reward(self, double product) noexcept nogil:
        """Returns the product times the reward of fetching."""
        cdef const double* ball = self.data.geom_xpos + 3 * self.ball
        cdef double to_mouth = 0.5 * (apart(ball, self.data.site_xpos + 3 * self.upper_bite, 3)
                                      + apart(ball, self.data.site_xpos + 3 * self.lower_bite, 3))
        cdef double to_target = apart(ball, self.data.geom_xpos + 3 * self.target, 3)
        cdef double radius = self.model.geom_size[3 * self.target], reaches, brings
        reaches = (6 * reciprocal(to_mouth, 0, self.model.site_size[3 * self.upper_bite], 2) + 1) / 7
        brings = (reciprocal(to_target, 0, radius, self.model.geom_size[3 * self.floor]) + 1) / 2
        # it has been brought
        if to_target < 2 * radius:
            reaches = 1
        return product * reaches * brings
