# distutils: extra_compile_args = -O2
"""The multi-agent particle environments: circles on a plane that cooperate, compete and talk."""
import functools

import numpy as np

from cypool.util.arguments import check_bool, check_float, check_int, shown
from cypool.envs.mpe2.pictures import draw_world
from cypool.spec import Array, Discrete, EnvSpec, Group
from cypool.state import check_stream

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
from libc.math cimport NAN
from libc.stdint cimport int32_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.vector cimport vector

from cypool.env cimport Env, Rows, Slot
from cypool.envs.common cimport numpy_math
from cypool.envs.common.archived_env cimport Archived, ArchivedEnv
from cypool.random cimport Rng, copy_stream


cdef extern from "cypool/envs/mpe2/scenarios.h" namespace "cypool::mpe2" nogil:
    enum:
        MAX_GROUPS, MAX_DEPOSITS, MAX_CYCLES
        SIMPLE, SPREAD, TAG, ADVERSARY, PUSH, REFERENCE, SPEAKER_LISTENER, CRYPTO, WORLD_COMM, FORMATION, LINE
        COLLECT_TREASURE

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

ctypedef vector[PyObject*] EnvList

numpy.exp, numpy.arctan2, numpy.norm = numpy_math.exp, numpy_math.arctan2, numpy_math.norm
numpy.sin, numpy.cos = numpy_math.sin, numpy_math.cos

# of how many there can be: least and most
COUNTS = {"N": (1, 100), "num_good": (1, 50), "num_adversaries": (1, 50), "num_obstacles": (0, 50),
          "num_food": (1, 50), "num_forests": (0, 50), "num_collectors": (1, 50), "num_deposits": (1, MAX_DEPOSITS),
          "num_treasures": (1, 100)}
MOST_NEIGHBORS = 100
# the most agents and landmarks whose step takes well below a microsecond
MOST_BRIEF = 8


cdef class Shared:
    """A scenario, which environments with the same options share."""
    cdef Scenario scenario


cdef Shared share(int number, options):
    cdef Options given
    given.scenario = number
    given.agents, given.good = options.get("N", 0), options.get("num_good", 0)
    given.adversaries, given.obstacles = options.get("num_adversaries", 0), options.get("num_obstacles", 0)
    given.food, given.forests = options.get("num_food", 0), options.get("num_forests", 0)
    given.collectors, given.deposits = options.get("num_collectors", 0), options.get("num_deposits", 0)
    given.treasures, given.max_cycles = options.get("num_treasures", 0), options["max_cycles"]
    given.agent_neighbors = _or_less(options.get("num_agent_neighbors"))
    given.landmark_neighbors = _or_less(options.get("num_landmark_neighbors"))
    given.curriculum_stage = _or_less(options.get("curriculum_stage"))
    given.local_ratio = options.get("local_ratio", 0)
    given.continuous_actions = options["continuous_actions"]
    given.terminate_on_success = options.get("terminate_on_success", False)
    cdef Shared shared = Shared()
    shared.scenario = ScenarioMaker.make(given)
    return shared


def _or_less(value):
    return -1 if value is None else value


@functools.lru_cache(maxsize=64)
def _shared(int number, items):
    return share(number, dict(items))


def _check(name, value):
    """Returns the value of an option, checked."""
    if name in COUNTS:
        return check_int(name, value, *COUNTS[name])
    if name == "max_cycles":
        return check_int(name, value, 1, MAX_CYCLES)
    if name == "local_ratio":
        return check_float(name, value, 0, 1)
    if name == "curriculum_stage":
        return None if value is None else check_int(name, value, 0, 2)
    if name in ("num_agent_neighbors", "num_landmark_neighbors"):
        return None if value is None else check_int(name, value, 0, MOST_NEIGHBORS)
    return check_bool(name, value)


def _describe(number, names, **options):
    """Returns the spec of a scenario whose groups have these names."""
    cdef Shared shared
    cdef Agent agent
    options = {name: _check(name, value) for name, value in options.items()}
    shared = share(number, options)
    groups, first = {}, 0
    for name, count in zip(names, shared.scenario.group_sizes, strict=True):
        agent = shared.scenario.agents[first]
        first += count
        if options["continuous_actions"]:
            action = Array((agent.num_inputs,), np.float32, 0, 1)
        else:
            action = Discrete(agent.num_choices)
        if agent.num_obs == 0:
            raise ValueError("num_landmark_neighbors: expected at least 1 where num_agent_neighbors is 0, as "
                             f"agents of the group {name!r} observe nothing else, got 0")
        groups[name] = Group(count, Array((agent.num_obs,), np.float32), action)
    size = shared.scenario.num_agents() + shared.scenario.num_landmarks()
    return EnvSpec(agents=groups, state="observations", options=options, render_fps=10,
                   max_episode_steps=options["max_cycles"],
                   brief_steps=number not in (FORMATION, LINE) and size <= MOST_BRIEF)


