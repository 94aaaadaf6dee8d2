# The Shadow hand: fingertips that are to meet, and things that are to be turned.
from weakref import WeakKeyDictionary

from cypool.envs.robotics import specs
from cypool.envs.robotics.goals import parallel_rotations
from cypool.envs.robotics.tables import FINGERS, HAND_QPOS, RANGES

from libc.math cimport M_PI
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport clip, log
from cypool.envs.shared.mujoco cimport guard, libmujoco
from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel
from cypool.envs.shared.mujoco.mujoco_common cimport Model
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.robotics.rotations cimport (angle_between, euler2quat, normalize, quat2euler, quat_mul,
                                             quat_of)
from cypool.envs.shared.lanes.mujoco_lanes cimport SimulationInLanes
from cypool.envs.shared.lanes.record cimport NO_OUTPUTS, SENSED_FORCES, SENSED_MOTION, SITE_XPOS
from cypool.random cimport integers

# of a reset; the reference tries for ever
cdef enum: HAND_MOST_ATTEMPTS = 100
cdef enum: POSITION_IGNORED, POSITION_FIXED, POSITION_RANDOM
cdef enum: ROTATION_XYZ, ROTATION_Z, ROTATION_PARALLEL
cdef enum: NO_TOUCH, TOUCH_SENSORDATA, TOUCH_BOOLEAN, TOUCH_LOG
# of a site where something is touched, and where nothing is
cdef float[4] TOUCHED = [1.0, 0.0, 0.0, 0.5]
cdef float[4] UNTOUCHED = [0.0, 0.5, 0.0, 0.2]
# by model and joints: where an episode begins, where the fingertips are then, and where the palm is
_hand_starts = WeakKeyDictionary()


cdef tuple hand_start_of(Model model, dict given):
    """Returns time, qpos and qvel of the reaching hand, its fingertips and its palm."""
    cdef const mjModel* m = model.mj
    cdef mjData* d
    cdef int site, palm = model.find(libmujoco.mjOBJ_BODY, "robot0:palm"), k
    joints = {f"robot0:{joint}": value for joint, value in HAND_QPOS.items()} if given is None else given
    starts = _hand_starts.setdefault(model, {})
    key = frozenset(joints.items())
    if key in starts:
        return starts[key]
    d = guard.make_data(m, False)
    try:
        for joint, value in joints.items():
            d.qpos[m.jnt_qposadr[model.find(libmujoco.mjOBJ_JOINT, joint)]] = value
        guard.forward(m, d)
        tips = []
        for finger in FINGERS:
            site = model.find(libmujoco.mjOBJ_SITE, f"robot0:S_{finger}tip")
            tips += [d.site_xpos[3 * site + k] for k in range(3)]
        start = d.time, [d.qpos[k] for k in range(m.nq)], [d.qvel[k] for k in range(m.nv)]
        starts[key] = start, tips, [d.xpos[3 * palm + k] for k in range(3)]
    finally:
        libmujoco.mj_deleteData(d)
    return starts[key]


cdef class Hand(RoboticsEnv):
    """Base of the robots with this hand."""
    cdef vector[int] joints, joints_qvel     # of the hand

    def __init__(self, spec, env_id, model, start, written):
        self.has_scene = True
        super().__init__(spec, env_id, model, start, specs.HAND_FRAME_SKIP, written)
        # it writes only what pictures show
        self.keeps_model = True
        # the wrist and the fingers, by number
        for name in self.loaded.names(libmujoco.mjOBJ_JOINT, self.model.njnt):
            if name.startswith("robot"):
                self.joints.push_back(self.qpos_of(name))
                self.joints_qvel.push_back(self.qvel_of(name))

    cdef void set_inputs(self, const void* action) noexcept nogil:
        """Moves each joint to a point in its range: the middle if there is no action."""
        cdef double low, high, part
        cdef int k
        for k in range(self.model.nu):
            low, high = self.model.actuator_ctrlrange[2 * k], self.model.actuator_ctrlrange[2 * k + 1]
            part = 0.0 if action == NULL else self.element(action, k)
            self.data.ctrl[k] = clip((high + low) / 2.0 + part * ((high - low) / 2.0), low, high)

    cdef void put_joints(self, ObsWriter* obs) noexcept nogil:
        obs.put(self.data.qpos, self.joints)
        obs.put(self.data.qvel, self.joints_qvel)


