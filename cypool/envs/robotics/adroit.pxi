# The Adroit hand: a door, a hammer, a pen and a ball.
from cypool.envs.robotics import specs
from cypool.util.arguments import check_reset_options

from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport clip, dot, norm, sum_of_squares
from cypool.envs.shared.mujoco cimport libmujoco
from cypool.envs.shared.mujoco.libmujoco cimport mjModel
from cypool.envs.shared.mujoco.mujoco_common cimport Model
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport SENSED_FORCES, SENSED_MOTION, SITE_XPOS, XPOS, XQUAT
from cypool.envs.robotics.rotations cimport euler2quat, quat2euler

# sparse rewards, with success and without
cdef double SUCCESS = 10.0, FAILURE = -0.1


cdef int set_gains(Model model) except -1:
    """Sets the gains of the actuators, as the reference does."""
    cdef mjModel* m = model.mj
    cdef int first, last, k
    for one, other, gain in (("A_WRJ1", "A_WRJ0", 10), ("A_FFJ3", "A_THJ0", 1)):
        first, last = model.find(libmujoco.mjOBJ_ACTUATOR, one), model.find(libmujoco.mjOBJ_ACTUATOR, other)
        for k in range(first, last + 1):
            m.actuator_gainprm[k * libmujoco.mjNGAIN] = gain
            m.actuator_gainprm[k * libmujoco.mjNGAIN + 1] = m.actuator_gainprm[k * libmujoco.mjNGAIN + 2] = 0
            m.actuator_biasprm[k * libmujoco.mjNBIAS] = m.actuator_biasprm[k * libmujoco.mjNBIAS + 2] = 0
            m.actuator_biasprm[k * libmujoco.mjNBIAS + 1] = -gain
    return 0


cdef class Adroit(RoboticsEnv):
    """Base of the four tasks.

    Action: float32 in [-1, 1]: target positions of joints, scaled to their ranges.
    Reward: 10 for success, else -0.1; "dense": the task's own.
    Terminated: Never.
    Info: `success` bool.
    """
    cdef vector[double] middle, half     # of the actuators' ranges
    cdef int palm                        # a site
    cdef dict parts                      # of `initial_state_dict`: sizes by names
    cdef vector[double*] placed          # where in the model the parts are that place objects; a subclass sets it
    cdef vector[int] placed_sizes
    cdef vector[double] given            # the next reset's `initial_state_dict`, part after part; empty: none

    def __init__(self, spec, env_id, task, written, placed):
        cdef double low, high
        cdef int k
        super().__init__(spec, env_id, load_robot(specs.adroit_path(task)), None, specs.ADROIT_FRAME_SKIP, written)
        for k in range(self.model.nu):
            low, high = self.model.actuator_ctrlrange[2 * k], self.model.actuator_ctrlrange[2 * k + 1]
            self.middle.push_back((low + high) / 2.0)
            self.half.push_back(0.5 * (high - low))
        self.reads, self.writes_model = 1 << XPOS | 1 << SITE_XPOS, True
        self.palm = self.site("S_grasp")
        self.parts = {"qpos": self.model.nq, "qvel": self.model.nv, **placed}
        self.placed_sizes = list(placed.values())

    cdef void place(self) noexcept nogil:
        """Draws the positions of objects, and writes them to the model."""

    cdef void begin_measures(self) noexcept nogil:
        """Remembers values of the episode, after the first forward."""

    cdef bint judge(self) noexcept nogil:
        """Returns whether the task is solved; sets the dense reward."""
        return False

    cdef int begin_episode(self) except -1 nogil:
        cdef vector[double] given
        cdef const double* numbers
        cdef size_t k
        # it is for one reset, also if that fails
        given.swap(self.given)
        self.reset_data()
        self.place()
        self.set_initial()
        self.forward()
        self.begin_measures()
        if not given.empty():
            memcpy(self.data.qpos, given.data(), self.model.nq * sizeof(double))
            memcpy(self.data.qvel, given.data() + self.model.nq, self.model.nv * sizeof(double))
            numbers = given.data() + self.model.nq + self.model.nv
            for k in range(self.placed.size()):
                memcpy(self.placed[k], numbers, self.placed_sizes[k] * sizeof(double))
                numbers += self.placed_sizes[k]
            self.forward()
        return 0

    cdef int take_reset_options(self, dict options) except -1:
        check_reset_options(options, ("initial_state_dict",))
        self.given = specs.check_initial_state(options.get("initial_state_dict"), self.parts)
        return 0

    cdef void set_inputs(self, const void* action) noexcept nogil:
        cdef int k
        for k in range(self.model.nu):
            self.data.ctrl[k] = self.middle[k] + self.element(action, k) * self.half[k]

    cdef int step_robot(self, const void* action) except -1 nogil:
        cdef bint success
        self.set_inputs(action)
        self.simulate()
        success = self.judge()
        if not self.dense:
            self.reward = SUCCESS if success else FAILURE
        self.info[0] = success
        return 0

    cdef const double* at(self, int site) noexcept nogil:
        return self.data.site_xpos + 3 * site

    cdef double apart(self, const double* one, const double* other) noexcept nogil:
        return distance_blas(one, other, 3)


