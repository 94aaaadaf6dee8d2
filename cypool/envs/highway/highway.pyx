# distutils: extra_compile_args = -O3
"""highway-env's driving tasks."""
import json
import math
import sys
from fractions import Fraction
from weakref import WeakValueDictionary

import numpy as np

from cypool.envs.highway import specs
from cypool.envs.highway.pictures import draw_scene, observed_picture
from cypool.state import check_state
from cypool.util.arguments import check_reset_options

cimport numpy as cnp

from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memmove, memset
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot, info_row
from cypool.envs.shared.numerics cimport numpy_math
from cypool.envs.shared.rules.archived_env cimport Archived, ArchivedEnv
from cypool.envs.shared.rules.rules_env cimport Options, options_of
from cypool.random cimport Rng, normal


cdef extern from "cypool/envs/highway/env.h" namespace "cypool::highway" nogil:
    const int PICTURE

    cdef struct NumPy:
        double (*sin)(double)
        double (*cos)(double)
        void (*tan)(const double*, double*, Py_ssize_t)
        void (*arctan)(const double*, double*, Py_ssize_t)
        void (*arcsin)(const double*, double*, Py_ssize_t)
        void (*arctan2)(const double*, const double*, double*, Py_ssize_t)
        void (*power)(const double*, const double*, double*, Py_ssize_t)
        double (*dot)(const double*, const double*, Py_ssize_t)
        float (*dotf)(const float*, const float*, Py_ssize_t)
        double (*normal)(const Rng*, double, double)
        int vector_dot, matrix_vector, matrix_matrix
        cbool compensated_sum, power_is_root
    NumPy numpy

    cdef cppclass HighwayOptions "cypool::highway::Options":
        int agents, multi_agent

    cdef cppclass View:
        int kind, cells, width, height
        size_t size

    cdef struct Lane:
        int kind, priority
        int start "from"
        int end "to"
        cbool forbidden, has_limit
        double length, width, limit, x, y, dx, dy, lx, ly, heading, amplitude, pulsation, phase, radius, start_phase
        double turn

    cdef cppclass Network:
        vector[Lane] lanes
        void finish(int nodes) except +

    cdef cppclass Setup:
        Setup(const Options& options) except +
        HighwayOptions options
        vector[View] views
        Network network
        string config
        size_t room(const View& view)

    ctypedef const Setup ConstSetup "const cypool::highway::Setup"

    cdef cppclass Body:
        int kind, goal, agent
        double x, y, heading, speed, length, width, steering, acceleration
        cbool crashed, hit

    cdef cppclass World:
        vector[Body] vehicles, objects

    cdef cppclass Driving "cypool::highway::Env":
        Driving() except +
        Driving(shared_ptr[ConstSetup] setup) except +
        void use(shared_ptr[ConstSetup] setup) except +
        void reset(const Rng* rng) except +
        void step(const void* action, const Rng* rng) except +
        void after_step() except +
        char* observation()
        const Body& ego()
        cbool ready()
        shared_ptr[ConstSetup] setup
        World world
        double time, reward
        cbool terminated, truncated, success
        double[8] rewards, agent_reward
        cbool[8] agent_ended


cdef int rounding(product) except -1:
    """Returns how NumPy rounds the dot product of two pairs of numbers."""
    rng = np.random.default_rng(2)
    ways = {0, 1, 2}
    for _ in range(400):
        a, b = rng.uniform(-9, 9, 2), rng.uniform(-9, 9, 2)
        (x0, x1), (y0, y1) = a.tolist(), b.tolist()
        expected = (x0 * y0 + x1 * y1, float(Fraction(x1) * Fraction(y1) + Fraction(x0 * y0)),
                    float(Fraction(x0) * Fraction(y0) + Fraction(x1 * y1)))
        got = float(product(a, b))
        ways = {way for way in ways if expected[way] == got}
    if not ways:
        raise ImportError(f"numpy {np.__version__}: expected dot products to be rounded once or twice")
    return min(ways)


