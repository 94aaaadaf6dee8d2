# The base class of all tasks of the suite.
import math
import sys

import numpy as np

from cypool.util.arguments import check_bool, check_float, shown
from cypool.envs.dm_control import specs
from cypool.state import check_state, check_stream

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport M_PI
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.env cimport Slot
from cypool.envs.dm_control.random_state cimport RandomState
from cypool.envs.shared.numerics.numpy_math cimport norm, vector_times_matrix
from cypool.envs.shared.mujoco cimport guard, libmujoco
from cypool.envs.shared.mujoco.libmujoco cimport mjModel
from cypool.envs.shared.mujoco.mujoco_common cimport Camera, Simulation, Variation, held
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.mujoco_lanes cimport READS_UNKNOWN, SimulationInLanes
from cypool.random cimport Rng, copy_stream

cnp.import_array()

cdef enum: MAX_ATTEMPTS = 10_000


cdef inline void difference(const double* a, const double* b, double* out) noexcept nogil:
    """Subtracts vectors of three numbers."""
    cdef int k
    for k in range(3):
        out[k] = a[k] - b[k]


cdef inline double apart(const double* a, const double* b, int n) noexcept nogil:
    """Returns the distance of two places in n dimensions."""
    cdef double[3] way
    difference(a, b, way)
    return norm(way, n)


cdef void put_seen(ObsWriter* obs, const double* a, const double* b, const double* frame) noexcept nogil:
    """Writes the difference of vectors of three numbers as seen in this frame."""
    cdef double[3] way, seen
    difference(a, b, way)
    vector_times_matrix(way, frame, seen)
    obs.put(seen, 3)