cdef void put_difference(ObsWriter* obs, const double* one, const double* other) noexcept nogil:
    cdef int k
    for k in range(3):
        obs.put(one[k] - other[k])


cdef class AdroitDoor(Adroit):
    """A hand opens a door.

    Follows `gymnasium_robotics.envs.adroit_hand.adroit_door` 1.4.2.

    Observation: float64 (39,): joints, latch and hinge; palm, handle, and their difference; whether the door is open.
    Action: As in `Adroit`, (28,).

    Everything else is as in `Adroit`.
    """
    describe = staticmethod(specs.adroit("door", load_robot))

    cdef int hinge, handle

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "door", ("body_pos",), {"door_body_pos": 3})
        # the reference takes its place in qvel for that in qpos
        self.hinge, self.handle = self.qvel_of("door_hinge"), self.site("S_handle")
        self.placed.push_back(self.own.body_pos + 3 * self.body("frame"))

    cdef void place(self) noexcept nogil:
        cdef double* frame = self.placed[0]
        frame[0] = self.uniform(-0.3, -0.2)
        frame[1] = self.uniform(0.25, 0.35)
        frame[2] = self.uniform(0.252, 0.35)

    cdef bint judge(self) noexcept nogil:
        cdef double angle = self.data.qpos[self.hinge]
        if self.dense:
            self.reward = 0.1 * self.apart(self.at(self.palm), self.at(self.handle))
            self.reward += -0.1 * (angle - 1.57) * (angle - 1.57)
            self.reward += -1e-05 * sum_of_squares(self.data.qvel, self.model.nv)
            if angle > 0.2:
                self.reward += 2
            if angle > 1.0:
                self.reward += 8
            if angle > 1.35:
                self.reward += 10
        return angle >= 1.35

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef const double* qpos = self.data.qpos
        obs.put(qpos + 1, self.model.nq - 3)
        obs.put(qpos[self.model.nq - 1])
        obs.put(qpos[self.hinge])
        obs.put(self.at(self.palm), 3)
        obs.put(self.at(self.handle), 3)
        put_difference(obs, self.at(self.palm), self.at(self.handle))
        obs.put(1.0 if qpos[self.hinge] > 1.0 else -1.0)
        return 0


cdef class AdroitHammer(Adroit):
    """A hand hammers a nail into a board.

    Follows `gymnasium_robotics.envs.adroit_hand.adroit_hammer` 1.4.2.

    Observation: float64 (46,): joints; clipped velocities of the hammer; palm, hammer and its rotation; nail and the
        force on it.
    Action: As in `Adroit`, (26,).

    Everything else is as in `Adroit`.
    """
    describe = staticmethod(specs.adroit("hammer", load_robot))

    cdef int hammer                      # a body
    cdef int nail, head, nail_goal       # sites
    cdef int force                       # a sensor

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "hammer", ("body_pos",), {"board_pos": 3})
        self.sees_sensors = True
        self.reads |= 1 << XQUAT | 1 << SENSED_MOTION | 1 << SENSED_FORCES
        self.hammer = self.body("Object")
        self.placed.push_back(self.own.body_pos + 3 * self.body("nail_board"))
        self.nail, self.head, self.nail_goal = self.site("S_target"), self.site("tool"), self.site("nail_goal")
        # the reference takes the number of a sensor for its place
        self.force = self.loaded.find(libmujoco.mjOBJ_SENSOR, "S_nail")

    cdef void place(self) noexcept nogil:
        self.placed[0][2] = self.uniform(0.1, 0.25)

    cdef bint judge(self) noexcept nogil:
        cdef const double* hammer = self.data.xpos + 3 * self.hammer
        cdef double far = self.apart(self.at(self.nail), self.at(self.nail_goal))
        if self.dense:
            self.reward = 0.1 * self.apart(self.at(self.palm), hammer)
            self.reward -= self.apart(self.at(self.head), self.at(self.nail))
            self.reward -= 10 * far
            self.reward -= 0.01 * norm(self.data.qvel, self.model.nv)
            if hammer[2] > 0.04 and self.at(self.head)[2] > 0.04:
                self.reward += 2
            if far < 0.02:
                self.reward += 25
            if far < 0.01:
                self.reward += 75
        return far < 0.01

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef double[3] euler
        cdef int64_t k
        obs.put(self.data.qpos, self.model.nq - 6)
        for k in range(self.model.nv - 6, self.model.nv):
            obs.put(clip(self.data.qvel[k], -1.0, 1.0))
        obs.put(self.at(self.palm), 3)
        obs.put(self.data.xpos + 3 * self.hammer, 3)
        quat2euler(self.data.xquat + 4 * self.hammer, euler)
        obs.put(euler, 3)
        obs.put(self.at(self.nail), 3)
        obs.put(clip(self.data.sensordata[self.force], -1.0, 1.0))
        return 0