def differs(of_numpy, of_c, *arguments):
    """Returns whether NumPy's function gives different results from the C library's."""
    return of_numpy(*arguments).tolist() != list(map(of_c, *[each.tolist() for each in arguments]))


cdef int measure() except -1:
    """Finds the functions whose results differ between CPUs and between versions of Python."""
    numpy.dot, numpy.dotf, numpy.normal = numpy_math.dot, numpy_math.dotf, normal
    if not numpy_math.is_c:
        numpy.sin, numpy.cos = numpy_math.numpy_sin, numpy_math.numpy_cos
    # another implementation differs at hundreds of these
    x, y = np.random.default_rng(1).uniform(-9, 9, (2, 4000))
    if differs(np.tan, math.tan, x):
        numpy.tan = numpy_math.tan_of
    if differs(np.arctan, math.atan, x):
        numpy.arctan = numpy_math.arctan_of
    if differs(np.arcsin, math.asin, x / 9):
        numpy.arcsin = numpy_math.arcsin_of
    if differs(np.arctan2, math.atan2, x, y):
        numpy.arctan2 = numpy_math.arctan2_of
    if differs(np.power, math.pow, np.abs(x), 4 + y / 18):
        numpy.power = numpy_math.power_of
    # the last bit is another in one of 1,300
    x = np.random.default_rng(1).uniform(0, 4, 20_000)
    numpy.power_is_root = np.array_equal(np.power(x, 0.5), np.sqrt(x))
    numpy.vector_dot = rounding(np.dot)
    numpy.matrix_vector = rounding(lambda a, b: (np.array([[a[0], a[1]], [-a[1], a[0]]]) @ b)[0])
    numpy.matrix_matrix = rounding(lambda a, b: (np.array([[a[0], a[1]], [-a[1], a[0]]]) @ np.array([b] * 4).T)[0, 2])
    numpy.compensated_sum = sys.version_info >= (3, 12)
    return 0


measure()


cdef class Shared:
    """Roads and options, shared by environments with the same options."""
    cdef object __weakref__
    cdef shared_ptr[ConstSetup] setup


_shared = WeakValueDictionary()


cdef Shared shared_of(str task, dict options):
    """Returns the shared part of a task's environments."""
    cdef Lane lane
    cdef Options given
    cdef shared_ptr[Setup] made
    cdef Setup* setup
    config = json.dumps(options)
    found = _shared.get((task, config))
    if found is not None:
        return found
    lanes, nodes, (own, added), views = specs.numbers_of(task, options)
    given = options_of({**own, **added})
    made = make_shared[Setup](given)
    setup = made.get()
    # options may be for Python alone
    unread = [name for name in given.unread() if name.decode() in added]
    for own, added in views:
        given = options_of({**own, **added})
        setup.views.emplace_back(given)
        unread += [name for name in given.unread() if name.decode() in added]
    if unread:
        raise KeyError(b", ".join(unread).decode())
    for row in lanes:
        lane = row
        setup.network.lanes.push_back(lane)
    setup.network.finish(len(nodes))
    setup.config = config.encode()
    cdef Shared shared = Shared()
    shared.setup = made
    _shared[task, config] = shared
    return shared


