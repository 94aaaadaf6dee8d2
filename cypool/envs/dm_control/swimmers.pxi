# Animals that swim: fish and swimmer.
from cypool.envs.dm_control import specs

from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport norm, vector_times_matrix
from cypool.envs.shared.mujoco cimport libmujoco
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport SENSED_MOTION, XMAT, XPOS, XQUAT


SWIMMER_JOINTS = ("tail1", "tail_twist", "tail2", "finright_roll", "finright_pitch", "finleft_roll", "finleft_pitch")


cdef class Fish(ControlTask):
    """A fish stays upright, or swims to a target.

    Follows `dm_control.suite.fish` 1.0.50.

    Observation: float64 `joint_angles` (7,), `upright` (), `velocity` (13,); for swim also `target` (3,), before the
        velocity.
    Action: float64 (5,) in [-1, 1]: the torques.
    Reward: In [0, 1]: how upright the fish is, or how near its mouth is to the target.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("fish"))

    cdef bint swims
    cdef int root, torso, mouth, target
    cdef vector[int] joints

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "fish", ("geom_pos",))
        self.swims = spec.options["task"] == "swim"
        self.reads = 1 << XMAT | (1 << XPOS | 1 << XQUAT) * self.swims
        self.writes_model = True
        self.root, self.torso = self.qpos_of("root"), self.body("torso")
        self.mouth, self.target = self.geom("mouth"), self.geom("target")
        self.joints = [self.qpos_of(name) for name in SWIMMER_JOINTS]

    cdef int begin_episode(self) except -1 nogil:
        cdef double* target = self.own.geom_pos + 3 * self.target
        cdef size_t k
        self.draw_unit(self.data.qpos + self.root + 3, 4)
        for k in range(self.joints.size()):
            self.data.qpos[self.joints[k]] = self.random.uniform(-0.2, 0.2)
        if self.swims:
            target[0] = self.random.uniform(-0.4, 0.4)
            target[1] = self.random.uniform(-0.4, 0.4)
            target[2] = self.random.uniform(0.1, 0.3)
        return 0

    cdef void to_target(self, double* out) noexcept nogil:
        cdef double[3] way
        cdef double[3] mouth
        cdef double[9] matrix
        # the geom's own place is not computed in lanes
        libmujoco.mj_local2Global(self.data, mouth, matrix, self.model.geom_pos + 3 * self.mouth,
                                  self.model.geom_quat + 4 * self.mouth, self.torso, 0)
        difference(self.data.geom_xpos + 3 * self.target, mouth, way)
        vector_times_matrix(way, matrix, out)

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef double[3] way
        obs.put(self.data.qpos, self.joints)
        obs.put(self.data.xmat[9 * self.torso + 8])
        if self.swims:
            self.to_target(way)
            obs.put(way, 3)
        obs.put(self.data.qvel, self.model.nv)
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double upright = self.data.xmat[9 * self.torso + 8], radii
        cdef double[3] way
        if not self.swims:
            return gaussian(upright, 1, 1, 1)
        radii = self.model.geom_size[3 * self.mouth] + self.model.geom_size[3 * self.target]
        self.to_target(way)
        return (7 * gaussian(norm(way, 3), 0, radii, 2 * radii) + 0.5 * (upright + 1)) / 8


cdef class Swimmer(ControlTask):
    """A chain of 6 or 15 links in the plane moves its nose to a target.

    Follows `dm_control.suite.swimmer` 1.0.50.

    Observation: float64 `joints` (n - 1,), `to_target` (2,), `body_velocities` (3 * n,).
    Action: float64 (n - 1,) in [-1, 1]: the torques.
    Reward: In [0, 1]: closeness to the target.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("swimmer"))

    cdef int target, nose, head, light

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "swimmer", ("geom_pos", "light_pos"))
        self.reads, self.writes_model = 1 << XPOS | 1 << XMAT | 1 << SENSED_MOTION, True
        self.target, self.nose, self.head = self.geom("target"), self.geom("nose"), self.body("head")
        self.light = self.loaded.find(libmujoco.mjOBJ_LIGHT, "target_light")

    cdef int begin_episode(self) except -1 nogil:
        cdef double box
        cdef int k
        self.randomize_joints()
        box = 0.3 if self.random.rand() < 0.2 else 2
        for k in range(2):
            self.own.geom_pos[3 * self.target + k] = self.random.uniform(-box, box)
            self.own.light_pos[3 * self.light + k] = self.own.geom_pos[3 * self.target + k]
        return 0

    cdef void to_target(self, double* out) noexcept nogil:
        """Writes three numbers, of which only the first two matter."""
        cdef const double* place = self.data.xpos + 3 * self.head
        cdef const double* matrix = self.data.xmat + 9 * self.head
        cdef const double* on_head = self.model.geom_pos + 3 * self.nose
        cdef double[3] nose, way
        cdef int k
        for k in range(3):
            # the geom's own place is not computed in lanes
            nose[k] = (matrix[3 * k] * on_head[0] + matrix[3 * k + 1] * on_head[1] + matrix[3 * k + 2] * on_head[2]
                       + place[k])
        difference(self.data.geom_xpos + 3 * self.target, nose, way)
        vector_times_matrix(way, matrix, out)

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef const double* sensors
        cdef double[3] way
        cdef int64_t at
        obs.put(self.data.qpos + 3, self.model.nq - 3)
        self.to_target(way)
        obs.put(way, 2)
        # of each link six, behind those of the head
        for at in range(12, self.model.nsensordata, 6):
            sensors = self.data.sensordata + at
            obs.put(sensors, 2)
            obs.put(sensors[5])
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double size = self.model.geom_size[3 * self.target]
        cdef double[3] way
        self.to_target(way)
        return long_tail(norm(way, 2), 0, size, 5 * size)
