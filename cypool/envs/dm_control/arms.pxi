# An arm with a hand in the plane: manipulator and stacker.
import numpy as np

from cypool.envs.dm_control import specs

from libc.math cimport INFINITY, M_PI
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport arctan2, cos, log1p, sin
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport SENSED_FORCES, SITE_XPOS, XPOS, XQUAT


ARM_JOINTS = ("arm_root", "arm_shoulder", "arm_elbow", "arm_wrist", "finger", "fingertip", "thumb", "thumbtip")
ARM_TOUCH = ("palm_touch", "finger_touch", "thumb_touch", "fingertip_touch", "thumbtip_touch")
# an object begins in the hand, at its target or anywhere
PROBABILITIES = (0.1, 0.1, 1 - 0.1 - 0.1)


cdef class Arm(ControlTask):
    """Base of manipulator and stacker."""
    cdef bint fully_observable
    cdef int[8] joints, qpos             # of the arm
    cdef vector[int] qvel
    cdef int[5] touch
    cdef int hand

    def __init__(self, spec, env_id, domain, written):
        super().__init__(spec, env_id, domain, written)
        self.reads, self.writes_model = 1 << XPOS | 1 << XQUAT | 1 << SITE_XPOS | 1 << SENSED_FORCES, True
        self.fully_observable = spec.options["fully_observable"]
        self.joints = [self.joint(name) for name in ARM_JOINTS]
        self.qpos = [self.qpos_of(name) for name in ARM_JOINTS]
        self.qvel = [self.qvel_of(name) for name in ARM_JOINTS]
        self.touch = [self.sensor(name) for name in ARM_TOUCH]
        self.hand = self.body("hand")

    cdef void draw_arm(self) noexcept nogil:
        cdef const double* limits
        cdef int k
        for k in range(8):
            if self.model.jnt_limited[self.joints[k]]:
                limits = self.model.jnt_range + 2 * self.joints[k]
                self.data.qpos[self.qpos[k]] = self.random.uniform(limits[0], limits[1])
            else:
                self.data.qpos[self.qpos[k]] = self.random.uniform(-M_PI, M_PI)
        # the finger as the thumb
        self.data.qpos[self.qpos[4]] = self.data.qpos[self.qpos[6]]

    cdef void put_arm(self, ObsWriter* obs) noexcept nogil:
        cdef int k
        for k in range(8):
            obs.put(sin(self.data.qpos[self.qpos[k]]))
            obs.put(cos(self.data.qpos[self.qpos[k]]))
        obs.put(self.data.qvel, self.qvel)
        for k in range(5):
            obs.put(log1p(self.data.sensordata[self.touch[k]]))

    cdef void put_pose(self, ObsWriter* obs, int body) noexcept nogil:
        obs.put(self.data.xpos[3 * body])
        obs.put(self.data.xpos[3 * body + 2])
        obs.put(self.data.xquat[4 * body])
        obs.put(self.data.xquat[4 * body + 2])

    cdef double distance(self, int site, int other) noexcept nogil:
        return apart(self.data.site_xpos + 3 * site, self.data.site_xpos + 3 * other, 3)


