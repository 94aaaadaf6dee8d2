# Fetch: an arm with a gripper that reaches, pushes, slides or picks up.
from weakref import WeakKeyDictionary

from cypool.envs.robotics import specs
from cypool.envs.robotics.fetch_tasks import TASKS as FETCH_TASKS

from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport matrix_times_vector
from cypool.envs.shared.mujoco cimport guard, libmujoco
from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel
from cypool.envs.shared.mujoco.mujoco_common cimport Model, Simulation
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.robotics.rotations cimport mat2euler
from cypool.envs.shared.lanes.mujoco_lanes cimport SimulationInLanes
from cypool.envs.shared.lanes.record cimport NO_OUTPUTS, Record

cdef enum: FETCH_MOST_ATTEMPTS = 10_000
cdef double THRESHOLD = specs.THRESHOLD
# by model: where an episode begins, where the gripper is, and how high the object lies
_fetch_starts = WeakKeyDictionary()


cdef int reset_welds(Model model) except -1:
    """Makes the mocap body hold the gripper where it is."""
    cdef mjModel* m = model.mj
    cdef double[7] data = [0, 0, 0, 0, 0, 0, 1]
    cdef int k
    for k in range(m.neq):
        if m.eq_type[k] == libmujoco.mjEQ_WELD:
            memcpy(m.eq_data + k * libmujoco.mjNEQDATA, data, sizeof(data))
    return 0


cdef tuple fetch_start_of(Model model, str name):
    """Returns how episodes start: time, qpos and qvel, the position of the gripper, and the height of the object."""
    cdef const mjModel* m = model.mj
    cdef mjData* d
    cdef int mocap, grip = model.find(libmujoco.mjOBJ_SITE, "robot0:grip"), k
    if model in _fetch_starts:
        return _fetch_starts[model]
    task = FETCH_TASKS[name]
    d = guard.make_data(m, False)
    try:
        joints = {"robot0:slide0": (task.slide,), "robot0:slide1": (0.48,), "robot0:slide2": (0.0,)}
        if task.thing:
            joints["object0:joint"] = task.thing
        for joint, values in joints.items():
            for k, value in enumerate(values, m.jnt_qposadr[model.find(libmujoco.mjOBJ_JOINT, joint)]):
                d.qpos[k] = value
        guard.forward(m, d)
        guard.forward(m, d)
        mocap = m.body_mocapid[model.find(libmujoco.mjOBJ_BODY, "robot0:mocap")]
        for k, value in enumerate((-0.498, 0.005, -0.431 + task.extra_height)):
            d.mocap_pos[3 * mocap + k] = value + d.site_xpos[3 * grip + k]
        for k, value in enumerate((1, 0, 1, 0)):
            d.mocap_quat[4 * mocap + k] = value
        guard.simulate(m, d, 10 * specs.FETCH_FRAME_SKIP, False)
        height = 0.0
        if task.thing:
            height = d.site_xpos[3 * model.find(libmujoco.mjOBJ_SITE, "object0") + 2]
        start = d.time, [d.qpos[k] for k in range(m.nq)], [d.qvel[k] for k in range(m.nv)]
        _fetch_starts[model] = start, [d.site_xpos[3 * grip + k] for k in range(3)], height
    finally:
        libmujoco.mj_deleteData(d)
    return _fetch_starts[model]


