# distutils: extra_compile_args = -O2
"""The multi-agent particle environments: circles on a plane that cooperate, compete and talk."""
import functools

import numpy as np

from cypool.envs.mpe2.pictures import draw_world
from cypool.envs.mpe2 import specs
from cypool.envs.mpe2.specs import SCENARIOS, fields_of
from cypool.state import check_stream
from cypool.util.arguments import shown

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
from libc.math cimport NAN
from libc.stdint cimport int32_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from cypool.env cimport Env, Rows, Slot
from cypool.envs.common cimport numpy_math
from cypool.envs.common.archived_env cimport Archived
from cypool.envs.common.pooled_env cimport PooledEnv
from cypool.random cimport Rng, copy_stream


cdef extern from "cypool/envs/mpe2/scenarios.h" namespace "cypool::mpe2" nogil:
    enum:
        MAX_GROUPS

    cdef struct NumPy:
        double (*exp)(double) noexcept
        double (*sin)(double) noexcept
        double (*cos)(double) noexcept
        double (*arctan2)(double, double) noexcept
        double (*norm)(const double*, Py_ssize_t) noexcept
    NumPy numpy

    cdef struct Options:
        int scenario, agents, good, adversaries, obstacles, food, forests, collectors, deposits, treasures
        int agent_neighbors, landmark_neighbors, curriculum_stage, max_cycles
        double local_ratio
        cbool continuous_actions, terminate_on_success

    cdef struct Agent:
        int group, num_obs, num_choices, num_inputs

    cdef struct Treasure:
        int32_t kind
        cbool is_there

    cdef cppclass Vec:
        double x()
        double y()

    cdef cppclass Scenario:
        vector[Agent] agents
        vector[int] group_sizes
        cbool has_treasures
        int words
        int num_agents()
        int num_landmarks()
        void reset(World& world, const Rng* rng) noexcept
        void step(World& world, const void* action, const Rng* respawns, double* rewards) noexcept
        void observe(const World& world, float** groups) noexcept

    cdef cppclass World:
        World() except +
        World(const Scenario* scenario) except +
        const Vec* positions()
        const Vec* landmarks()
        const double* message(int agent)
        const Scenario* s
        cbool terminated, truncated, is_ready
        int32_t goal, key
        double camera_range
        vector[Treasure] treasures
        vector[int32_t] held

    cdef cppclass ScenarioMaker:
        @staticmethod
        Scenario make(const Options& options) except +

numpy.exp, numpy.arctan2, numpy.norm = numpy_math.exp, numpy_math.arctan2, numpy_math.norm
numpy.sin, numpy.cos = numpy_math.sin, numpy_math.cos


cdef class Shared:
    """A scenario, which environments with the same options share."""
    cdef Scenario scenario


@functools.lru_cache(maxsize=64)
def _shared(number, items):
    cdef Options given = fields_of(number, dict(items))
    cdef Shared shared = Shared()
    shared.scenario = ScenarioMaker.make(given)
    return shared


def shape_of(number, dict options):
    """Returns the groups of a scenario with these options, and its numbers of agents and landmarks.

    A group is (agents, numbers that one observes, choices it has, numbers that it acts by).
    """
    cdef Shared shared = _shared(number, tuple(options.items()))
    cdef Agent agent
    groups, first = [], 0
    for count in shared.scenario.group_sizes:
        agent = shared.scenario.agents[first]
        first += count
        groups.append((count, agent.num_obs, agent.num_choices, agent.num_inputs))
    return groups, shared.scenario.num_agents() + shared.scenario.num_landmarks()


specs.compiled["shape_of"] = shape_of