cdef class Manipulator(Arm):
    """An arm brings a ball or a peg to a target, or inserts it there.

    Follows `dm_control.suite.manipulator` 1.0.50.

    Observation: float64 `arm_pos` (8, 2), `arm_vel` (8,), `touch` (5,); and, if fully observable, `hand_pos` (4,),
        `object_pos` (4,), `object_vel` (3,), `target_pos` (4,).
    Action: float64 (5,) in [-1, 1]: the torques.
    Reward: In [0, 1]: how close the object is to the target; for a peg, a third is for the grip.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("manipulator", fully_observable=specs.FULLY_OBSERVABLE))

    cdef bint is_peg, inserts
    cdef int thing, target, receptacle   # bodies
    cdef vector[int] qpos_of_thing, qvel_of_thing    # x, z, y
    cdef int grasp                       # a site
    cdef int[4] sites, sites_of_target
    cdef double[3] sums                  # of the probabilities

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "manipulator", ("body_pos", "body_quat"))
        task = spec.options["task"]
        self.is_peg, self.inserts = task.endswith("peg"), task.startswith("insert")
        thing = "peg" if self.is_peg else "ball"
        self.thing, self.target = self.body(thing), self.body(f"target_{thing}")
        self.receptacle = self.body("slot" if self.is_peg else "cup") if self.inserts else self.target
        self.qpos_of_thing = [self.qpos_of(f"{thing}_{axis}") for axis in "xzy"]
        self.qvel_of_thing = [self.qvel_of(f"{thing}_{axis}") for axis in "xzy"]
        self.grasp = self.site("grasp")
        if self.is_peg:
            pairs = ("peg_grasp", "grasp"), ("peg_pinch", "pinch"), ("peg", "target_peg"), ("target_peg_tip", "peg_tip")
        else:
            pairs = (("ball", "target_ball"),) * 4
        self.sites = [self.site(one) for one, _ in pairs]
        self.sites_of_target = [self.site(other) for _, other in pairs]
        sums = np.array(PROBABILITIES).cumsum()
        self.sums = (sums / sums[2]).tolist()

    cdef void place(self, int body, double x, double z, double angle) noexcept nogil:
        cdef double* position = self.own.body_pos + 3 * body
        cdef double* rotation = self.own.body_quat + 4 * body
        position[0], position[2] = x, z
        rotation[0], rotation[2] = cos(angle / 2), sin(angle / 2)

    cdef int begin_episode(self) except -1 nogil:
        cdef double target_x, target_z, target_angle, x, z, angle
        cdef int attempts = 0, kind
        while not self.is_free(&attempts):
            self.draw_arm()
            target_x, target_z = self.random.uniform(-0.4, 0.4), self.random.uniform(0.1, 0.4)
            angle = M_PI / 3 if self.inserts else M_PI
            target_angle = self.random.uniform(-angle, angle)
            if self.inserts:
                self.place(self.receptacle, target_x, target_z, target_angle)
            self.place(self.target, target_x, target_z, target_angle)
            kind = self.random.choice(self.sums)
            if kind == 0:
                # in the hand
                self.forward()
                x, z = self.data.site_xpos[3 * self.grasp], self.data.site_xpos[3 * self.grasp + 2]
                angle = M_PI - arctan2(self.data.site_xmat[9 * self.grasp + 6], self.data.site_xmat[9 * self.grasp])
            elif kind == 1:
                x, z, angle = target_x, target_z, target_angle
            else:
                x, z = self.random.uniform(-0.5, 0.5), self.random.uniform(0, 0.7)
                angle = self.random.uniform(0, 2 * M_PI)
                # it stays if this attempt comes to nothing
                self.data.qvel[self.qvel_of_thing[0]] = self.random.uniform(-5, 5)
            self.data.qpos[self.qpos_of_thing[0]] = x
            self.data.qpos[self.qpos_of_thing[1]] = z
            self.data.qpos[self.qpos_of_thing[2]] = angle
            self.forward()
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        self.put_arm(obs)
        if self.fully_observable:
            self.put_pose(obs, self.hand)
            self.put_pose(obs, self.thing)
            obs.put(self.data.qvel, self.qvel_of_thing)
            self.put_pose(obs, self.target)
        return 0

    cdef double closeness(self, int pair) noexcept nogil:
        return gaussian(self.distance(self.sites[pair], self.sites_of_target[pair]), 0, 0.01, 0.01 * 2)

    cdef double get_reward(self) except? -1 nogil:
        cdef double grasps, brings
        if not self.is_peg:
            return self.closeness(0)
        grasps = (self.closeness(0) + self.closeness(1)) / 2
        brings = (self.closeness(2) + self.closeness(3)) / 2
        return max(brings, grasps / 3)


cdef class Stacker(Arm):
    """An arm stacks two or four boxes so that one is at a target.

    Follows `dm_control.suite.stacker` 1.0.50.

    Observation: float64 `arm_pos` (8, 2), `arm_vel` (8,), `touch` (5,); and, if fully observable, `hand_pos` (4,),
        `box_pos` (n, 4), `box_vel` (3 * n,), `target_pos` (2,).
    Action: float64 (5,) in [-1, 1]: the torques.
    Reward: In [0, 1]: how close a box is to the target, with the hand away from the target.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("stacker", fully_observable=specs.FULLY_OBSERVABLE))

    cdef vector[int] boxes, sites, qpos_of_boxes, qvel_of_boxes      # the last two: x, z, y of each
    cdef int target, target_geom, target_site, grasp

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "stacker", ("body_pos",))
        names = [f"box{k}" for k in range(int(spec.options["task"].removeprefix("stack_")))]
        self.boxes = [self.body(name) for name in names]
        self.sites = [self.site(name) for name in names]
        self.qpos_of_boxes = [self.qpos_of(f"{name}_{axis}") for name in names for axis in "xzy"]
        self.qvel_of_boxes = [self.qvel_of(f"{name}_{axis}") for name in names for axis in "xyz"]
        self.target, self.target_geom = self.body("target"), self.geom("target")
        self.target_site, self.grasp = self.site("target"), self.site("grasp")

    cdef int begin_episode(self) except -1 nogil:
        cdef double* target = self.own.body_pos + 3 * self.target
        cdef int attempts = 0, height
        cdef size_t k
        while not self.is_free(&attempts):
            self.draw_arm()
            height = 2 * <int>self.random.integer(self.boxes.size()) + 1
            target[2] = self.model.geom_size[3 * self.target_geom] * height
            target[0] = self.random.uniform(-0.37, 0.37)
            for k in range(self.boxes.size()):
                self.data.qpos[self.qpos_of_boxes[3 * k]] = self.random.uniform(0.1, 0.3)
                self.data.qpos[self.qpos_of_boxes[3 * k + 1]] = self.random.uniform(0, 0.7)
                self.data.qpos[self.qpos_of_boxes[3 * k + 2]] = self.random.uniform(0, 2 * M_PI)
            self.forward()
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef size_t k
        self.put_arm(obs)
        if self.fully_observable:
            self.put_pose(obs, self.hand)
            for k in range(self.boxes.size()):
                self.put_pose(obs, self.boxes[k])
            obs.put(self.data.qvel, self.qvel_of_boxes)
            obs.put(self.data.xpos[3 * self.target])
            obs.put(self.data.xpos[3 * self.target + 2])
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double size = self.model.geom_size[3 * self.target_geom]
        cdef double nearest = self.distance(self.sites[0], self.target_site)
        cdef size_t k
        for k in range(1, self.sites.size()):
            nearest = min(nearest, self.distance(self.sites[k], self.target_site))
        return gaussian(nearest, 0, 0, 2 * size) * gaussian(self.distance(self.grasp, self.target_site), 0.1, INFINITY,
                                                            0.01)
