# distutils: extra_compile_args = -O2
"""The tasks of Meta-World: a Sawyer arm at a table."""
from itertools import chain

import numpy as np

from cypool.envs.metaworld import specs
from cypool.envs.metaworld.models import SIZES, model_path
from cypool.envs.metaworld.tasks import TASKS, draw_goals
from cypool.envs.shared.mujoco.specs import check_sizes
from cypool.options import describes

from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport cos, dot, exp, log, norm, sin
from cypool.envs.shared.mujoco cimport guard, libmujoco
from cypool.envs.shared.mujoco.mujoco_common cimport Camera
from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel
from cypool.envs.shared.mujoco.mujoco_common cimport Model, held, load_edited
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.mujoco.mujoco_common cimport Simulation, Variation
from cypool.envs.shared.lanes.mujoco_lanes cimport SimulationInLanes
from cypool.envs.shared.lanes.record cimport NO_OUTPUTS, Record
from cypool.random cimport integers, shuffle, uniform

cdef extern from "cypool/envs/metaworld/rewards_v1.h":
    pass

cdef extern from "cypool/envs/metaworld/normalization.h" namespace "cypool::metaworld":
    cdef enum RewardNormalization:
        NO_NORMALIZATION
        BY_RETURN
        EXPONENTIAL

    cdef cppclass Normalization:
        RewardNormalization method
        vector[double] statistics
        void begin(RewardNormalization of_rewards, double weight, size_t observed) except +
        double reward(double given, int kind, cbool terminated) noexcept nogil
        cbool can_be(const vector[double]& values) noexcept
        cbool of_observations() noexcept nogil
        void observe(double* numbers) noexcept nogil

cdef extern from "cypool/envs/metaworld/tasks.h" namespace "cypool::metaworld":
    enum:
        STEPS
        SEEN
        INFOS
        REMEMBERED

    ctypedef struct NumPy:
        double (*dot)(const double*, const double*, Py_ssize_t) noexcept nogil
        double (*log)(double) noexcept nogil
        double (*exp)(double) noexcept nogil
        double (*sin)(double) noexcept nogil
        double (*cos)(double) noexcept nogil
        double gaussian_scale
    NumPy numpy_functions

    cdef struct Vec3:
        double[3] v

    ctypedef struct Numbers:
        Vec3 hand, low, high, goal_low, goal_high

    cdef cppclass Episode:
        pass

    cdef cppclass Arm(Episode):
        Arm(const string& task, const Numbers& numbers, cbool has_first_reward) except +
        void use(mjModel* model, mjData* data) except +
        void reset(const double* before, const double* drawn) except + nogil
        void act(const double* action, cbool is_single) noexcept nogil
        void run_step() except + nogil
        void end_step() except + nogil
        void restore() except + nogil
        void get_episode(double* out) noexcept nogil
        void set_episode(const double* values) noexcept nogil
        cbool needs_contacts() noexcept nogil
        void forget() noexcept nogil
        cbool hides_goal, keeps_starts, whole
        int unstable
        double[SEEN] seen
        double reward
        int reward_kind
        double[INFOS] info

NORMALIZATIONS = {None: NO_NORMALIZATION, "gymnasium": BY_RETURN, "exponential": EXPONENTIAL}

numpy_functions.dot = dot
numpy_functions.log = log
numpy_functions.exp = exp
numpy_functions.sin = sin
numpy_functions.cos = cos
numpy_functions.gaussian_scale = np.sqrt(-2 * np.log(0.1))


cdef int reset_welds(Model model) except -1:
    """Makes the mocap body hold the hand, as in the package."""
    cdef double[11] data = [0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 5]
    cdef mjModel* m = model.mj
    cdef int k
    for k in range(m.neq):
        if m.eq_type[k] == libmujoco.mjEQ_WELD:
            memcpy(m.eq_data + k * libmujoco.mjNEQDATA, data, sizeof(data))
    return 0


cpdef Model load_sawyer(str task):
    cdef str file = TASKS[task].file
    cdef Model model = load_edited(model_path(file), reset_welds)
    check_sizes(model, SIZES[file], model.path)
    return model


