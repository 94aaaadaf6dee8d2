# The base class of MuJoCo's robots. Its `.pxd` lists what a subclass has, and what it implements.
import numpy as np

from cypool.util.arguments import check_bool, check_float, check_int, shown
from cypool.spec import Array, EnvSpec


from cypool.cfunctions.env_methods cimport check_status
from cypool.envs.mujoco_common cimport guard
from cypool.envs.mujoco_common.mujoco_common cimport (Camera, Model, Simulation, Variation, check_camera,
                                                      check_randomize, held, load_model)
from cypool.random cimport normal as draw_normal, uniform as draw_uniform

from cypool.envs.common.numpy_math cimport sum_of_squares

ctypedef int (*Part)(MujocoEnv env) noexcept nogil


def check_options(**options):
    """Returns options of a robot, checked by their names.

    Args:
        **options: `..._weight` and `healthy_reward` are numbers, `..._range` two of them, `reset_noise_scale` is one
            that is not negative, `exclude_...`, `include_...`, `terminate_...` and `use_...` are True or False,
            `frame_skip` is an integer. Others are for the caller to check.

    Raises:
        TypeError, ValueError: One is not.
    """
    return {name: _checked(name, value) for name, value in options.items()}


def _checked(name, value):
    if name.endswith("_range"):
        if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
            raise TypeError(f"{name}: expected two numbers, got {shown(value)}")
        return tuple(check_float(name, number, -np.inf, np.inf) for number in value)
    if name.endswith("_weight") or name == "healthy_reward":
        return check_float(name, value, -np.inf, np.inf)
    if name == "reset_noise_scale":
        return check_float(name, value, 0, 1e6)
    if name == "frame_skip":
        return check_int(name, value, 1, 1_000_000)
    if name.startswith(("exclude_", "include_", "terminate_", "use_")):
        return check_bool(name, value)
    return value


cdef int require_positions(Model model, int least, str kind) except -1:
    if model.mj.nq < least:
        raise ValueError(f"xml_file: expected a robot {kind}, with at least {least} positions, found {model.mj.nq} in "
                         f"{model.path}")
    return 0


def describe_robot(Model model, obs_size, info, options, common, camera=None):
    """Returns the `EnvSpec` of a robot.

    Args:
        model: Its model.
        obs_size: How many numbers an observation has.
        info: The infos, in the order of `MujocoEnv.info`: names, and "float64", "int64", "action" for the
            action's dtype, or a pair of such a type and a size.
        options: Its options, checked, `xml_file` and `frame_skip` among them.
        common: The options that all robots have, as `MujocoEnv.describe` lists them.
        camera: Where pictures are taken from, if `default_camera_config` does not say: attributes of MuJoCo's
            mjvCamera.
    """
    common = MujocoEnv.describe(**common)
    common["randomize"] = check_randomize(model, common["randomize"])
    common.update(check_camera(model, common, camera or {}))
    # as Gymnasium's action space has them, whatever the dtype here
    low, high = model.control_range(np.inf).astype(np.float32)
    columns = {}
    for name, kind in info.items():
        kind, shape = (kind[0], (kind[1],)) if isinstance(kind, tuple) else (kind, ())
        columns[name] = Array(shape, common["action_dtype"] if kind == "action" else kind)
    columns["unstable"] = Array((), np.int32, 0)
    shape, dtype = (obs_size,), common["obs_dtype"]
    if common["from_pixels"]:
        shape, dtype = (common["height"], common["width"], 3), np.uint8
    stack = None
    if common["frame_stack"] > 1:
        shape, stack = (common["frame_stack"], *shape), (0, common["frame_stack"])
    return EnvSpec(
        observation=Array(shape, dtype, stack=stack),
        action=Array(low.shape, common["action_dtype"], low, high),
        info=columns,
        # as Gymnasium's metadata has it
        render_fps=max(int(np.round(1 / (model.mj.opt.timestep * options["frame_skip"]))), 1),
        options={**options, **common},
    )


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

    @staticmethod
    def describe(default_camera_config=None, **common):
        """Returns the options that all robots have, those checked that can be without a robot.

        Args:
            default_camera_config: The free camera: "lookat", "distance", "azimuth", "elevation" and other attributes of
                MuJoCo's mjvCamera; None: the robot's. What is not said follows from the first picture, as in Gymnasium.
            **common: See `Simulation.describe`.
        """
        return {**Simulation.describe(**common), "default_camera_config": default_camera_config}

    def __init__(self, spec, env_id):
        options = spec.options
        self.loaded = held(load_model(options["xml_file"]))
        # the file may be another one by now, and nobody checks sizes later
        now = type(self).describe(**options)
        if (now.observation, now.action, now.info) != (spec.observation, spec.action, spec.info):
            raise ValueError(f"xml_file: {self.loaded.path} has changed since it was described")
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
        return 0

    cdef int copy_own(self, Simulation other) except -1 nogil:
        return 0