cdef class HighwayEnv(ArchivedEnv):
    """Base of the tasks, which follow highway-env 1.12.1: the same seed and actions give bit-identical results."""
    cdef Archived[Driving] state
    cdef Driving* driving                # of `state`
    cdef shared_ptr[ConstSetup] given         # options for the next reset
    cdef string own_config               # without those of resets
    cdef vector[size_t] row_bytes        # of the parts of an observation
    cdef int num_rewards, num_agents
    cdef bint has_success, is_intersection, is_group, is_drawn

    @property
    def task(self):
        return type(self).__name__

    def __init__(self, spec, env_id):
        cdef Shared shared = shared_of(self.task, dict(spec.options))
        cdef size_t k
        self.own_config = shared.setup.get().config
        self.state.hold(new Driving(shared.setup))
        self.driving, self.archived = self.state.get(), &self.state
        for _, part in spec.observations:
            self.row_bytes.push_back(np.prod(part.shape, dtype=int) * part.dtype.itemsize)
        self.num_agents = shared.setup.get().options.agents
        self.is_group = shared.setup.get().options.multi_agent
        for k in range(shared.setup.get().views.size()):
            self.is_drawn |= shared.setup.get().views[k].kind == PICTURE
        self.has_success = "is_success" in spec.info
        self.is_intersection = "agents_rewards" in spec.info
        self.num_rewards = sum(name.endswith("_reward") for name in spec.info)

    cdef int reset(self) except -1 nogil:
        if self.given.get() != NULL:
            self.driving.use(self.given)
            self.given.reset()
        self.driving.reset(self.rng)
        return self.draw(True) if self.is_drawn else 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef int k
        self.driving.step(action, self.rng)
        if self.is_drawn:
            self.draw(False)
        self.driving.after_step()
        self.reward = self.driving.reward
        self.terminated, self.truncated = self.driving.terminated, self.driving.truncated
        if self.is_group:
            for k in range(self.num_agents):
                self.agents.reward[k] = self.driving.agent_reward[k] if self.is_intersection else self.reward
        return 0

    cdef int draw(self, bint is_first) except -1 nogil:
        """Appends pictures to the frames that are observed."""
        cdef ConstSetup* setup = self.driving.setup.get()
        cdef char* frames = self.driving.observation()
        cdef size_t size
        cdef int agent
        cdef const View* view
        with gil:
            options = self.options()
            bodies = self.bodies()
            for agent in range(self.num_agents if self.is_group else 1):
                for k in range(setup.views.size()):
                    view = &setup.views[k]
                    if view.kind == PICTURE:
                        picture = observed_picture(self.spec.id, self.task, options, bodies, agent, k)
                        size = view.width * view.height
                        if is_first:
                            memset(frames, 0, view.size)
                        memmove(frames, frames + size, view.size - size)
                        memcpy(frames + view.size - size, cnp.PyArray_DATA(picture), size)
                    frames += setup.room(view[0])
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef ConstSetup* setup = self.driving.setup.get()
        cdef const char* observation = self.driving.observation()
        cdef size_t k
        cdef int i
        for k in range(self.row_bytes.size()):
            memcpy(out.obs[k], observation, self.row_bytes[k])
            observation += setup.room(setup.views[k]) if setup.views.size() > 1 else self.row_bytes[k]
        if not self.driving.ready():
            return 0
        info_row[double](out, 0)[0] = self.driving.ego().speed
        info_row[uint8_t](out, 1)[0] = self.driving.ego().crashed
        for i in range(self.num_rewards):
            info_row[double](out, 2 + i)[0] = self.driving.rewards[i]
        if self.has_success:
            info_row[uint8_t](out, 2 + self.num_rewards)[0] = self.driving.success
        if self.is_intersection:
            memcpy(out.info[2 + self.num_rewards], self.driving.agent_reward, self.num_agents * sizeof(double))
            memcpy(out.info[3 + self.num_rewards], self.driving.agent_ended, self.num_agents)
        return 0

    cdef dict options(self):
        """Returns the options, including those of resets."""
        return json.loads(self.driving.setup.get().config)

    cdef Shared shared_with(self, dict options):
        """Returns the shared part of environments with other options, if the spaces are the same."""
        spec, own = self.describe(**options), self.spec
        if any(getattr(spec, each) != getattr(own, each) for each in ("observation", "action", "agents", "info")) or (
                specs.types_of(spec.options) != specs.types_of(own.options)):
            raise ValueError("config: expected no changes to the observation space, action space or infos")
        if spec.goals != own.goals:
            raise ValueError("config: expected unchanged reward_weights and success_goal_reward "
                             f"(compute_reward uses them), got {list(spec.goals.weights)} and {spec.goals.success}")
        return shared_of(self.task, dict(spec.options))

    cdef int take_reset_options(self, dict options) except -1:
        check_reset_options(options, ("config",))
        if options.get("config") is None:
            self.given.reset()
        else:
            self.given = self.shared_with({**self.options(), "config": options["config"]}).setup
        return 0

    cdef object save(self):
        saved = ArchivedEnv.save(self)
        config = self.driving.setup.get().config
        return saved if config == self.own_config else (*saved, <bytes>config)

    cdef int load(self, object state) except -1:
        cdef shared_ptr[ConstSetup] before = self.driving.setup
        cdef Shared shared
        cdef string config = self.own_config
        if isinstance(state, (tuple, list)) and len(state) == 2:
            saved, config = check_state(state, bytes, bytes)
            state = (saved,)
        if config != before.get().config:
            shared = self.shared_with(specs.options_of(config))
            self.driving.use(shared.setup)
        try:
            ArchivedEnv.load(self, state)
        except BaseException:
            self.driving.use(before)
            raise
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        ArchivedEnv.copy_from(self, other)
        # bodies were the other one's
        self.driving.use(self.driving.setup)
        return 0

    cdef list bodies(self):
        return bodies_of(self.driving.world.vehicles) + bodies_of(self.driving.world.objects)

    cdef object render(self):
        if not self.driving.ready():
            raise RuntimeError("render: expected a reset first")
        return draw_scene(self.spec.id, self.task, self.options(), self.bodies())