cdef class MPE2(ArchivedEnv):
    """Base of the environments, which follow mpe2 1.1.1: the same seed and actions give the same bits."""
    cdef Archived[World] state
    cdef World* world                    # of `state`
    cdef Shared shared
    cdef const Scenario* scenario        # of `shared`
    # a copy of the environment's stream as the episode began, from which treasures that come back are drawn
    cdef object _respawns
    cdef const Rng* respawns
    cdef shared_ptr[EnvList] pool        # its environments, which it keeps
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

    cdef bint prepare_pool(self, list envs) except -1:
        cdef MPE2 env
        if any(type(each) is not type(self) or each.spec.options != self.spec.options for each in envs):
            return False
        cdef shared_ptr[EnvList] pool = make_shared[EnvList]()
        for env in envs:
            pool.get().push_back(<PyObject*>env)
            env.pool = pool
        return True

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
        saved = ArchivedEnv.save(self)
        return saved if self.respawns == NULL else (*saved, self._respawns.state)

    cdef int load(self, object state) except -1:
        if self.respawns == NULL:
            return ArchivedEnv.load(self, state)
        if not isinstance(state, (tuple, list)) or len(state) != 2:
            raise ValueError(f"state: expected a tuple of 2 values, got {shown(state)}")
        own, stream = state
        stream = check_stream("state[1]", stream, np.random.PCG64)
        ArchivedEnv.load(self, (own,))
        self._respawns.state = stream
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        ArchivedEnv.copy_from(self, other)
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
            raise RuntimeError("render: expected a reset before, got none")
        return draw_world(
            self.module, self.spec.options, goals=(world.goal, world.key), camera_range=world.camera_range,
            positions=[(world.positions()[i].x(), world.positions()[i].y()) for i in range(n)],
            messages=[[world.message(i)[k] for k in range(self.scenario.words)] for i in range(n)],
            landmarks=[(world.landmarks()[k].x(), world.landmarks()[k].y()) for k in range(m)],
            treasures=[(treasure.kind, treasure.is_there) for treasure in world.treasures],
            held=[each for each in world.held])