cdef class Fetch(RoboticsEnv):
    """Base of the four tasks.

    Action: float32 (4,) in [-1, 1]: the movement of the gripper, and its opening.
    Reward: -1 while the goal is at least 5 cm away, else -0.0; "dense": minus the distance.
    Terminated: Never.
    Info: `is_success` float32.
    """
    cdef bint block_gripper, in_the_air
    cdef double offset, obj_range, target_range, height
    cdef double[3] gripper               # where it is when an episode begins
    cdef int grip, thing                 # sites; -1: there is no object
    cdef int qpos_of_thing, target
    cdef int mocap, welded               # the body that moves the robot, and the one that follows
    cdef vector[int] fingers             # positions of two joints
    cdef int[2] fingers_qvel
    cdef bint is_closed                  # the gripper is, as it is blocked
    cdef double[2] opening               # how far it was open before
    cdef vector[double] jacobian

    def __init__(self, spec, env_id):
        cdef Model model = load_robot(specs.fetch_path(self.task))
        cdef int k
        start, gripper, self.height = fetch_start_of(model, self.task)
        self.gripper = gripper
        self.has_scene = True
        super().__init__(spec, env_id, model, start, specs.FETCH_FRAME_SKIP, ("site_pos",))
        # it writes only while a picture is drawn
        self.keeps_model = True
        given = FETCH_TASKS[self.task]
        # what it reads follows from mj_forward, or from the last of MuJoCo's steps, which mj_step repeats
        self.reads = NO_OUTPUTS
        self.block_gripper, self.in_the_air, self.offset = given.block_gripper, given.in_the_air, given.offset
        self.obj_range, self.target_range = given.obj_range, given.target_range
        self.grip, self.target, self.thing = self.site("robot0:grip"), self.site("target0"), -1
        if given.thing:
            self.thing, self.qpos_of_thing = self.site("object0"), self.qpos_of("object0:joint")
        names = "robot0:r_gripper_finger_joint", "robot0:l_gripper_finger_joint"
        self.fingers = [self.qpos_of(name) for name in names]
        self.fingers_qvel = [self.qvel_of(name) for name in names]
        self.jacobian.resize(3 * self.model.nv)
        for k in range(self.model.neq):
            if self.model.eq_type[k] == libmujoco.mjEQ_WELD:
                self.mocap = self.model.body_mocapid[self.model.eq_obj1id[k]]
                self.welded = self.model.eq_obj2id[k]
                if self.mocap < 0:
                    self.mocap = self.model.body_mocapid[self.model.eq_obj2id[k]]
                    self.welded = self.model.eq_obj1id[k]

    cdef int begin_episode(self) except -1 nogil:
        cdef double[2] place = [self.gripper[0], self.gripper[1]]
        cdef int attempts = 0, k
        self.reset_data()
        self.set_initial()
        if self.thing >= 0:
            while distance_blas(place, self.gripper, 2) < 0.1:
                for k in range(2):
                    place[k] = self.gripper[k] + self.uniform(-self.obj_range, self.obj_range)
                attempts += 1
                if attempts == FETCH_MOST_ATTEMPTS:
                    raise RuntimeError(f"found no spot for the object in {FETCH_MOST_ATTEMPTS} attempts")
            memcpy(self.data.qpos + self.qpos_of_thing, place, sizeof(place))
        self.forward()
        for k in range(3):
            self.goal[k] = self.gripper[k] + self.uniform(-self.target_range, self.target_range)
        if self.thing >= 0:
            self.goal[0] += self.offset
            self.goal[2] = self.height
            if self.in_the_air and self.uniform(0, 1) < 0.5:
                self.goal[2] += self.uniform(0, 0.45)
        self.find_goals()
        return 0

    cdef void set_inputs(self, const void* action) noexcept nogil:
        cdef mjData* d = self.data
        cdef const mjModel* m = self.model
        cdef double[4] moves, turn = [1, 0, 1, 0]
        cdef double value
        cdef int64_t k
        for k in range(4):
            moves[k] = self.element(action, k)
        for k in range(3):
            # in the dtype of the action
            moves[k] = <float>moves[k] * <float>0.05 if self.action_is_single else moves[k] * 0.05
        for k in range(m.nu):
            value = 0.0 if self.block_gripper else moves[3]
            if m.actuator_biastype[k] != 0:
                value += d.qpos[m.jnt_qposadr[m.actuator_trnid[2 * k]]]
            d.ctrl[k] = value
        # from where the gripper was before the last of MuJoCo's steps
        for k in range(3):
            d.mocap_pos[3 * self.mocap + k] = d.xpos[3 * self.welded + k] + moves[k]
        for k in range(4):
            d.mocap_quat[4 * self.mocap + k] = d.xquat[4 * self.welded + k] + turn[k]

    cdef int step_robot(self, const void* action) except -1 nogil:
        cdef int k
        self.set_inputs(action)
        self.is_closed = False
        self.simulate()
        if self.block_gripper:
            self.is_closed = True
            for k in range(2):
                self.opening[k] = self.data.qpos[self.fingers[k]]
            self.info[self.info.size() - 1] += self.close_gripper()
        else:
            self.materialize()
        self.find_goals()
        self.judge_distance(THRESHOLD)
        return 0

    cdef int close_gripper(self) except -1 nogil:
        # a step in lanes remains one that MuJoCo can repeat
        self.data.qpos[self.fingers[0]] = self.data.qpos[self.fingers[1]] = 0.0
        return guard.forward(self.model, self.data)

    cdef int materialize(self) except -1 nogil:
        cdef int k
        if not self.is_closed or self.record == NULL or not (<Record*>self.record).is_stale:
            return SimulationInLanes.materialize(self)
        for k in range(2):
            self.data.qpos[self.fingers[k]] = self.opening[k]
        try:
            SimulationInLanes.materialize(self)
        finally:
            self.close_gripper()
        return 0

    cdef int copy_own(self, Simulation other) except -1 nogil:
        self.is_closed, self.opening = (<Fetch>other).is_closed, (<Fetch>other).opening
        return RoboticsEnv.copy_own(self, other)

    cdef void find_goals(self) noexcept nogil:
        cdef int site = self.thing if self.thing >= 0 else self.grip
        self.achieved_goal.assign(self.data.site_xpos + 3 * site, self.data.site_xpos + 3 * site + 3)
        self.desired_goal = self.goal

    cdef void velocity(self, int site, bint turning, double* out) noexcept nogil:
        cdef double* jacobian = self.jacobian.data()
        cdef double* none = NULL
        cdef int k
        memset(jacobian, 0, self.jacobian.size() * sizeof(double))
        libmujoco.mj_jacSite(self.model, self.data, none if turning else jacobian, jacobian if turning else none, site)
        matrix_times_vector(jacobian, self.data.qvel, self.model.nv, out)
        for k in range(3):
            out[k] *= self.dt

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef const mjData* d = self.data
        cdef const double* grip = d.site_xpos + 3 * self.grip
        cdef const double* thing = d.site_xpos + 3 * self.thing
        cdef double[3] speed, numbers
        cdef int k
        self.velocity(self.grip, False, speed)
        obs.put(grip, 3)
        if self.thing >= 0:
            obs.put(thing, 3)
            for k in range(3):
                obs.put(thing[k] - grip[k])
        obs.put(d.qpos, self.fingers)
        if self.thing >= 0:
            mat2euler(d.site_xmat + 9 * self.thing, numbers)
            obs.put(numbers, 3)
            self.velocity(self.thing, False, numbers)
            for k in range(3):
                obs.put(numbers[k] - speed[k])
            self.velocity(self.thing, True, numbers)
            obs.put(numbers, 3)
        obs.put(speed, 3)
        for k in range(2):
            obs.put(d.qvel[self.fingers_qvel[k]] * self.dt)
        return 0

    cdef int arrange_scene(self) except -1 nogil:
        cdef double* place = self.own.site_pos + 3 * self.target
        cdef double[3] kept
        cdef int k
        memcpy(kept, place, sizeof(kept))
        # less the offset of the first site, whichever that is
        for k in range(3):
            place[k] = self.goal[k] - (self.scene.site_xpos[k] - self.own.site_pos[k])
        try:
            guard.forward(self.model, self.scene)
        finally:
            memcpy(place, kept, sizeof(kept))
        return 0