cdef class HandReach(Hand):
    """Make the thumb and a finger meet.

    Follows `gymnasium_robotics.envs.shadow_dexterous_hand.reach` 1.4.2.

    Observation: float64 `observation` (63,): positions and velocities of joints, positions of fingertips;
        `achieved_goal`, `desired_goal` (15,): positions of fingertips.
    Action: float32 (20,) in [-1, 1]: target positions of joints, scaled to their ranges.
    Reward: -1 while the fingertips are at least `distance_threshold` from the goal, else -0.0; "dense": minus the
        distance.
    Terminated: Never.
    Info: `is_success` float32.
    """
    describe = staticmethod(specs.hand_reach(load_robot))

    cdef double distance_threshold
    cdef int[5] tips, targets, fingers   # sites
    cdef double[15] initial_goal
    cdef double[3] palm

    def __init__(self, spec, env_id):
        cdef Model model = load_robot(specs.HAND_REACH)
        start, tips, palm = hand_start_of(model, spec.options["initial_qpos"])
        self.initial_goal = tips
        self.palm = palm
        super().__init__(spec, env_id, model, start, ("site_pos",))
        self.reads = 1 << SITE_XPOS
        self.distance_threshold = spec.options["distance_threshold"]
        self.tips = [self.site(f"robot0:S_{finger}tip") for finger in FINGERS]
        self.targets = [self.site(f"target{k}") for k in range(5)]
        self.fingers = [self.site(f"finger{k}") for k in range(5)]

    cdef int begin_episode(self) except -1 nogil:
        cdef double[3] meeting = [self.palm[0] + 0.0, self.palm[1] + -0.09, self.palm[2] + 0.05]
        cdef double[3] way
        cdef int64_t finger
        cdef double* tip
        cdef int thumb, k
        self.reset_data()
        self.set_initial()
        self.forward()
        finger = integers(self.rng, 0, 4)
        for k in range(3):
            meeting[k] += self.normal(0.005)
        self.goal.assign(self.initial_goal, self.initial_goal + 15)
        for thumb in range(1, -1, -1):
            tip = self.goal.data() + 3 * (4 if thumb else finger)
            for k in range(3):
                way[k] = meeting[k] - tip[k]
            normalize(way, 3)
            for k in range(3):
                tip[k] = meeting[k] - 0.005 * way[k]
        if self.uniform(0, 1) < 0.1:
            self.goal.assign(self.initial_goal, self.initial_goal + 15)
        self.find_goals()
        return 0

    cdef int step_robot(self, const void* action) except -1 nogil:
        self.set_inputs(action)
        self.simulate()
        self.find_goals()
        self.judge_distance(self.distance_threshold)
        return 0

    cdef void find_goals(self) noexcept nogil:
        cdef int k
        for k in range(5):
            memcpy(self.achieved_goal.data() + 3 * k, self.data.site_xpos + 3 * self.tips[k], 3 * sizeof(double))
        self.desired_goal = self.goal

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        self.put_joints(obs)
        obs.put(self.achieved_goal.data(), 15)
        return 0

    cdef int arrange_scene(self) except -1 nogil:
        cdef double[30] kept
        cdef int site, k, i
        for k in range(10):
            site = self.targets[k] if k < 5 else self.fingers[k - 5]
            memcpy(kept + 3 * k, self.own.site_pos + 3 * site, 3 * sizeof(double))
            for i in range(3):
                self.own.site_pos[3 * site + i] = (
                    (self.goal[3 * k + i] if k < 5 else self.achieved_goal[3 * k - 15 + i])
                    - (self.scene.site_xpos[3 * site + i] - kept[3 * k + i]))
        try:
            guard.forward(self.model, self.scene)
        finally:
            for k in range(10):
                site = self.targets[k] if k < 5 else self.fingers[k - 5]
                memcpy(self.own.site_pos + 3 * site, kept + 3 * k, 3 * sizeof(double))
        return 0