cdef class MPE2(PooledEnv):
    """Base of the environments, which follow mpe2 1.1.1: the same seed and actions give bit-identical results."""
    cdef Archived[World] state
    cdef World* world                    # of `state`
    cdef Shared shared
    cdef const Scenario* scenario        # of `shared`
    # a copy of the environment's stream as the episode began, from which treasures that come back are drawn
    cdef object _respawns
    cdef const Rng* respawns
    cdef vector[size_t] row_bytes        # of observations, group by group
    cdef size_t action_bytes

    # of the scenario; mpe2's name of it
    number, module = -1, ""

    def __init__(self, spec, env_id):
        self.shared = _shared(self.number, tuple(spec.options.items()))
        self.scenario = &self.shared.scenario
        self.state.reset(new World(self.scenario))
        self.world, self.archived = self.state.get(), &self.state
        for _, part in spec.observations:
            self.row_bytes.push_back(np.prod(part.shape) * sizeof(float))
        self.action_bytes = spec.action_bytes
        if self.scenario.has_treasures:
            self._respawns = np.random.PCG64(0)
            self.respawns = <const Rng*>PyCapsule_GetPointer(self._respawns.capsule, "BitGenerator")

    cdef int reset(self) except -1 nogil:
        if self.respawns != NULL and not copy_stream(self.respawns, self.rng):
            with gil:
                self._respawns.state = self._bit_generator.state
        self.scenario.reset(self.world[0], self.rng)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.scenario.step(self.world[0], action, self.respawns, self.agents.reward)
        self.terminated, self.truncated = self.world.terminated, self.world.truncated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        self.scenario.observe(self.world[0], <float**>out.obs)
        return 0

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        cdef float* groups[MAX_GROUPS]
        cdef PyObject* env
        cdef World* world
        cdef uint32_t k
        cdef size_t g
        for k in range(rows.count):
            env = self.pool.get()[0][rows.ids[k]]
            if (<MPE2>env).needs_reset:
                # the engine resets it
                continue
            world = (<MPE2>env).world
            self.scenario.step(world[0], rows.actions + rows.ids[k] * self.action_bytes, (<MPE2>env).respawns,
                               (<MPE2>env).agents.reward)
            for g in range(self.row_bytes.size()):
                groups[g] = <float*>(<char*>rows.obs[g] + k * self.row_bytes[g])
            self.scenario.observe(world[0], groups)
            # the sum of the agents'
            rows.reward[k] = NAN
            rows.terminated[k], rows.truncated[k] = world.terminated, world.truncated
        return 0

    cdef object save(self):
        saved = PooledEnv.save(self)
        return saved if self.respawns == NULL else (*saved, self._respawns.state)

    cdef int load(self, object state) except -1:
        if self.respawns == NULL:
            return PooledEnv.load(self, state)
        if not isinstance(state, (tuple, list)) or len(state) != 2:
            raise ValueError(f"state: expected a tuple of 2 values, got {shown(state)}")
        own, stream = state
        stream = check_stream("state[1]", stream, np.random.PCG64)
        PooledEnv.load(self, (own,))
        self._respawns.state = stream
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        PooledEnv.copy_from(self, other)
        # the other one's may end before
        self.world.s = self.scenario
        if self.respawns != NULL and not copy_stream(self.respawns, (<MPE2>other).respawns):
            with gil:
                self._respawns.state = (<MPE2>other)._respawns.state
        return 0

    cdef object render(self):
        cdef World* world = self.world
        cdef int i, k, n = self.scenario.num_agents(), m = self.scenario.num_landmarks()
        if not world.is_ready:
            raise RuntimeError("render: expected a reset before")
        return draw_world(
            self.module, self.spec.options, goals=(world.goal, world.key), camera_range=world.camera_range,
            positions=[(world.positions()[i].x(), world.positions()[i].y()) for i in range(n)],
            messages=[[world.message(i)[k] for k in range(self.scenario.words)] for i in range(n)],
            landmarks=[(world.landmarks()[k].x(), world.landmarks()[k].y()) for k in range(m)],
            treasures=[(treasure.kind, treasure.is_there) for treasure in world.treasures],
            held=[each for each in world.held])


for _name, _scenario in SCENARIOS.items():
    globals()[_name] = type(_name, (MPE2,), {
        "__doc__": _scenario.text, "__module__": __name__, "describe": staticmethod(_scenario.describe),
        "number": _scenario.number, "module": _scenario.module})
