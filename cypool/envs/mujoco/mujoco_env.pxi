# The base class of MuJoCo's robots. Its `.pxd` lists what a subclass has, and what it implements.
from cypool.envs.mujoco import specs

from cypool.cfunctions.env_methods cimport check_status
from cypool.envs.mujoco_common cimport guard
from cypool.envs.mujoco_common.mujoco_common cimport Camera, Simulation, Variation, held, load_model
from cypool.random cimport normal as draw_normal, uniform as draw_uniform

from cypool.envs.common.numpy_math cimport sum_of_squares

from cypool.env cimport STEP_ALONE, Rows
from cypool.envs.mujoco_lanes.mujoco_lanes cimport (
    CFRC_EXT,
    CINERT,
    CVEL,
    NO_PARTS,
    QFRC_ACTUATOR,
    QFRC_CONSTRAINT,
    SITE_XPOS,
    TEN_LENGTH,
    TEN_VELOCITY,
    XIPOS,
    XPOS,
    Lanes,
    Record,
    lanes_of,
)

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.string cimport string

ctypedef int (*Part)(MujocoEnv env) noexcept nogil

cdef enum:
    MANY = 64                            # environments that lanes step at once
    FEW = 2                              # fewer are quicker with mj_step
    CHECK_EVERY = 997                    # of MuJoCo's steps in lanes, mj_step repeats one
    READS_UNKNOWN = -1