@describes("See `Simulation.describe`. Image observations do not include the numbers.", **specs.OPTIONS)
def describe_sawyer(options, common):
    return specs.sawyer(options, common, load_sawyer)


cdef class Sawyer(SimulationInLanes):
    """A Sawyer arm reaches, pushes, opens, closes, picks up or turns something, in one of fifty tasks.

    Follows metaworld 3.1.1 with its "v2" rewards. A MuJoCo error, any warning except instability, or a state for which
    the package has no reward becomes the `EnvError` of this environment.

    Observation: float64 (39,): position and opening of the hand, positions and rotations of the objects (14 numbers);
        the same for the previous step; the goal (3). `use_one_hot` appends the task, and `recurrent_info_in_obs` the
        last action, the reward and whether the episode ended; with either, the dtype is float32.
    Action: float32 (4,) in [-1, 1]: the movement of the hand, and the force of the gripper.
    Reward: 0 to 10, 10 for success.
    Terminated: On success if `terminate_on_success` is True, else never.
    Info: `success`, `near_object`, `grasp_success`, `grasp_reward`, `in_place_reward`, `obj_to_target` and
        `unscaled_reward` float64; `unstable` int32, as in `MujocoEnv`.
    """
    describe = staticmethod(describe_sawyer)

    cdef mjModel* own                    # the model with a separate struct
    cdef Arm* arm                        # owned
    cdef vector[double] goals            # one behind the other
    cdef int num_draws                   # numbers of a goal
    cdef int num_goals
    cdef bint draws_goals                # from its own seed
    cdef bint is_fresh, is_pseudorandom
    cdef object task
    cdef vector[int] order               # of the goals, if pseudorandom
    cdef int place                       # of the goal in `order`, or in `goals`; -1: none yet
    # parts of the state that are options: the protocols of evaluation change them
    cdef bint terminate_on_success
    cdef bint samples_on_reset           # each reset chooses a goal
    cdef bint samples_next               # the next reset does, unless it is_unplayed
    cdef bint is_unplayed                # the goal there is: no step was taken with it
    cdef double[6] draw_low, draw_high
    cdef double apart
    cdef vector[double] one_hot
    cdef vector[double] recurrent        # the observed part of the last step
    cdef bint divides_reward
    cdef Normalization normalization
    cdef vector[double] normalized       # the observation, if it is

    def __dealloc__(self):
        del self.arm

    def __init__(self, spec, env_id):
        cdef Model model
        cdef Numbers numbers
        cdef int k
        options = spec.options
        self.task = options["task"]
        task = TASKS[self.task]
        model = load_sawyer(self.task)
        self.loaded = held(model)
        self.variation = Variation(model, options["randomize"] or {}, (b"body_pos", b"site_pos"))
        self.own = self.variation.edit()
        self.model = self.own
        # what it reads follows from mj_kinematics
        self.reads, self.num_mj_steps, self.writes_model = NO_OUTPUTS, STEPS, True
        self.camera = Camera(model, options)
        for k in range(3):
            numbers.hand.v[k] = task.hand[k]
            numbers.low.v[k], numbers.high.v[k] = task.mocap[0][k], task.mocap[1][k]
            numbers.goal_low.v[k], numbers.goal_high.v[k] = task.goals[0][k], task.goals[1][k]
        self.arm = new Arm(self.task.encode(), numbers, options["reward_function_version"] == "v1")
        self.data = guard.make_data(self.model, self.camera.sees_contacts or self.arm.needs_contacts())
        self.arm.use(self.own, self.data)
        self.arm.hides_goal = options["partially_observable"]
        self.arm.whole = self.camera.sees_contacts
        self.is_fresh = options["task_select"] == "fresh"
        self.is_pseudorandom = options["task_select"] == "pseudorandom"
        # with another model the hand moves otherwise
        self.arm.keeps_starts = not (self.is_fresh or options["randomize"])
        self.num_draws = len(task.draws[0])
        self.apart = task.apart
        for k in range(self.num_draws):
            self.draw_low[k], self.draw_high[k] = task.draws[0][k], task.draws[1][k]
        self.num_goals = options["num_goals"]
        self.draws_goals = options["goals"] is None
        if not self.draws_goals:
            self.goals = list(chain.from_iterable(options["goals"]))
        self.terminate_on_success = options["terminate_on_success"]
        self.samples_on_reset = options["sample_tasks_on_reset"]
        if options["use_one_hot"]:
            self.one_hot.resize(options["num_tasks"])
            self.one_hot[<int>options["task_index"]] = 1
        if options["recurrent_info_in_obs"]:
            self.recurrent.resize(6)
        self.divides_reward = options["normalize_reward_in_recurrent_info"]
        if options["normalize_observations"]:
            self.normalized.resize(SEEN + self.one_hot.size() + self.recurrent.size())
        self._begin_normalization()
        self.set_up_info(spec)
        self.set_up_frames(spec, 0 if options["from_pixels"] else SEEN + self.one_hot.size() + self.recurrent.size())

    cdef int _begin_normalization(self) except -1:
        options = self.spec.options
        self.normalization.begin(NORMALIZATIONS[options["reward_normalization_method"]], options["reward_alpha"],
                                 self.normalized.size())
        return 0

    cdef int seed(self, object seed) except -1:
        Simulation.seed(self, seed)
        if self.draws_goals and not self.is_fresh:
            self.goals = list(chain.from_iterable(draw_goals([self.task], seed, self.num_goals)[self.task]))
        if self.is_pseudorandom:
            self.order = range(self.num_goals)
        self.place = -1
        self.samples_next, self.is_unplayed = True, False
        self._begin_normalization()
        return 0

    cdef int reset(self) except -1 nogil:
        cdef double[6] before, drawn
        cdef size_t k
        self.leave_lanes()
        self.clear_info()
        if not self.variation.ranges.empty():
            self.variation.draw(self.rng, self.data)
        if self.is_fresh:
            self.draw_goal(before)
            self.draw_goal(drawn)
        else:
            if self.samples_on_reset or (self.samples_next and not self.is_unplayed):
                self.choose_goal()
            memcpy(drawn, &self.goals[self.goal() * self.num_draws], self.num_draws * sizeof(double))
            memcpy(before, drawn, sizeof(drawn))
        self.samples_next = False
        self.arm.reset(before, drawn)
        self.info[INFOS] = self.arm.unstable
        for k in range(self.recurrent.size()):
            self.recurrent[k] = 0
        if self.from_pixels:
            self.camera.set_viewpoint(self.model, self.data)
        self.normalize()
        self.push_frame()
        self.frames.fill(0)
        return 0

    cdef int goal(self) noexcept nogil:
        return self.order[self.place] if self.is_pseudorandom else self.place

    cdef void choose_goal(self) noexcept nogil:
        self.is_unplayed = True
        if not self.is_pseudorandom:
            self.place = <int>integers(self.rng, 0, self.num_goals)
            return
        self.place = (self.place + 1) % self.num_goals
        if self.place == 0:
            shuffle(self.rng, self.order.data(), self.num_goals)

    cdef void draw_goal(self, double* drawn) noexcept nogil:
        """Draws the same numbers as `draw` in tasks.py, from another stream."""
        cdef double[2] gap
        cdef int k
        while True:
            for k in range(self.num_draws):
                drawn[k] = uniform(self.rng, self.draw_low[k], self.draw_high[k])
            gap[0] = drawn[0] - (drawn[3] if self.num_draws == 6 else 0.0)
            gap[1] = drawn[1] - (drawn[4] if self.num_draws == 6 else 0.84)
            if self.apart == 0 or not norm(gap, 2) < self.apart:
                return

    cdef void read_action(self, const void* action, double* numbers) noexcept nogil:
        cdef int k
        for k in range(4):
            numbers[k] = (<const float*>action)[k] if self.action_is_single else (<const double*>action)[k]

    cdef void set_inputs(self, const void* action) noexcept nogil:
        cdef double[4] numbers
        self.read_action(action, numbers)
        self.arm.act(numbers, self.action_is_single)

    cdef int step(self, const void* action) except -1 nogil:
        cdef double[4] numbers
        self.read_action(action, numbers)
        self.clear_info()
        self.is_unplayed = False
        self.arm.act(numbers, self.action_is_single)
        if not self.take_result():
            self.leave_lanes()
            self.arm.run_step()
        self.arm.end_step()
        memcpy(self.info.data(), self.arm.info, INFOS * sizeof(double))
        self.info[INFOS] = self.arm.unstable
        self.reward = self.arm.reward
        self.terminated = self.terminate_on_success and self.info[0] == 1
        if not self.recurrent.empty():
            memcpy(self.recurrent.data(), numbers, sizeof(numbers))
            self.recurrent[4] = self.reward / 10 if self.divides_reward else self.reward
            self.recurrent[5] = self.terminated or self.elapsed_step >= self.max_episode_steps
        if self.normalization.method != NO_NORMALIZATION:
            self.reward = self.normalization.reward(self.reward, self.arm.reward_kind, self.terminated)
        self.normalize()
        self.push_frame()
        return 0

    cdef int materialize(self) except -1 nogil:
        if self.record == NULL or not (<Record*>self.record).is_stale:
            return 0
        try:
            SimulationInLanes.materialize(self)
        finally:
            self.arm.restore()
        return 0

    cdef void normalize(self) noexcept nogil:
        """Adds the observation to the statistics, and sets the observation to return."""
        cdef ObsWriter numbers = ObsWriter(self.normalized.data(), self.normalized.size())
        if self.normalization.of_observations():
            self.put_numbers(&numbers)
            self.normalization.observe(self.normalized.data())

    cdef void put_numbers(self, ObsWriter* obs) noexcept nogil:
        obs.put(self.arm.seen, SEEN)
        obs.put(self.one_hot.data(), self.one_hot.size())
        obs.put(self.recurrent.data(), self.recurrent.size())

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        if self.normalized.empty():
            self.put_numbers(obs)
        else:
            obs.put(self.normalized.data(), self.normalized.size())
        return 0

    cdef object save_own(self):
        cdef vector[double] episode
        episode.resize(REMEMBERED)
        self.arm.get_episode(episode.data())
        return (tuple(self.info), tuple(episode), tuple(self.goals), tuple(self.order), self.place,
                bool(self.terminate_on_success), bool(self.samples_on_reset), bool(self.samples_next),
                bool(self.is_unplayed), tuple(self.normalization.statistics), self.variation.contents())

    cdef object check_own(self, object state):
        info, episode, goals, order, rest, statistics, written = specs.check_saved(
            state, num_remembered=REMEMBERED, num_numbers=self.goals.size(), num_ordered=self.order.size(),
            num_goals=self.num_goals, num_statistics=self.normalization.statistics.size(), is_fresh=self.is_fresh)
        if not self.normalization.can_be(statistics):
            raise ValueError("expected statistics with positive counts and nonnegative variances")
        if type(written) is not bytes or len(written) != len(self.variation.contents()):
            raise ValueError("expected the model fields that the arm writes to")
        return self.check_info(info), episode, goals, order, rest, statistics, written

    cdef int load_own(self, object checked) except -1:
        cdef vector[double] numbers
        self.info, numbers, self.goals, self.order, rest, self.normalization.statistics, written = checked
        self.place, self.terminate_on_success, self.samples_on_reset, self.samples_next, self.is_unplayed = rest
        self.variation.set_contents(written)
        self.leave_lanes()
        self.arm.set_episode(numbers.data())
        return 0

    cdef int copy_own(self, Simulation other) except -1 nogil:
        (<Episode*>self.arm)[0] = (<const Episode*>(<Sawyer>other).arm)[0]
        self.arm.forget()
        self.goals, self.order, self.place = (<Sawyer>other).goals, (<Sawyer>other).order, (<Sawyer>other).place
        self.terminate_on_success = (<Sawyer>other).terminate_on_success
        self.samples_on_reset, self.samples_next = (<Sawyer>other).samples_on_reset, (<Sawyer>other).samples_next
        self.is_unplayed = (<Sawyer>other).is_unplayed
        self.normalization = (<Sawyer>other).normalization
        return self.copy_lanes(<SimulationInLanes>other)