cdef class Simple(MPE2):
    """One agent that is to go to a landmark.

    Observation: float32 (4,): velocity; the landmark, seen from the agent.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: The squared distance, negative.
    """
    number, module = SIMPLE, "simple_v3"

    @staticmethod
    def describe(max_cycles=25, continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(SIMPLE, ["agent"], max_cycles=max_cycles,
                         continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class SimpleSpread(MPE2):
    """Agents that are to be at all landmarks, without touching each other.

    Observation: float32 (18,): velocity; place; landmarks and then other agents, seen from the agent; zeros for
        messages.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: `local_ratio` times the agent's own, -1 for each agent that it touches; the rest for all: for each landmark
        the distance of the nearest agent, negative.
    """
    number, module = SPREAD, "simple_spread_v3"

    @staticmethod
    def describe(N=3, local_ratio=0.5, curriculum_stage=None, terminate_on_success=False,
                 num_agent_neighbors=None, num_landmark_neighbors=None, max_cycles=25,
                 continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            N: How many agents and landmarks.
            local_ratio: How much of a reward is the agent's own.
            curriculum_stage: 0: touching costs nothing; None, 1, 2: it does.
            terminate_on_success: Whether an episode ends when there is an agent at each landmark.
            num_agent_neighbors: How many of the nearest other agents are observed, the nearest first, and zeros where
                there are fewer; None: all, as they are numbered.
            num_landmark_neighbors: The same for landmarks.
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(SPREAD, ["agent"], N=N, local_ratio=local_ratio,
                         curriculum_stage=curriculum_stage,
                         terminate_on_success=terminate_on_success,
                         num_agent_neighbors=num_agent_neighbors,
                         num_landmark_neighbors=num_landmark_neighbors, max_cycles=max_cycles,
                         continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class SimpleTag(MPE2):
    """Adversaries that chase faster agents among obstacles.

    Observation: float32 (16,) of an adversary, (14,) of an agent: velocity; place; obstacles and then others, seen from
        it; velocities of the others that are agents.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: An adversary gets 10 for each touch of an agent by any of them. An agent gets -10 for each adversary that
        touches it, and less the farther it leaves the picture.
    """
    number, module = TAG, "simple_tag_v3"

    @staticmethod
    def describe(num_good=1, num_adversaries=3, num_obstacles=2, curriculum_stage=None,
                 terminate_on_success=False, num_agent_neighbors=None, num_landmark_neighbors=None,
                 max_cycles=25, continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            num_good, num_adversaries, num_obstacles: How many agents, adversaries and obstacles.
            curriculum_stage: 0, 1: agents are slower, by a half and by a quarter; None, 2: they are not.
            terminate_on_success: Whether an episode ends when all agents are caught.
            num_agent_neighbors: How many of the nearest other agents are observed, the nearest first, and zeros where
                there are fewer; None: all, as they are numbered.
            num_landmark_neighbors: The same for landmarks.
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(TAG, ["adversary", "agent"], num_good=num_good,
                         num_adversaries=num_adversaries, num_obstacles=num_obstacles,
                         curriculum_stage=curriculum_stage,
                         terminate_on_success=terminate_on_success,
                         num_agent_neighbors=num_agent_neighbors,
                         num_landmark_neighbors=num_landmark_neighbors, max_cycles=max_cycles,
                         continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class SimpleAdversary(MPE2):
    """Agents that go to a landmark, and an adversary that does not know which one it is.

    Observation: float32 (8,) of the adversary, (10,) of an agent, where the goal comes first; landmarks and then
        others, seen from it.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: Of the adversary its distance to the goal, negative; of agents that of the nearest of them, negative, and
        the adversary's.
    """
    number, module = ADVERSARY, "simple_adversary_v3"

    @staticmethod
    def describe(N=2, num_agent_neighbors=None, num_landmark_neighbors=None, max_cycles=25,
                 continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            N: How many agents, and landmarks.
            num_agent_neighbors: How many of the nearest other agents are observed, the nearest first, and zeros where
                there are fewer; None: all, as they are numbered.
            num_landmark_neighbors: The same for landmarks.
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(ADVERSARY, ["adversary", "agent"], N=N,
                         num_agent_neighbors=num_agent_neighbors,
                         num_landmark_neighbors=num_landmark_neighbors, max_cycles=max_cycles,
                         continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class SimplePush(MPE2):
    """An agent that is to go to a landmark, and an adversary that pushes it away.

    Observation: float32 (8,) of the adversary: velocity; landmarks and the other, seen from it. float32 (19,) of the
        agent: velocity; the goal, seen from it; the goal's colour; landmarks, their colours, and the other.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: Of the agent its distance to the goal, negative; of the adversary that distance less its own.
    """
    number, module = PUSH, "simple_push_v3"

    @staticmethod
    def describe(max_cycles=25, continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(PUSH, ["adversary", "agent"], max_cycles=max_cycles,
                         continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class SimpleReference(MPE2):
    """Two agents of which each knows where the other is to go, and talks to it.

    Observation: float32 (21,): velocity; landmarks, seen from the agent; the colour of the other's goal; its message.
    Action: Ten words times the five moves of `Simple`: move + 5 * word; with `continuous_actions` float32 (15,) in [0,
        1], five forces and ten numbers for the message.
    Reward: `local_ratio` times its own, the other's distance to its goal, negative; the rest for both: the mean of
        these.
    """
    number, module = REFERENCE, "simple_reference_v3"

    @staticmethod
    def describe(local_ratio=0.5, max_cycles=25, continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            local_ratio: How much of a reward is the agent's own.
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(REFERENCE, ["agent"], local_ratio=local_ratio, max_cycles=max_cycles,
                         continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class SimpleSpeakerListener(MPE2):
    """A speaker that knows where a listener is to go, and cannot move.

    Observation: float32 (3,) of the speaker: the colour of the goal. float32 (11,) of the listener: velocity;
        landmarks, seen from it; the speaker's message.
    Action: The speaker says one of three words; with `continuous_actions` float32 (3,) in [0, 1]. The listener moves as
        in `Simple`.
    Reward: The listener's squared distance to the goal, negative, for both.
    """
    number, module = SPEAKER_LISTENER, "simple_speaker_listener_v4"

    @staticmethod
    def describe(max_cycles=25, continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(SPEAKER_LISTENER, ["speaker", "listener"], max_cycles=max_cycles,
                         continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class SimpleCrypto(MPE2):
    """Alice sends Bob a secret, and both know a key that Eve does not.

    Observation: float32 (4,) of Eve: Alice's message. float32 (8,) of Bob: key and message; of Alice: secret and key.
    Action: One of four words; with `continuous_actions` float32 (4,) in [0, 1].
    Reward: Of Eve how far she is from the secret, squared and negative; of Alice and Bob Eve's distance less Bob's.
    """
    number, module = CRYPTO, "simple_crypto_v3"

    @staticmethod
    def describe(max_cycles=25, continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(CRYPTO, ["eve", "bob", "alice"], max_cycles=max_cycles,
                         continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class SimpleWorldComm(MPE2):
    """Adversaries, one of them a leader that talks, chase agents that eat and hide in forests.

    Observation: float32 (34,) of an adversary, (28,) of an agent: velocity; place; obstacles, food, forests and then
        others, seen from it; whether it is in each forest, 1 or -1; velocities of the others that are agents. An
        adversary's has these two in the other order, and then the leader's message. Who is in another forest is zeros,
        but to the leader.
    Action: The moves of `Simple`; of the leader times four words: move + 5 * word, with `continuous_actions` float32
        (9,).
    Reward: An adversary gets 5 for each touch of an agent by any of them, less a tenth of the distance to the nearest.
        An agent gets -5 for each adversary that touches it, 2 for food, less the farther it leaves the picture, and
        less a twentieth of the distance to the nearest food.
    """
    number, module = WORLD_COMM, "simple_world_comm_v3"

    @staticmethod
    def describe(num_good=2, num_adversaries=4, num_obstacles=1, num_food=2, num_forests=2, max_cycles=25,
                 continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            num_good, num_adversaries: How many agents, and adversaries with their leader.
            num_obstacles, num_food, num_forests: How many of each.
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(WORLD_COMM, ["leadadversary", *["adversary"] * (num_adversaries != 1),
                         "agent"], num_good=num_good, num_adversaries=num_adversaries,
                         num_obstacles=num_obstacles, num_food=num_food,
                         num_forests=num_forests, max_cycles=max_cycles,
                         continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class SimpleFormation(MPE2):
    """Agents that are to be on a circle around a landmark, evenly.

    Observation: float32 (6,): velocity; place; the landmark, seen from the agent.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: The mean of their distances to the places, each at most 2, negative; who goes where makes the least sum.
    """
    number, module = FORMATION, "simple_formation_v1"

    @staticmethod
    def describe(N=4, terminate_on_success=False, max_cycles=25, continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            N: How many agents.
            terminate_on_success: Whether an episode ends when all are at their places.
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(FORMATION, ["agent"], N=N, terminate_on_success=terminate_on_success,
                         max_cycles=max_cycles, continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class SimpleLine(MPE2):
    """Agents that are to be on a line between two landmarks, evenly.

    Observation: float32 (8,): velocity; place; the landmarks, seen from the agent.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: As of `SimpleFormation`.
    """
    number, module = LINE, "simple_line_v1"

    @staticmethod
    def describe(N=4, terminate_on_success=False, max_cycles=25, continuous_actions=False, dynamic_rescaling=True):
        """Returns the spec.

        Args:
            N: How many agents.
            terminate_on_success: Whether an episode ends when all are at their places.
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(LINE, ["agent"], N=N, terminate_on_success=terminate_on_success,
                         max_cycles=max_cycles, continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)


cdef class CollectTreasure(MPE2):
    """Collectors that carry treasures to the deposits of their kinds.

    Observation: float32 (86,) of a collector, (84,) of a deposit: place; velocity; of a collector what it has. Others,
        the nearest first: seen from it, velocity, its kind if it is a deposit, what it has. Treasures, the nearest
        first: seen from it, kind. Kinds are one-hot.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: All get 5 for each treasure that is picked up, and for each that is delivered. Collectors get -5 for each
        other one that they touch. Of all, less a tenth of a distance: to the nearest treasure, or where it is to be
        brought; of deposits to the nearest collector that has something for it, or to the middle of all.
    """
    number, module = COLLECT_TREASURE, "collect_treasure_v1"

    @staticmethod
    def describe(num_collectors=6, num_deposits=2, num_treasures=6, max_cycles=25, continuous_actions=False,
                 dynamic_rescaling=True):
        """Returns the spec.

        Args:
            num_collectors, num_deposits, num_treasures: How many of each.
            max_cycles: Steps of an episode.
            continuous_actions: Whether actions are numbers.
            dynamic_rescaling: Whether pictures show circles in the scale of places.
        """
        return _describe(COLLECT_TREASURE, ["collector", "deposit"],
                         num_collectors=num_collectors, num_deposits=num_deposits,
                         num_treasures=num_treasures, max_cycles=max_cycles,
                         continuous_actions=continuous_actions,
                         dynamic_rescaling=dynamic_rescaling)