cdef class AdroitPen(Adroit):
    """A hand turns a pen to match the direction of another pen.

    Follows `gymnasium_robotics.envs.adroit_hand.adroit_pen` 1.4.2.

    Observation: float64 (45,): joints; position and velocities of the pen; both pens' directions; differences.
    Action: As in `Adroit`, (24,).

    Everything else is as in `Adroit`.
    """
    describe = staticmethod(specs.adroit("pen", load_robot))

    cdef int pen                         # a body
    cdef int ball, top, bottom, wanted_top, wanted_bottom    # sites

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "pen", ("body_quat",), {"desired_orien": 4})
        self.pen, self.ball = self.body("Object"), self.site("eps_ball")
        self.placed.push_back(self.own.body_quat + 4 * self.body("target"))
        self.top, self.bottom = self.site("object_top"), self.site("object_bottom")
        self.wanted_top, self.wanted_bottom = self.site("target_top"), self.site("target_bottom")
        # the lengths of both pens
        self.episode.assign(2, 1.0)

    cdef void place(self) noexcept nogil:
        cdef double[3] euler = [0, 0, 0]
        euler[0] = self.uniform(-1, 1)
        euler[1] = self.uniform(-1, 1)
        euler2quat(euler, self.placed[0])

    cdef void begin_measures(self) noexcept nogil:
        self.episode[0] = self.apart(self.at(self.top), self.at(self.bottom))
        self.episode[1] = self.apart(self.at(self.wanted_top), self.at(self.wanted_bottom))

    cdef void directions(self, double* pen, double* wanted) noexcept nogil:
        cdef int k
        for k in range(3):
            pen[k] = (self.at(self.top)[k] - self.at(self.bottom)[k]) / self.episode[0]
            wanted[k] = (self.at(self.wanted_top)[k] - self.at(self.wanted_bottom)[k]) / self.episode[1]

    cdef bint judge(self) noexcept nogil:
        cdef const double* place = self.data.xpos + 3 * self.pen
        cdef double[3] pen, wanted
        cdef double far = self.apart(place, self.at(self.ball)), similarity
        self.directions(pen, wanted)
        similarity = dot(pen, wanted, 3)
        if self.dense:
            self.reward = -far + similarity
            if far < 0.075 and similarity > 0.9:
                self.reward += 10
            if far < 0.075 and similarity > 0.95:
                self.reward += 50
            if place[2] < 0.075:
                self.reward -= 5
        return far < 0.075 and similarity > 0.95

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef const double* place = self.data.xpos + 3 * self.pen
        cdef double[3] pen, wanted
        self.directions(pen, wanted)
        obs.put(self.data.qpos, self.model.nq - 6)
        obs.put(place, 3)
        obs.put(self.data.qvel + self.model.nv - 6, 6)
        obs.put(pen, 3)
        obs.put(wanted, 3)
        put_difference(obs, place, self.at(self.ball))
        put_difference(obs, pen, wanted)
        return 0


cdef class AdroitRelocate(Adroit):
    """A hand moves a ball to a target.

    Follows `gymnasium_robotics.envs.adroit_hand.adroit_relocate` 1.4.2.

    Observation: float64 (39,): joints; differences between palm, ball and target.
    Action: As in `Adroit`, (30,).

    Everything else is as in `Adroit`.
    """
    describe = staticmethod(specs.adroit("relocate", load_robot))

    cdef int ball                        # a body
    cdef int target                      # a site

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "relocate", ("body_pos", "site_pos"), {"obj_pos": 3, "target_pos": 3})
        self.ball, self.target = self.body("Object"), self.site("target")
        self.placed.push_back(self.own.body_pos + 3 * self.ball)
        self.placed.push_back(self.own.site_pos + 3 * self.target)

    cdef void place(self) noexcept nogil:
        cdef double* ball = self.placed[0]
        cdef double* target = self.placed[1]
        ball[0] = self.uniform(-0.15, 0.15)
        ball[1] = self.uniform(-0.15, 0.3)
        target[0] = self.uniform(-0.2, 0.2)
        target[1] = self.uniform(-0.2, 0.2)
        target[2] = self.uniform(0.15, 0.35)

    cdef bint judge(self) noexcept nogil:
        cdef const double* ball = self.data.xpos + 3 * self.ball
        cdef double far = self.apart(ball, self.at(self.target))
        if self.dense:
            self.reward = 0.1 * self.apart(self.at(self.palm), ball)
            if ball[2] > 0.04:
                self.reward += 1.0
                self.reward += -0.5 * self.apart(self.at(self.palm), self.at(self.target))
                self.reward += -0.5 * far
            if far < 0.1:
                self.reward += 10.0
            if far < 0.05:
                self.reward += 20.0
        return far < 0.1

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef const double* ball = self.data.xpos + 3 * self.ball
        obs.put(self.data.qpos, self.model.nq - 6)
        put_difference(obs, self.at(self.palm), ball)
        put_difference(obs, self.at(self.palm), self.at(self.target))
        put_difference(obs, ball, self.at(self.target))
        return 0
