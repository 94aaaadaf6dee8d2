# The base class of all robots of Gymnasium-Robotics.
from cypool.envs.shared.mujoco.specs import check_sizes
from cypool.envs.robotics import specs
from cypool.envs.robotics.models import SIZES, asset_path
from cypool.state import check_state

from libc.math cimport sqrt
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.env cimport Slot
from cypool.envs.shared.numerics.numpy_math cimport clip, norm, sum_of_squares
from cypool.envs.shared.mujoco cimport guard, libmujoco, saved
from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel
from cypool.envs.shared.mujoco.mujoco_common cimport Camera, Edit, Model, Simulation, Variation, held, load_edited
from cypool.envs.shared.lanes.mujoco_lanes cimport READS_UNKNOWN, SimulationInLanes
from cypool.random cimport normal as draw_normal, uniform as draw_uniform


cpdef Model load_robot(str path):
    """Returns the model of an asset file of the package, modified as the package does."""
    cdef Edit edit = NULL
    cdef Model model
    if path.startswith("fetch/"):
        edit = reset_welds
    elif path.startswith("adroit_hand/"):
        edit = set_gains
    model = load_edited(asset_path(path), edit)
    check_sizes(model, SIZES[path], model.path)
    return model


cdef double distance(const double* a, const double* b, int n) noexcept nogil:        # np.linalg.norm(a - b, axis=-1)
    cdef double[16] way
    cdef int k
    for k in range(n):
        way[k] = a[k] - b[k]
    return sqrt(sum_of_squares(<const double*>way, n))


cdef double distance_blas(const double* a, const double* b, int n) noexcept nogil:   # np.linalg.norm(a - b)
    cdef double[16] way
    cdef int k
    for k in range(n):
        way[k] = a[k] - b[k]
    return norm(way, n)