cdef class MujocoEnv(Simulation):
    """Base of the environments that MuJoCo simulates; a subclass is one robot.

    Gymnasium's robots are examples: `half_cheetah.pyx` is the one to read first. Like these, a subclass specifies in
    `describe` what is observed, and implements three methods: `reset_model`, which chooses where an episode begins,
    `step_model`, which applies the action and sets the reward, and `get_obs`.

    What MuJoCo reports as an error, or as a warning that is not one of instability, is raised by the step and becomes
    the `EnvError` of this environment. In an unstable simulation MuJoCo itself starts over from the model's initial
    position; the episode continues from there, as it does in Gymnasium, and `info["unstable"]` says how often it did.

    Info: the infos of the robot, and `unstable` int32.
    """
    describe = staticmethod(specs.robot)

    def __init__(self, spec, env_id):
        options = spec.options
        self.reads = READS_UNKNOWN
        self.loaded = held(load_model(options["xml_file"]))
        self.loaded.check(spec, type(self).describe)
        self.model = self.loaded.mj
        if options["randomize"] is not None:
            self.variation = Variation(self.loaded, options["randomize"])
            self.model = self.variation.view()
        self.camera = Camera(self.loaded, options)
        self.data = guard.make_data(self.model, self.camera.sees_contacts)
        self.frame_skip = options["frame_skip"]
        self.dt = self.model.opt.timestep * self.frame_skip
        self.init_qpos.assign(self.data.qpos, self.data.qpos + self.model.nq)
        self.init_qvel.assign(self.data.qvel, self.data.qvel + self.model.nv)
        *_, obs_size = spec.observation.shape
        self.set_up_frames(spec, 0 if options["from_pixels"] else obs_size)
        self.set_up_info(spec)

    def __dealloc__(self):
        cdef Record* record = record_of(self)
        del record

    cdef int reset_model(self) except -1 nogil:
        raise NotImplementedError("reset_model")

    cdef int step_model(self) except -1 nogil:
        raise NotImplementedError("step_model")

    cdef int reset_info(self) except -1 nogil:
        return 0

    cdef int reset(self) except -1 nogil:
        self.clear_info()
        if self.variation is not None:
            self.variation.draw(self.rng, self.data)
        guard.reset_data(self.model, self.data)
        forget_lanes(self)
        check_status("reset_model", (<Part>self.reset_model)(self))
        self.info[self.info.size() - 1] += guard.forward(self.model, self.data)
        check_status("reset_info", (<Part>self.reset_info)(self))
        if self.from_pixels:
            self.camera.set_viewpoint(self.model, self.data)
        self.push_frame()
        self.frames.fill(0)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.action = action
        self.clear_info()
        check_status("step_model", (<Part>self.step_model)(self))
        self.push_frame()
        return 0

    cdef int simulate(self) except -1 nogil:
        self.set_controls(self.action)
        if self.record != NULL and record_of(self).take(self.frame_skip):
            self.until_check -= self.frame_skip
            if self.until_check <= 0:
                self.until_check = CHECK_EVERY
                self.materialize()
            return 0
        forget_lanes(self)
        self.info[self.info.size() - 1] += guard.simulate(self.model, self.data, self.frame_skip, self.contact_forces)
        return 0

    cdef int materialize(self) except -1 nogil:
        cdef string differing
        if self.record != NULL:
            differing = record_of(self).repeat()
            if not differing.empty() and self.lanes is not None:
                (<Lanes>self.lanes).report(differing)
        return 0

    cdef bint prepare_pool(self, list envs) except -1:
        cdef MujocoEnv env
        # a class outside may do anything
        if (self.reads == READS_UNKNOWN or self.spec.options["physics"] != "lanes" or self.variation is not None
                or self.from_pixels or self.camera.sees_contacts or len(envs) < FEW
                or any(type(each) is not type(self) or (<MujocoEnv>each).loaded is not self.loaded for each in envs)
                or not type(self).__module__.startswith("cypool.envs.")):
            return False
        lanes = lanes_of(self.loaded)
        if lanes is None:
            return False
        cdef shared_ptr[EnvList] pool = make_shared[EnvList]()
        for k, env in enumerate(envs):
            pool.get().push_back(<PyObject*>env)
            env.pool = pool
            env.lanes = lanes
            if env.record == NULL:
                env.record = new Record(env.model, env.data, env.reads)
            # not all at once
            env.until_check = 1 + 131 * k % CHECK_EVERY
        return True

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        # lanes simulate; then the engine calls `step` for each, which takes the result
        cdef Record* records[MANY]
        cdef PyObject* env
        cdef int count = 0
        cdef uint32_t k
        cdef bint usable = (<Lanes>self.lanes).is_usable()
        cdef size_t action_bytes = self.model.nu * (sizeof(float) if self.action_is_single else sizeof(double))
        for k in range(rows.count):
            rows.terminated[k] = STEP_ALONE
            env = self.pool.get()[0][rows.ids[k]]
            if usable and not (<MujocoEnv>env).needs_reset and not (<MujocoEnv>env).observe_only:
                (<MujocoEnv>env).set_controls(rows.actions + <size_t>rows.ids[k] * action_bytes)
                if record_of(<MujocoEnv>env).prepare():
                    records[count] = record_of(<MujocoEnv>env)
                    count += 1
            if count >= FEW and (count == MANY or k + 1 == rows.count):
                (<Lanes>self.lanes).step(records, count, self.frame_skip)
                count = 0
        return 0

    cdef double control_cost(self, double weight) noexcept nogil:
        # of float32 all of it has single precision
        if self.action_is_single:
            return <float>weight * sum_of_squares(<const float*>self.action, self.model.nu)
        return weight * sum_of_squares(<const double*>self.action, self.model.nu)

    cdef double uniform(self, double low, double high) noexcept nogil:
        return draw_uniform(self.rng, low, high)

    cdef double normal(self) noexcept nogil:
        return draw_normal(self.rng, 0, 1)

    cdef void add_uniform(self, double scale, const double* initial, double* out, Py_ssize_t n) noexcept nogil:
        """Writes n numbers that differ from the initial ones by up to `scale`."""
        cdef Py_ssize_t k
        for k in range(n):
            out[k] = initial[k] + self.uniform(-scale, scale)

    cdef void add_normal(self, double scale, const double* initial, double* out, Py_ssize_t n) noexcept nogil:
        """Writes n numbers that differ from the initial ones by a normal deviation of `scale`."""
        cdef Py_ssize_t k
        for k in range(n):
            out[k] = initial[k] + scale * self.normal()

    cdef object save_own(self):
        return tuple(self.info)

    cdef object check_own(self, object state):
        return self.check_info(state)

    cdef int load_own(self, object checked) except -1:
        self.info = checked
        forget_lanes(self)
        return 0

    cdef int copy_own(self, Simulation other) except -1 nogil:
        cdef Record* record = record_of(<MujocoEnv>other)
        if self.record == NULL and record != NULL and record.is_stale:
            self.record = new Record(self.model, self.data, self.reads)
        forget_lanes(self)
        if self.record != NULL and record != NULL:
            record_of(self).copy_from(record[0])
        return 0

    cdef object render(self):
        self.materialize()
        return Simulation.render(self)

    cdef object save(self):
        self.materialize()
        return Simulation.save(self)


cdef inline Record* record_of(MujocoEnv env) noexcept nogil:
    return <Record*>env.record


cdef inline void forget_lanes(MujocoEnv env) noexcept nogil:
    """mjData is, or will be, what it says itself."""
    if env.record != NULL:
        record_of(env).is_ready = record_of(env).is_stale = False