cdef list bodies_of(vector[Body]& bodies):
    cdef size_t i
    return [(bodies[i].kind, (bodies[i].x, bodies[i].y), bodies[i].heading, bodies[i].speed, bodies[i].steering,
             bodies[i].acceleration, bodies[i].crashed, bodies[i].hit, bodies[i].length, bodies[i].width,
             bodies[i].agent) for i in range(bodies.size())]


class Highway(HighwayEnv):
    """Drive fast on a highway with traffic, keep right, and avoid collisions."""
    describe = staticmethod(specs.TASKS["Highway"].describe)


class Exit(HighwayEnv):
    """Leave a highway at an exit."""
    describe = staticmethod(specs.TASKS["Exit"].describe)


class Merge(HighwayEnv):
    """Drive on a highway where other vehicles merge from a ramp."""
    describe = staticmethod(specs.TASKS["Merge"].describe)


class MergeGeneric(HighwayEnv):
    """Drive on a highway of any length where other vehicles merge from a ramp."""
    describe = staticmethod(specs.TASKS["MergeGeneric"].describe)


class TwoWay(HighwayEnv):
    """Overtake on a road with oncoming traffic."""
    describe = staticmethod(specs.TASKS["TwoWay"].describe)


class UTurn(HighwayEnv):
    """Make a U-turn in traffic."""
    describe = staticmethod(specs.TASKS["UTurn"].describe)


class Roundabout(HighwayEnv):
    """Cross a roundabout in traffic."""
    describe = staticmethod(specs.TASKS["Roundabout"].describe)


class RoundaboutGeneric(HighwayEnv):
    """Cross a roundabout of any size."""
    describe = staticmethod(specs.TASKS["RoundaboutGeneric"].describe)


class Intersection(HighwayEnv):
    """Cross or turn at an intersection in traffic."""
    describe = staticmethod(specs.TASKS["Intersection"].describe)


class Parking(HighwayEnv):
    """Park in a given space, facing the right direction."""
    describe = staticmethod(specs.TASKS["Parking"].describe)


class Racetrack(HighwayEnv):
    """Stay in the lane on a racetrack."""
    describe = staticmethod(specs.TASKS["Racetrack"].describe)


class RacetrackLarge(HighwayEnv):
    """Stay in the lane on a larger racetrack."""
    describe = staticmethod(specs.TASKS["RacetrackLarge"].describe)


class RacetrackOval(HighwayEnv):
    """Stay in the lane on an oval racetrack."""
    describe = staticmethod(specs.TASKS["RacetrackOval"].describe)


class LaneKeeping(HighwayEnv):
    """Stay in a winding lane despite noise."""
    describe = staticmethod(specs.TASKS["LaneKeeping"].describe)