cdef class FetchReach(Fetch):
    """Move the gripper to a point.

    Follows `gymnasium_robotics.envs.fetch.reach` 1.4.2.

    Observation: float64 `observation` (10,): position, opening and velocities of the gripper; `achieved_goal`,
        `desired_goal` (3,).

    Everything else is as in `Fetch`.
    """
    task = "reach"
    describe = staticmethod(specs.fetch(task, load_robot))


cdef class FetchPush(Fetch):
    """Push a block to a place on the table.

    Follows `gymnasium_robotics.envs.fetch.push` 1.4.2.

    Observation: float64 `observation` (25,): as in `FetchReach`, and position, rotation and velocities of the object;
        `achieved_goal`, `desired_goal` (3,): of the object.

    Everything else is as in `Fetch`.
    """
    task = "push"
    describe = staticmethod(specs.fetch(task, load_robot))


cdef class FetchSlide(Fetch):
    """Hit a puck so that it slides to a place beyond the gripper's reach.

    Follows `gymnasium_robotics.envs.fetch.slide` 1.4.2.

    Observation: As in `FetchPush`.

    Everything else is as in `Fetch`.
    """
    task = "slide"
    describe = staticmethod(specs.fetch(task, load_robot))


cdef class FetchPickAndPlace(Fetch):
    """Bring a block to a point on the table or in the air.

    Follows `gymnasium_robotics.envs.fetch.pick_and_place` 1.4.2.

    Observation: As in `FetchPush`.

    Everything else is as in `Fetch`.
    """
    task = "pick_and_place"
    describe = staticmethod(specs.fetch(task, load_robot))