cdef class RoboticsEnv(SimulationInLanes):
    """Base of the robots of Gymnasium-Robotics.

    Follows gymnasium-robotics 1.4.2, operation by operation and draw by draw. A MuJoCo error, or any warning except for
    instability, becomes this environment's `EnvError`.

    Info: the infos of the robot, and `unstable` int32, as in `MujocoEnv`.
    """
    describe = staticmethod(specs.robot)

    cdef mjModel* own                    # the model with a separate struct; fields that __init__ names are written
    cdef int frame_skip                  # MuJoCo's steps in one of ours
    cdef double dt                       # seconds of a step
    cdef vector[double] init_qpos, init_qvel
    cdef double init_time
    cdef bint dense                      # the reward
    cdef bint sees_sensors               # whether sensors are observed
    cdef vector[double] goal             # the one that counts now
    cdef vector[double] achieved_goal, desired_goal  # as observed; empty: there are none
    cdef vector[double] episode          # a subclass's numbers of an episode; it sets the size
    cdef mjData* scene                   # owned; shown by pictures that need more than data; NULL: data is drawn
    cdef bint has_scene

    def __dealloc__(self):
        if self.scene != NULL:
            libmujoco.mj_deleteData(self.scene)

    def __init__(self, spec, env_id, Model model, start, int frame_skip, written=()):
        """Makes an environment, which writes to these fields of the model.

        An episode starts with this time, these positions and velocities; None: the model's.
        """
        options = spec.options
        self.reads = READS_UNKNOWN
        self.loaded = held(model)
        self.variation = Variation(model, options["randomize"] or {}, tuple(name.encode() for name in written))
        self.own = self.variation.edit()
        # one struct of pointers for all, if it can be: 6 KB that stay in the cache
        self.model = self.own if written or options["randomize"] or model.mj.nsensor > 0 else model.mj
        self.camera = Camera(model, options)
        self.data = guard.make_data(self.model, self.camera.sees_contacts)
        self.frame_skip = self.num_mj_steps = frame_skip
        self.dt = frame_skip * self.model.opt.timestep
        if start is None:
            self.init_qpos.assign(self.data.qpos, self.data.qpos + self.model.nq)
            self.init_qvel.assign(self.data.qvel, self.data.qvel + self.model.nv)
        else:
            self.init_time, self.init_qpos, self.init_qvel = start
        self.dense = options["reward_type"] == "dense"
        obs_size = 0
        for name, part in spec.observations:
            if name is None or name == "observation":
                *_, obs_size = part.shape
            else:
                self.goal.resize(part.low.size)
        self.achieved_goal = self.desired_goal = self.goal
        self.set_up_info(spec)
        self.set_up_frames(spec, 0 if options["from_pixels"] else obs_size)
        if self.from_pixels:
            self._set_up_scene()

    # have to be implemented, and so has `get_obs`; as in `Env`, they run on a pool thread, without the GIL

    cdef int begin_episode(self) except -1 nogil:                    # sets goals and info
        raise NotImplementedError("begin_episode")

    cdef int step_robot(self, const void* action) except -1 nogil:   # sets goals, info, reward and terminated
        raise NotImplementedError("step_robot")

    # can be implemented, and so can `check_episode`

    cdef int arrange_scene(self) except -1 nogil:        # changes `scene`, and `own`, which it leaves as it was
        raise NotImplementedError("arrange_scene")

    cdef int reset(self) except -1 nogil:
        self.clear_info()
        if not self.variation.ranges.empty():
            self.variation.draw(self.rng, self.data)
        self.begin_episode()
        if self.from_pixels:
            self.camera.set_viewpoint(self.model, self.data)
        self.push_frame()
        self.frames.fill(0)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.clear_info()
        self.step_robot(action)
        self.push_frame()
        return 0

    cdef int reset_data(self) except -1 nogil:
        guard.reset_data(self.model, self.data)
        self.leave_lanes()
        return 0

    cdef void set_initial(self) noexcept nogil:          # time, positions and velocities
        self.data.time = self.init_time
        memcpy(self.data.qpos, self.init_qpos.data(), self.model.nq * sizeof(double))
        memcpy(self.data.qvel, self.init_qvel.data(), self.model.nv * sizeof(double))

    cdef int forward(self) except -1 nogil:
        self.leave_lanes()
        self.info[self.info.size() - 1] += guard.forward(self.model, self.data)
        return 0

    cdef int simulate(self) except -1 nogil:             # for the time of a step
        cdef int unstable
        if self.take_result():
            return 0
        self.leave_lanes()
        if self.model.nsensor > 0:
            unstable = guard.simulate_unseen(self.own, self.data, self.frame_skip, self.sees_sensors)
        else:
            unstable = guard.simulate(self.model, self.data, self.frame_skip, False)
        self.info[self.info.size() - 1] += unstable
        return 0

    cdef int materialize(self) except -1 nogil:
        # steps leave out sensors that nobody sees
        cdef vector[double] sensed
        if not self.sees_sensors:
            sensed.assign(self.data.sensordata, self.data.sensordata + self.model.nsensordata)
        SimulationInLanes.materialize(self)
        memcpy(self.data.sensordata, sensed.data(), sensed.size() * sizeof(double))
        return 0

    cdef double element(self, const void* action, int k) noexcept nogil:     # of the action, in [-1, 1]
        return clip((<const float*>action)[k] if self.action_is_single else (<const double*>action)[k], -1.0, 1.0)

    cdef void judge_distance(self, double threshold) noexcept nogil:         # of the goals; sets reward and is_success
        cdef double far = distance(self.achieved_goal.data(), self.goal.data(), <int>self.goal.size())
        self.info[0] = far < threshold
        if self.dense:
            self.reward = -far
        else:
            self.reward = -1.0 if far > threshold else -0.0

    cdef double uniform(self, double low, double high) noexcept nogil:
        return draw_uniform(self.rng, low, high)

    cdef double normal(self, double deviation) noexcept nogil:
        return draw_normal(self.rng, 0, deviation)

    # of the model, by their names: numbers, or places in data

    cdef int body(self, str name) except -1:
        return self.loaded.find(libmujoco.mjOBJ_BODY, name)

    cdef int site(self, str name) except -1:
        return self.loaded.find(libmujoco.mjOBJ_SITE, name)

    cdef int qpos_of(self, str joint) except -1:
        return self.model.jnt_qposadr[self.loaded.find(libmujoco.mjOBJ_JOINT, joint)]

    cdef int qvel_of(self, str joint) except -1:
        return self.model.jnt_dofadr[self.loaded.find(libmujoco.mjOBJ_JOINT, joint)]

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef Slot rest = out[0]
        if not self.goal.empty():
            self._write_goal(&self.achieved_goal, out.obs[0])
            self._write_goal(&self.desired_goal, out.obs[1])
            rest.obs = out.obs + 2
        return SimulationInLanes.observe(self, &rest)

    cdef int _write_goal(self, const vector[double]* goal, void* out) noexcept nogil:
        cdef size_t k
        for k in range(goal.size()):
            if self.obs_is_single:
                (<float*>out)[k] = <float>goal.data()[k]
            else:
                (<double*>out)[k] = goal.data()[k]
        return 0

    cdef int _set_up_scene(self) except -1:
        if self.has_scene and self.scene == NULL:
            self.scene = guard.make_data(self.model, True)
        return 0

    cdef int draw(self, unsigned char* out) except -1 nogil:
        cdef mjData* scene = self.scene
        self.materialize()
        if scene == NULL:
            return self.camera.render_into(self.model, self.data, out)
        # a copy: the reference changes the episode to show its goal
        memcpy(scene.buffer, self.data.buffer, self.data.nbuffer)
        scene.time = self.data.time
        saved.set_awake(scene, saved.get_awake(self.data))
        self.arrange_scene()
        return self.camera.render_into(self.model, scene, out)

    cdef object render(self):
        self._set_up_scene()
        return SimulationInLanes.render(self)

    cdef object save_own(self):
        return (tuple(self.info), tuple(self.goal), tuple(self.achieved_goal), tuple(self.desired_goal),
                tuple(self.episode), self.variation.contents())

    cdef object check_own(self, object state):
        if type(state) is not tuple or len(state) != 6:
            raise ValueError("expected six robot values")
        info, *goals, episode, written = state
        numbers = [float] * <Py_ssize_t>self.goal.size()
        if type(written) is not bytes or len(written) != len(self.variation.contents()):
            raise ValueError("expected the model fields that the robot writes to")
        goals = [check_state(goal, *numbers) for goal in goals]
        return self.check_info(info), goals, self.check_episode(episode), written

    cdef object check_episode(self, object values):      # an earlier tuple(self.episode), or raises
        return check_state(values, *[float] * <Py_ssize_t>self.episode.size())

    cdef int load_own(self, object checked) except -1:
        self.info, goals, self.episode, written = checked
        self.variation.set_contents(written)
        self.goal, self.achieved_goal, self.desired_goal = goals
        self.leave_lanes()
        return 0

    cdef int copy_own(self, Simulation other) except -1 nogil:
        self.goal, self.episode = (<RoboticsEnv>other).goal, (<RoboticsEnv>other).episode
        self.achieved_goal = (<RoboticsEnv>other).achieved_goal
        self.desired_goal = (<RoboticsEnv>other).desired_goal
        return self.copy_lanes(<SimulationInLanes>other)
