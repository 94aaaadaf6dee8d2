# A four-legged animal: quadruped.
import numpy as np

from cypool.envs.dm_control import specs

from libc.math cimport INFINITY, M_PI, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport (
    arcsinh, cos, matrix_times_matrix, norm, sin, tanh, vector_times_matrix,
)
from cypool.envs.shared.mujoco cimport guard, libmujoco
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport SENSED_FORCES, SENSED_MOTION, SITE_XPOS, XMAT, XPOS


# of the reward's speed, in metres per second
QUADRUPED_SPEEDS = {"walk": 0.5, "run": 5}


cdef class Quadruped(ControlTask):
    """A quadruped walks, runs, escapes from a bowl of rough ground, or fetches a ball.

    Follows `dm_control.suite.quadruped` 1.0.50, but finds initial positions in a tenth of the time.

    Observation: float64 `egocentric_state` (44,), `torso_velocity` (3,), `torso_upright` (), `imu` (6,), `force_torque`
        (24,); for escape also `origin` (3,), `rangefinder` (20,); for fetch `ball_state` (9,), `target_position` (3,).
    Action: float64 (12,) within [-1, 1.1].
    Reward: In [0, 1]: for an upright torso and, depending on the task, speed, distance from the middle, or a ball near
        the target.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("quadruped"))

    cdef bint escapes, fetches
    cdef double speed, upright_cosine
    cdef vector[int] qpos_of_hinges, qvel_of_hinges, forces, imu, rangefinders     # the last three: in sensordata
    cdef int torso, velocimeter, root, root_dof, workspace
    cdef int ball, ball_qpos, ball_dof, ball_geom, target, floor
    cdef object bowl                     # the ground without its bumps
    cdef object zoom                     # of SciPy

    def __init__(self, spec, env_id):
        task = spec.options["task"]
        self.escapes, self.fetches = task == "escape", task == "fetch"
        super().__init__(spec, env_id, "quadruped", ("hfield_data",) if self.escapes else ())
        self.reads = 1 << XMAT | 1 << SENSED_MOTION | 1 << SENSED_FORCES
        if self.escapes or self.fetches:
            self.reads |= 1 << XPOS | 1 << SITE_XPOS
        self.speed = QUADRUPED_SPEEDS.get(task, 0)
        self.upright_cosine = np.cos(np.deg2rad(20 if self.escapes else 0))
        for k in range(self.model.njnt):
            if self.model.jnt_type[k] == libmujoco.mjJNT_HINGE:
                self.qpos_of_hinges.push_back(self.model.jnt_qposadr[k])
                self.qvel_of_hinges.push_back(self.model.jnt_dofadr[k])
        self.forces = self._sensors(libmujoco.mjSENS_FORCE, libmujoco.mjSENS_TORQUE)
        self.imu = self._sensors(libmujoco.mjSENS_GYRO, libmujoco.mjSENS_ACCELEROMETER)
        self.rangefinders = self._sensors(libmujoco.mjSENS_RANGEFINDER, libmujoco.mjSENS_RANGEFINDER)
        self.torso, self.velocimeter = self.body("torso"), self.sensor("velocimeter")
        self.root, self.root_dof = self.qpos_of("root"), self.qvel_of("root")
        self.workspace = self.site("workspace")
        if self.escapes:
            from scipy import ndimage

            self.zoom = ndimage.zoom
            n = self.model.hfield_nrow[0]
            row, column = np.ogrid[-1:1:n * 1j, -1:1:n * 1j]
            self.bowl = 0.5 - np.cos(2 * np.pi * np.clip(np.sqrt(column**2 + row**2), 0.04, 1)) / 2
        elif self.fetches:
            self.ball, self.ball_geom = self.body("ball"), self.geom("ball")
            self.ball_qpos, self.ball_dof = self.qpos_of("ball_root"), self.qvel_of("ball_root")
            self.target, self.floor = self.site("target"), self.geom("floor")

    def _sensors(self, kind, other):
        """Returns the indices in sensordata of all values from two types of sensors."""
        return [self.model.sensor_adr[k] + i for k in range(self.model.nsensor)
                if self.model.sensor_type[k] in (kind, other) for i in range(self.model.sensor_dim[k])]

    cdef int begin_episode(self) except -1 nogil:
        cdef double[4] rotation
        cdef double azimuth, radius, x, y
        cdef double* qpos
        cdef double* qvel
        if not self.fetches:
            if self.escapes:
                self.draw_ground()
            self.draw_unit(rotation, 4)
            return self.rise(rotation, 0, 0)
        azimuth = self.random.uniform(0, 2 * M_PI)
        rotation[0], rotation[1], rotation[2], rotation[3] = cos(azimuth / 2), 0, 0, sin(azimuth / 2)
        radius = 0.9 * self.model.geom_size[3 * self.floor]
        x = self.random.uniform(-radius, radius)
        y = self.random.uniform(-radius, radius)
        self.rise(rotation, x, y)
        qpos, qvel = self.data.qpos + self.ball_qpos, self.data.qvel + self.ball_dof
        qpos[0] = self.random.uniform(-radius, radius)
        qpos[1] = self.random.uniform(-radius, radius)
        qpos[2] = 2
        qvel[0] = 5 * self.random.normal()
        qvel[1] = 5 * self.random.normal()
        return 0

    cdef int draw_ground(self) except -1 nogil:
        """Draws bumps, and builds the ground from them and the bowl."""
        cdef int64_t i, j, n = <int64_t>(2 * self.model.hfield_size[0] / 2)
        # SciPy's splines are Python's; their order of additions is nowhere promised, so they are not done again here
        with gil:
            bumps = np.empty((n, n))
            for i in range(n):
                for j in range(n):
                    bumps[i, j] = self.random.uniform(0.15, 1)
            size = self.bowl.shape[0]
            ground = (self.bowl * self.zoom(bumps, size / float(n))).astype(np.float32).tobytes()
            memcpy(self.own.hfield_data, <const char*>ground, len(ground))
        return 0

    cdef int rise(self, const double* rotation, double x, double y) except -1 nogil:
        """Places the animal as low as possible without contacts: 1 cm higher at a time."""
        cdef double* qpos = self.data.qpos + self.root
        cdef double z = 0
        cdef int _k
        memcpy(qpos + 3, rotation, 4 * sizeof(double))
        qpos[0], qpos[1] = x, y
        # the reference resets each time; only the last reset counts
        for _k in range(10_000):
            qpos[2] = z
            if guard.count_contacts(self.model, self.data) == 0:
                break
            z += 0.01
        else:
            raise RuntimeError("expected a height without contacts, found none up to 100 m")
        guard.restart(self.own, self.data)
        qpos[0], qpos[1], qpos[2] = x, y, z
        memcpy(qpos + 3, rotation, 4 * sizeof(double))
        return self.forward()

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef const double* sensors = self.data.sensordata
        cdef const double* torso = self.data.xpos + 3 * self.torso
        cdef const double* frame = self.data.xmat + 9 * self.torso
        cdef double[9] state, seen
        cdef size_t k
        cdef int axis
        obs.put(self.data.qpos, self.qpos_of_hinges)
        obs.put(self.data.qvel, self.qvel_of_hinges)
        obs.put(self.data.act, self.model.na)
        obs.put(sensors + self.velocimeter, 3)
        obs.put(frame[8])
        obs.put(sensors, self.imu)
        for k in range(self.forces.size()):
            obs.put(arcsinh(sensors[self.forces[k]]))
        if self.escapes:
            for axis in range(3):
                state[axis] = -torso[axis]
            vector_times_matrix(state, frame, seen)
            obs.put(seen, 3)
            for k in range(self.rangefinders.size()):
                # nothing is seen
                obs.put(1.0 if sensors[self.rangefinders[k]] == -1.0 else tanh(sensors[self.rangefinders[k]]))
        elif self.fetches:
            difference(self.data.xpos + 3 * self.ball, torso, state)
            difference(self.data.qvel + self.ball_dof, self.data.qvel + self.root_dof, &state[3])
            memcpy(&state[6], self.data.qvel + self.ball_dof + 3, 3 * sizeof(double))
            matrix_times_matrix(state, frame, seen)
            obs.put(seen, 9)
            put_seen(obs, self.data.site_xpos + 3 * self.target, torso, frame)
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double cosine = self.upright_cosine, size, arena, reaches, fetches
        cdef double upright = linear(self.data.xmat[9 * self.torso + 8], cosine, INFINITY, 1 + cosine, 0)
        cdef const double* workspace = self.data.site_xpos + 3 * self.workspace
        cdef const double* ball
        if self.escapes:
            size = self.model.hfield_size[0]
            return upright * linear(norm(workspace, 3), size, INFINITY, size, 0)
        if not self.fetches:
            return upright * linear(self.data.sensordata[self.velocimeter], self.speed, INFINITY, self.speed, 0.5)
        arena = self.model.geom_size[3 * self.floor] * sqrt(2.0)
        ball = self.data.xpos + 3 * self.ball
        size = self.model.site_size[3 * self.workspace] + self.model.geom_size[3 * self.ball_geom]
        reaches = linear(apart(workspace, ball, 2), 0, size, arena, 0)
        size = self.model.site_size[3 * self.target]
        fetches = linear(apart(self.data.site_xpos + 3 * self.target, ball, 2), 0, size, arena, 0)
        return upright * (reaches * (0.5 + 0.5 * fetches))