cdef class ControlTask(SimulationInLanes):
    """Base of the tasks of the DeepMind Control Suite.

    Follows `dm_control.suite` 1.0.50 and its `control.Environment`, operation by operation and draw by draw: with the
    same actions and the same seed, passed as `random`, all observations are bit-identical. A MuJoCo warning, for which
    dm_control raises a PhysicsError, becomes the `EnvError` of this environment; its next step is a reset.

    Info: nothing.
    """
    describe = staticmethod(specs.control_task)

    cdef mjModel* own                    # the same with a separate struct; only fields that __init__ names are written
    cdef RandomState random              # the task's stream
    cdef vector[double] episode          # a subclass's numbers of an episode; it sets the size
    cdef object _mt19937                 # from which it draws
    cdef int n_sub_steps                 # MuJoCo's steps in one of ours
    cdef bint legacy_step
    cdef int action_repeat               # dm_control's steps in one of ours
    cdef int last_repeat                 # in the one that reaches the time limit
    cdef int limit                       # the number of that one; 0: there is no time limit
    cdef vector[size_t] part_sizes       # of the observation, without a picture

    def __init__(self, spec, env_id, domain, written=()):
        """Makes an environment, which writes to these fields of the model."""
        options = spec.options
        self.reads = READS_UNKNOWN
        self.loaded = held(specs.load_task(domain, options["task"]))
        self.variation = Variation(self.loaded, options["randomize"] or {}, tuple(name.encode() for name in written))
        self.own = self.variation.edit()
        # one struct of pointers for all, if it can be: 6 KB that stay in the cache
        self.model = self.own if written or options["randomize"] else self.loaded.mj
        self.set_up_info(spec)
        self.camera = Camera(self.loaded, options)
        # a step begins with the arena of the one before
        self.data = guard.make_data(self.model, True)
        self.n_sub_steps, limit = specs.times(domain, self.loaded, options)
        self.action_repeat = self.last_repeat = options["action_repeat"]
        if limit is not None:
            self.limit = math.ceil(limit / options["action_repeat"])
            self.last_repeat = limit - (self.limit - 1) * self.action_repeat
        self.legacy_step = self.ends_with_step1 = options["legacy_step"]
        self.num_mj_steps = self.n_sub_steps
        # the numbers are computed anyway
        self.set_up_frames(spec, sum(map(math.prod, specs.shapes_of(domain, options).values())))
        for name, part in spec.observations:
            if name != "pixels":
                self.part_sizes.push_back(part.low.size // options["frame_stack"])

    # has to be implemented; as in `Env`, all of these run on a pool thread, without the GIL

    cdef double get_reward(self) except? -1 nogil:
        raise NotImplementedError("get_reward")

    # can be implemented

    cdef int begin_episode(self) except -1 nogil:        # draws where an episode begins
        return self.randomize_joints()

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.qpos, self.model.nq)
        obs.put(self.data.qvel, self.model.nv)
        return 0

    cdef int prepare_model(self) except -1 nogil:        # writes the episode's fields, before its reset
        return 0

    cdef bint is_terminated(self) noexcept nogil:
        return False

    cdef int seed(self, object seed) except -1:
        return self.draw_from(np.random.RandomState(seed))

    cdef int draw_from(self, object random) except -1:   # continues with the stream of a numpy.random.RandomState
        state = random.get_state(legacy=False)
        self._mt19937 = np.random.MT19937()
        self._mt19937.state = state
        self.random.rng = <const Rng*>PyCapsule_GetPointer(self._mt19937.capsule, "BitGenerator")
        self.random.has_spare, self.random.spare = state["has_gauss"], state["gauss"]
        return 0

    cdef int reset(self) except -1 nogil:
        if not self.variation.ranges.empty():
            self.variation.draw(self.random.rng, self.data)
        self.prepare_model()
        self.leave_lanes()
        guard.restart(self.own, self.data)
        self.begin_episode()
        self.forward()
        self.push_frame()
        self.frames.fill(0)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef int k, repeat = self.action_repeat
        cdef double reward
        # the user may have set another limit
        cdef bint is_last = self.elapsed_step >= self.max_episode_steps
        if is_last and self.elapsed_step == self.limit:
            repeat = self.last_repeat
        self.set_controls(action)
        self.reward = 0
        for k in range(repeat):
            self.advance(self.n_sub_steps)
            reward = self.get_reward()
            # a sum has no negative zero
            self.reward = reward if self.action_repeat == 1 else self.reward + reward
            # at the time limit the reference does not ask
            self.terminated = not (is_last and k == repeat - 1) and self.is_terminated()
            if self.terminated:
                break
        self.push_frame()
        return 0

    cdef int forward(self) except -1 nogil:              # without actuation, as resets do
        guard.forward_passive(self.own, self.data)
        return 0

    cdef object why_mj_step(self):
        if self.action_repeat > 1:
            return "each repetition of an action has its own reward"
        return SimulationInLanes.why_mj_step(self)

    cdef int advance(self, int steps) except -1 nogil:
        if self.take_result():
            return 0
        # MuJoCo begins with the derived values of the state
        self.materialize()
        self.leave_lanes()
        guard.advance(self.model, self.data, steps, self.legacy_step)
        return 0

    # whether a position without contacts is found; False before the first attempt; raises after too many
    cdef int is_free(self, int* attempts) except -1 nogil:
        cdef bint free = attempts[0] > 0 and self.data.ncon == 0
        # dm_control continues for ever, where a model of the user's makes that possible
        if not free and attempts[0] == MAX_ATTEMPTS:
            raise RuntimeError(f"expected a position without contacts, found none in {MAX_ATTEMPTS} attempts")
        attempts[0] += 1
        return free

    cdef int randomize_joints(self) except -1 nogil:     # dm_control's randomize_limited_and_rotational_joints
        cdef const mjModel* m = self.model
        cdef double* qpos
        cdef const double* limits
        cdef double[4] drawn
        cdef double length
        cdef int64_t j
        cdef int k, kind
        for j in range(m.njnt):
            kind, qpos, limits = m.jnt_type[j], self.data.qpos + m.jnt_qposadr[j], m.jnt_range + 2 * j
            if m.jnt_limited[j]:
                if kind == libmujoco.mjJNT_HINGE or kind == libmujoco.mjJNT_SLIDE:
                    qpos[0] = self.random.uniform(limits[0], limits[1])
                elif kind == libmujoco.mjJNT_BALL:
                    self.draw_unit(drawn, 3)
                    libmujoco.mju_axisAngle2Quat(qpos, drawn, self.random.rand() * limits[1])
            elif kind == libmujoco.mjJNT_HINGE:
                qpos[0] = self.random.uniform(-M_PI, M_PI)
            elif kind == libmujoco.mjJNT_BALL:
                self.draw_unit(qpos, 4)
            elif kind == libmujoco.mjJNT_FREE:
                # uniform numbers, not normal ones
                for k in range(4):
                    drawn[k] = self.random.rand()
                length = norm(drawn, 4)
                for k in range(4):
                    qpos[3 + k] = drawn[k] / length
        return 0

    cdef void draw_unit(self, double* out, int n) noexcept nogil:    # a random direction in n dimensions
        cdef double length
        cdef int k
        for k in range(n):
            out[k] = self.random.normal()
        length = norm(out, n)
        for k in range(n):
            out[k] /= length

    # of the model, by their names: numbers, or places in data

    cdef int body(self, str name) except -1:
        return self.loaded.find(libmujoco.mjOBJ_BODY, name)

    cdef int geom(self, str name) except -1:
        return self.loaded.find(libmujoco.mjOBJ_GEOM, name)

    cdef int site(self, str name) except -1:
        return self.loaded.find(libmujoco.mjOBJ_SITE, name)

    cdef int joint(self, str name) except -1:
        return self.loaded.find(libmujoco.mjOBJ_JOINT, name)

    cdef int qpos_of(self, str joint) except -1:
        return self.model.jnt_qposadr[self.joint(joint)]

    cdef int qvel_of(self, str joint) except -1:
        return self.model.jnt_dofadr[self.joint(joint)]

    cdef int sensor(self, str name) except -1:           # of its first number in data.sensordata
        return self.model.sensor_adr[self.loaded.find(libmujoco.mjOBJ_SENSOR, name)]

    cdef int draw(self, unsigned char* out) except -1 nogil:
        self.camera.set_default(self.model)
        return SimulationInLanes.draw(self, out)

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef size_t part, first = 0
        self.write_infos(out)
        for part in range(self.part_sizes.size()):
            self.write_numbers(first, self.part_sizes[part], out.obs[part])
            first += self.part_sizes[part]
        if self.from_pixels:
            self._write_picture(<uint8_t*>out.obs[self.part_sizes.size()])
        return 0

    cdef int _write_picture(self, uint8_t* out) except -1 nogil:
        """Writes (height, width, 3 * frames): each pixel's colors, picture after picture."""
        cdef int num_frames = self.frames.num_frames, frame
        cdef size_t pixel, pixels = <size_t>self.camera.height * self.camera.width
        cdef const uint8_t* picture
        if num_frames == 1:
            return self.draw(out)
        for frame in range(num_frames):
            picture = self.frames.frame(0, frame) + self.obs_size * sizeof(double)
            for pixel in range(pixels):
                memcpy(out + 3 * (pixel * num_frames + frame), picture + 3 * pixel, 3)
        return 0

    cdef object render(self):
        self.materialize()
        picture = np.empty((self.camera.height, self.camera.width, 3), np.uint8)
        cdef uint8_t* pixels = <uint8_t*>cnp.PyArray_DATA(picture)
        self.camera.set_up()
        with nogil:
            self.draw(pixels)
        return picture

    cdef object save_own(self):
        state = self._mt19937.state["state"]
        return (state["key"].astype("<u4").tobytes(), state["pos"], bool(self.random.has_spare), self.random.spare,
                self.variation.contents(), tuple(self.episode))

    cdef object check_own(self, object state):
        if type(state) is not tuple or len(state) != 6:
            raise ValueError(f"expected six task values, got {shown(state)}")
        key, pos, has_spare, spare, written, episode = state
        if type(key) is not bytes or len(key) % 4 != 0:
            raise ValueError(f"random: expected the key of an MT19937, got {shown(key)}")
        stream = {"bit_generator": "MT19937", "state": {"key": np.frombuffer(key, "<u4"), "pos": pos}}
        stream = check_stream("random", stream, np.random.MT19937)
        if type(written) is not bytes or len(written) != len(self.variation.contents()):
            raise ValueError(f"expected the model fields that the task writes to, got {shown(written)}")
        episode = check_state(episode, *[float] * <Py_ssize_t>self.episode.size())
        spare = check_float("spare", spare, -sys.float_info.max, sys.float_info.max)
        return stream, check_bool("has_spare", has_spare), spare, written, episode

    cdef int load_own(self, object checked) except -1:
        self._mt19937.state, self.random.has_spare, self.random.spare, written, self.episode = checked
        self.variation.set_contents(written)
        self.leave_lanes()
        guard.fill_arena(self.model, self.data)
        return 0

    cdef int copy_own(self, Simulation other) except -1 nogil:
        self.episode = (<ControlTask>other).episode
        self.random.has_spare = (<ControlTask>other).random.has_spare
        self.random.spare = (<ControlTask>other).random.spare
        if not copy_stream(self.random.rng, (<ControlTask>other).random.rng):
            with gil:
                self._mt19937.state = (<ControlTask>other)._mt19937.state
        guard.fill_arena(self.model, self.data)
        return self.copy_lanes(<SimulationInLanes>other)
