# distutils: extra_compile_args = -O3
"""highway-env's driving tasks."""
import math
import sys
from fractions import Fraction
from weakref import WeakValueDictionary

import numpy as np

from cypool.envs.highway import specs
from cypool.envs.highway.pictures import draw_scene

from libc.stdint cimport uint8_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot, info_row
from cypool.envs.common cimport numpy_math
from cypool.envs.common.archived_env cimport Archived, ArchivedEnv
from cypool.random cimport Rng, normal


cdef extern from "cypool/envs/highway/env.h" namespace "cypool::highway" nogil:
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
        cbool compensated_sum
    NumPy numpy

    cdef struct Options:
        int task, fast, frames, simulation_frequency, agents, multi_agent, vehicles_count, initial_lane, lanes_count
        int connected_lanes, normalize_reward, offroad_terminal, other_vehicles, destination, incoming, add_walls, walls
        int terminate_off_road, ints, action, longitudinal, lateral, dynamical, clip, actions_per_axis, has_speed_range
        int num_targets, obs, num_features, rows, absolute, shuffled, sorted, normalize, clip_obs, see_behind
        int intentions, objects, has_ranges, horizon, align, as_image, cells, grid_w, grid_h, linear
        double policy_frequency, duration, ego_spacing, density, spawn_probability, collision, right_lane, high_speed
        double lane_change, merging_speed, left_lane, goal, arrived, speed_low, speed_high, centering_cost, centering
        double action_cost, on_road, success, end_position, max_position, ramp_length, state_noise, derivative_noise
        double acceleration0, acceleration1, steering0, steering1, speed_range0, speed_range1, grid_x0, grid_y0
        double grid_dx, grid_dy, lidar_range, gain, headway
        int[16] features, ranged
        int[24] nodes
        double[16] targets, range0, range1, scales
        double[6] weights
        double[3] speeds, speeds_low, speeds_range
        double[2] steers, steers_low, steers_range
        double[128] starts
        double[64] spread, wall_places, axis

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
        Options options
        Network network

    cdef cppclass Body:
        int kind, goal, agent
        double x, y, heading, speed, length, width, steering, acceleration
        cbool crashed, hit

    cdef cppclass World:
        vector[Body] vehicles, objects

    cdef cppclass Driving "cypool::highway::Env":
        Driving() except +
        Driving(const Setup* setup) except +
        void use(const Setup* setup)
        void reset(const Rng* rng) except +
        void step(const void* action, const Rng* rng) except +
        const char* observation()
        const Body& ego()
        cbool ready()
        World world
        double time, reward
        cbool terminated, truncated, success
        double[8] rewards, agent_reward
        cbool[8] agent_ended


cdef int rounding(product) except -1:
    """Returns how NumPy rounds a product of two pairs of numbers."""
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
        raise ImportError(f"numpy {np.__version__}: expected a product of vectors that is rounded once or twice")
    return min(ways)


def differs(of_numpy, of_c, *arguments):
    """Returns whether NumPy's function gives other bits than the C library's."""
    return of_numpy(*arguments).tolist() != list(map(of_c, *[each.tolist() for each in arguments]))


cdef int measure() except -1:
    """Finds out what differs between CPUs and between versions of Python."""
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
    numpy.vector_dot = rounding(np.dot)
    numpy.matrix_vector = rounding(lambda a, b: (np.array([[a[0], a[1]], [-a[1], a[0]]]) @ b)[0])
    numpy.matrix_matrix = rounding(lambda a, b: (np.array([[a[0], a[1]], [-a[1], a[0]]]) @ np.array([b] * 4).T)[0, 2])
    numpy.compensated_sum = sys.version_info >= (3, 12)
    return 0


measure()


cdef class Shared:
    """Roads and options, which environments with the same options share."""
    cdef object __weakref__
    cdef Setup setup


_shared = WeakValueDictionary()


cdef Shared shared_of(str task, dict options):
    """Returns what environments of a task share."""
    cdef Options given
    cdef Lane lane
    key = task, repr(options)
    found = _shared.get(key)
    if found is not None:
        return found
    cdef Shared shared = Shared()
    lanes, nodes, numbers = specs.numbers_of(task, options)
    given = numbers
    shared.setup.options = given
    for row in lanes:
        lane = row
        shared.setup.network.lanes.push_back(lane)
    shared.setup.network.finish(len(nodes))
    _shared[key] = shared
    return shared


cdef class HighwayEnv(ArchivedEnv):
    """Base of the tasks, which follow highway-env 1.12.1: the same seed and actions give the same bits."""
    cdef Archived[Driving] state
    cdef Driving* driving                # of `state`
    cdef Shared shared
    cdef vector[size_t] row_bytes        # of the parts of an observation
    cdef int num_rewards, num_agents
    cdef bint has_success, is_intersection, is_group

    task = ""

    def __init__(self, spec, env_id):
        self.shared = shared_of(self.task, dict(spec.options))
        self.state.reset(new Driving(&self.shared.setup))
        self.driving, self.archived = self.state.get(), &self.state
        for _, part in spec.observations:
            self.row_bytes.push_back(np.prod(part.shape, dtype=int) * part.dtype.itemsize)
        self.num_agents = self.shared.setup.options.agents
        self.is_group = self.shared.setup.options.multi_agent
        self.has_success = "is_success" in spec.info
        self.is_intersection = "agents_rewards" in spec.info
        self.num_rewards = sum(name.endswith("_reward") for name in spec.info)

    cdef int reset(self) except -1 nogil:
        self.driving.reset(self.rng)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef int k
        self.driving.step(action, self.rng)
        self.reward = self.driving.reward
        self.terminated, self.truncated = self.driving.terminated, self.driving.truncated
        if self.is_group:
            for k in range(self.num_agents):
                self.agents.reward[k] = self.driving.agent_reward[k] if self.is_intersection else self.reward
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef const char* observation = self.driving.observation()
        cdef size_t k
        cdef int i
        for k in range(self.row_bytes.size()):
            memcpy(out.obs[k], observation, self.row_bytes[k])
            observation += self.row_bytes[k]
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

    cdef int copy_from(self, Env other) except -1 nogil:
        ArchivedEnv.copy_from(self, other)
        # the other one's may end before
        self.driving.use(&self.shared.setup)
        return 0

    cdef object render(self):
        if not self.driving.ready():
            raise RuntimeError("render: expected a reset before, got none")
        return draw_scene(self.spec.id, self.task, self.spec.options, bodies_of(self.driving.world.vehicles)
                          + bodies_of(self.driving.world.objects))


cdef list bodies_of(vector[Body]& bodies):
    cdef size_t i
    return [(bodies[i].kind, (bodies[i].x, bodies[i].y), bodies[i].heading, bodies[i].speed, bodies[i].steering,
             bodies[i].acceleration, bodies[i].crashed, bodies[i].hit, bodies[i].length, bodies[i].width,
             bodies[i].agent) for i in range(bodies.size())]


for _name, _task in specs.TASKS.items():
    globals()[_name] = type(_name, (HighwayEnv,), {
        "__doc__": _task.text, "__module__": __name__, "describe": staticmethod(_task.describe), "task": _name})
