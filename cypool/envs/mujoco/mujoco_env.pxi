# The base class of MuJoCo's robots. Its `.pxd` lists a subclass's members and the methods that it implements.
from cypool.envs.mujoco import specs

from cypool.env_methods cimport check_status
from cypool.envs.shared.mujoco cimport guard
from cypool.envs.shared.mujoco.mujoco_common cimport Camera, Simulation, Variation, held, load_model
from cypool.random cimport normal as draw_normal, uniform as draw_uniform

from cypool.envs.shared.numerics.numpy_math cimport sum_of_squares

from cypool.envs.shared.lanes.mujoco_lanes cimport READS_UNKNOWN, SimulationInLanes
from cypool.envs.shared.lanes.record cimport CFRC_EXT

from libc.stdint cimport int64_t

ctypedef int (*Method)(MujocoEnv env) noexcept nogil


cdef class MujocoEnv(SimulationInLanes):
    """Base of the MuJoCo environments; each subclass is one robot.

    Gymnasium's robots are examples; read `half_cheetah.pxi` first. Like them, a subclass specifies its observation in
    `describe`, and implements three methods: `reset_model`, which sets the initial state, `step_model`, which applies
    the action and sets the reward, and `get_obs`.

    A MuJoCo error, or any warning except for instability, is raised by the step and becomes this environment's
    `EnvError`. If a simulation becomes unstable, MuJoCo restarts it from the model's initial position; the episode
    continues from there, as in Gymnasium, and `info["unstable"]` counts these restarts.

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
        self.frame_skip = self.num_mj_steps = options["frame_skip"]
        self.dt = self.model.opt.timestep * self.frame_skip
        self.init_qpos.assign(self.data.qpos, self.data.qpos + self.model.nq)
        self.init_qvel.assign(self.data.qvel, self.data.qvel + self.model.nv)
        *_, obs_size = spec.observation.shape
        self.set_up_frames(spec, 0 if options["from_pixels"] else obs_size)
        self.set_up_info(spec)

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
        self.leave_lanes()
        check_status("reset_model", (<Method>self.reset_model)(self))
        self.info[self.info.size() - 1] += guard.forward(self.model, self.data)
        check_status("reset_info", (<Method>self.reset_info)(self))
        if self.from_pixels:
            self.camera.set_viewpoint(self.model, self.data)
        self.push_frame()
        self.frames.fill(0)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.action = action
        self.clear_info()
        check_status("step_model", (<Method>self.step_model)(self))
        self.push_frame()
        return 0

    cdef object why_mj_step(self):
        why = SimulationInLanes.why_mj_step(self)
        if why is None and self.reads >> <int>CFRC_EXT & 1 and not self.contact_forces:
            return "cfrc_ext is read, but contact_forces is not set"
        return why

    cdef int simulate(self) except -1 nogil:
        self.set_controls(self.action)
        if self.take_result():
            return 0
        self.leave_lanes()
        self.info[self.info.size() - 1] += guard.simulate(self.model, self.data, self.frame_skip, self.contact_forces)
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
        """Writes n numbers that differ from the initial ones by at most `scale`."""
        cdef Py_ssize_t k
        for k in range(n):
            out[k] = initial[k] + self.uniform(-scale, scale)

    cdef void add_normal(self, double scale, const double* initial, double* out, Py_ssize_t n) noexcept nogil:
        """Writes n numbers that differ from the initial ones by normal noise with standard deviation `scale`."""
        cdef Py_ssize_t k
        for k in range(n):
            out[k] = initial[k] + scale * self.normal()

    cdef object save_own(self):
        return tuple(self.info)

    cdef object check_own(self, object state):
        return self.check_info(state)

    cdef int load_own(self, object checked) except -1:
        self.info = checked
        self.leave_lanes()
        return 0

    cdef int copy_own(self, Simulation other) except -1 nogil:
        return self.copy_lanes(<SimulationInLanes>other)