cdef class Manipulate(Hand):
    """Base of the tasks of moving and turning an object on the palm.

    Observation: float64 `observation` (61,): positions and velocities of joints, velocities, position and quaternion of
        the object; (153,) with 92 touch sensors; `achieved_goal`, `desired_goal` (7,): position and quaternion.
    Action: float32 (20,) in [-1, 1]: target positions of joints, scaled to their ranges.
    Reward: -1, or 0 at the goal; "dense": minus ten times the distance, minus the angle.
    Terminated: Never.
    Info: `is_success` float32.
    """
    cdef int position, rotation, touch
    cdef bint shows_touch                # whether colours of pictures depend on it
    cdef bint randomize_position, randomize_rotation, ignores_z
    cdef double distance_threshold, rotation_threshold
    cdef double[6] ranges
    cdef double[96] parallel             # 24 quaternions
    cdef int thing, thing_qvel, target, target_qvel, center
    cdef int hidden                      # a geom; -1: there is none
    cdef vector[int] sensors, sites      # of touch

    def __init__(self, spec, env_id):
        options = spec.options
        cdef Model model = load_robot(specs.manipulate_path(self.object_name, options["touch_get_obs"]))
        cdef int k
        super().__init__(spec, env_id, model, None, ("geom_rgba", "site_rgba"))
        goals = spec.goals
        self.position = specs.POSITIONS.index(options["target_position"])
        self.rotation = specs.ROTATIONS.index(options["target_rotation"])
        self.touch = NO_TOUCH if options["touch_get_obs"] is None else 1 + specs.TOUCH.index(options["touch_get_obs"])
        self.shows_touch = options["touch_visualisation"] == "on_touch"
        self.randomize_position = options.get("randomize_initial_position", True)
        self.randomize_rotation = options.get("randomize_initial_rotation", self.object_name != "pen")
        self.ignores_z = goals.ignores_z
        self.distance_threshold, self.rotation_threshold = goals.distance_threshold, goals.rotation_threshold
        self.ranges = [number for pair in RANGES for number in pair]
        self.parallel = parallel_rotations().ravel().tolist()
        self.thing, self.thing_qvel = self.qpos_of("object:joint"), self.qvel_of("object:joint")
        self.target, self.target_qvel = self.qpos_of("target:joint"), self.qvel_of("target:joint")
        self.center = self.site("object:center")
        self.hidden = self.loaded.named(libmujoco.mjOBJ_GEOM, "object_hidden")
        self.sees_sensors = self.touch != NO_TOUCH
        self.reads = 1 << SENSED_MOTION | 1 << SENSED_FORCES if self.sees_sensors else NO_OUTPUTS
        if self.touch != NO_TOUCH:
            for name in self.loaded.names(libmujoco.mjOBJ_SENSOR, self.model.nsensor):
                if "robot0:TS_" in name:
                    k = self.loaded.find(libmujoco.mjOBJ_SENSOR, name)
                    # the reference takes the number of a sensor for its place
                    self.sensors.push_back(k)
                    self.sites.push_back(self.site(name.replace("TS_", "T_")))
                    if options["touch_visualisation"] == "off":
                        self.own.site_rgba[4 * self.sites.back() + 3] = 0

    cdef int begin_episode(self) except -1 nogil:
        cdef double* quat = self.goal.data() + 3
        cdef int attempts = 0, k
        while not self.is_placed():
            attempts += 1
            if attempts == HAND_MOST_ATTEMPTS:
                raise RuntimeError("expected the object to stay on the palm, but it fell in "
                                   f"all {HAND_MOST_ATTEMPTS} attempts")
        for k in range(3):
            self.goal[k] = self.data.qpos[self.thing + k]
            if self.position == POSITION_RANDOM:
                self.goal[k] += self.uniform(self.ranges[2 * k], self.ranges[2 * k + 1])
        self.draw_rotation(quat)
        normalize(quat, 4)
        self.find_goals()
        return 0

    cdef void draw_rotation(self, double* quat) noexcept nogil:
        cdef double[3] axis = [0, 0, 1]
        cdef double angle = self.uniform(-M_PI, M_PI)
        cdef int k
        if self.rotation == ROTATION_XYZ:
            for k in range(3):
                axis[k] = self.uniform(-1.0, 1.0)
        quat_of(angle, axis, quat)
        if self.rotation == ROTATION_PARALLEL:
            quat_mul(quat, self.parallel + 4 * integers(self.rng, 0, 24), quat)

    cdef int is_placed(self) except -1 nogil:
        """Puts the object on the palm, waits, and returns whether it is still there.

        The data is not reset: warm start, controls and forces carry over from the previous episode.
        """
        cdef double* qpos = self.data.qpos + self.thing
        cdef double[3] place
        cdef double[4] quat, turn
        cdef int k, _k
        self.set_initial()
        self.forward()
        memcpy(place, qpos, sizeof(place))
        memcpy(quat, qpos + 3, sizeof(quat))
        if self.randomize_rotation:
            self.draw_rotation(turn)
            quat_mul(quat, turn, quat)
        if self.randomize_position and self.position != POSITION_FIXED:
            for k in range(3):
                place[k] += self.normal(0.005)
        normalize(quat, 4)
        memcpy(qpos, place, sizeof(place))
        memcpy(qpos + 3, quat, sizeof(quat))
        for _k in range(10):
            self.set_inputs(NULL)
            self.simulate()
        self.forward()
        return self.data.site_xpos[3 * self.center + 2] > 0.04

    cdef int step_robot(self, const void* action) except -1 nogil:
        cdef const double* achieved = self.achieved_goal.data()
        cdef double far = 0, turned
        cdef double[3] euler, wanted
        cdef double[4] quat
        cdef bint success
        self.set_inputs(action)
        self.simulate()
        self.find_goals()
        if self.position != POSITION_IGNORED:
            far = distance(achieved, self.goal.data(), 3)
        memcpy(quat, achieved + 3, sizeof(quat))
        if self.ignores_z:
            quat2euler(quat, euler)
            quat2euler(self.goal.data() + 3, wanted)
            euler[2] = wanted[2]
            euler2quat(euler, quat)
        turned = angle_between(quat, self.goal.data() + 3)
        success = far < self.distance_threshold and turned < self.rotation_threshold
        self.info[0] = success
        self.reward = -(10.0 * far + turned) if self.dense else success - 1.0
        return 0

    cdef void find_goals(self) noexcept nogil:
        memcpy(self.achieved_goal.data(), self.data.qpos + self.thing, 7 * sizeof(double))
        self.desired_goal = self.goal

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef double force
        cdef size_t k
        self.put_joints(obs)
        obs.put(self.data.qvel + self.thing_qvel, 6)
        obs.put(self.achieved_goal.data(), 7)
        for k in range(self.sensors.size()):
            force = self.data.sensordata[self.sensors[k]]
            if self.touch == TOUCH_BOOLEAN:
                force = force > 0.0
            elif self.touch == TOUCH_LOG:
                force = log(force + 1.0)
            obs.put(force)
        return 0

    cdef int arrange_scene(self) except -1 nogil:
        cdef mjData* d = self.scene
        cdef float* colour
        cdef size_t k
        memcpy(d.qpos + self.target, self.goal.data(), 7 * sizeof(double))
        # aside, so that it does not hide the thing
        if self.position == POSITION_IGNORED:
            d.qpos[self.target] += 0.15
        memset(d.qvel + self.target_qvel, 0, 6 * sizeof(double))
        if self.hidden >= 0:
            self.own.geom_rgba[4 * self.hidden + 3] = 1.0
        guard.forward(self.model, d)
        if not self.shows_touch:
            return 0
        for k in range(self.sites.size()):
            colour = self.own.site_rgba + 4 * self.sites[k]
            if d.sensordata[self.sensors[k]] != 0:
                memcpy(colour, TOUCHED, sizeof(TOUCHED))
            else:
                memcpy(colour, UNTOUCHED, sizeof(UNTOUCHED))
        return 0


cdef class HandBlock(Manipulate):
    """Move and turn a block.

    Follows `gymnasium_robotics.envs.shadow_dexterous_hand.manipulate_block` 1.4.2, and its version with touch sensors.

    Everything else is as in `Manipulate`.
    """
    object_name = "block"
    describe = staticmethod(specs.manipulate(object_name, load_robot))


cdef class HandEgg(Manipulate):
    """Move and turn an egg.

    Follows `gymnasium_robotics.envs.shadow_dexterous_hand.manipulate_egg` 1.4.2, and its version with touch sensors.

    Everything else is as in `Manipulate`.
    """
    object_name = "egg"
    describe = staticmethod(specs.manipulate(object_name, load_robot))


cdef class HandPen(Manipulate):
    """Move and turn a pen; rotations around its own axis do not count.

    Follows `gymnasium_robotics.envs.shadow_dexterous_hand.manipulate_pen` 1.4.2, and its version with touch sensors.

    Everything else is as in `Manipulate`.
    """
    object_name = "pen"
    describe = staticmethod(specs.manipulate(object_name, load_robot))
