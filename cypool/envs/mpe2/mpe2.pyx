# distutils: extra_compile_args = -O3
"""The multi-agent particle environments: circles on a plane that cooperate, compete and talk."""
import numpy as np

from cypool.envs.mpe2 import specs
from cypool.envs.mpe2.pictures import draw_world

from libcpp.vector cimport vector

from cypool.envs.common cimport numpy_math
from cypool.envs.common.rules_env cimport Options, Rules, RulesEnv, RulesOf, options_of
from cypool.random cimport copy_stream


cdef extern from "cypool/envs/mpe2/scenarios.h" namespace "cypool::mpe2" nogil:
    cdef struct NumPy:
        double (*exp)(double) noexcept
        double (*sin)(double) noexcept
        double (*cos)(double) noexcept
        double (*arctan2)(double, double) noexcept
        double (*norm)(const double*, Py_ssize_t) noexcept
    NumPy numpy

    cdef struct Agent:
        int num_obs, num_choices, num_inputs

    cdef cppclass Scenario:
        vector[Agent] agents
        vector[int] group_sizes
        int num_agents()
        int num_landmarks()

    cdef cppclass World:
        World(const Options& options) except +
        Scenario& s "s.operator*"()

numpy.exp, numpy.arctan2, numpy.norm = numpy_math.exp, numpy_math.arctan2, numpy_math.norm
numpy.sin, numpy.cos = numpy_math.sin, numpy_math.cos


def shape_of(dict settings):
    """Returns the groups of a scenario, and its number of agents and landmarks: see `specs.describer`."""
    cdef World* world = new World(options_of(settings))
    cdef Agent agent
    groups, first = [], 0
    try:
        for count in world.s().group_sizes:
            agent = world.s().agents[first]
            first += count
            groups.append((count, agent.num_obs, agent.num_choices, agent.num_inputs))
        return groups, world.s().num_agents() + world.s().num_landmarks()
    finally:
        del world


cdef class MPE2(RulesEnv):
    """Base of the environments, which follow mpe2 1.1.1: the same seed and actions give the same bits."""

    def settings(self, options):
        return specs.settings_of(type(self).__name__, options)

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[World](options)

    cdef object draw(self, dict state):
        return draw_world(self.spec.id, self.spec.options, state)


class Simple(MPE2):
    """One agent that is to go to a landmark.

    Observation: float32 (4,): velocity; the landmark, seen from the agent.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: The squared distance, negative.
    """
    describe = staticmethod(specs.describer("Simple", shape_of))


class SimpleSpread(MPE2):
    """Agents that are to be at all landmarks, without touching each other.

    Observation: float32 (18,): velocity; place; landmarks and then other agents, seen from the agent; zeros for
        messages.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: `local_ratio` times the agent's own, -1 for each agent that it touches; the rest for all: for each landmark
        the distance of the nearest agent, negative.
    """
    describe = staticmethod(specs.describer("SimpleSpread", shape_of))


class SimpleTag(MPE2):
    """Adversaries that chase faster agents among obstacles.

    Observation: float32 (16,) of an adversary, (14,) of an agent: velocity; place; obstacles and then others, seen from
        it; velocities of the others that are agents.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: An adversary gets 10 for each touch of an agent by any of them. An agent gets -10 for each adversary that
        touches it, and less the farther it leaves the picture.
    """
    describe = staticmethod(specs.describer("SimpleTag", shape_of))


class SimpleAdversary(MPE2):
    """Agents that go to a landmark, and an adversary that does not know which one it is.

    Observation: float32 (8,) of the adversary, (10,) of an agent, where the goal comes first; landmarks and then
        others, seen from it.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: Of the adversary its distance to the goal, negative; of agents that of the nearest of them, negative, and
        the adversary's.
    """
    describe = staticmethod(specs.describer("SimpleAdversary", shape_of))


class SimplePush(MPE2):
    """An agent that is to go to a landmark, and an adversary that pushes it away.

    Observation: float32 (8,) of the adversary: velocity; landmarks and the other, seen from it. float32 (19,) of the
        agent: velocity; the goal, seen from it; the goal's colour; landmarks, their colours, and the other.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: Of the agent its distance to the goal, negative; of the adversary that distance less its own.
    """
    describe = staticmethod(specs.describer("SimplePush", shape_of))


class SimpleReference(MPE2):
    """Two agents of which each knows where the other is to go, and talks to it.

    Observation: float32 (21,): velocity; landmarks, seen from the agent; the colour of the other's goal; its message.
    Action: Ten words times the five moves of `Simple`: move + 5 * word; with `continuous_actions` float32 (15,) in [0,
        1], five forces and ten numbers for the message.
    Reward: `local_ratio` times its own, the other's distance to its goal, negative; the rest for both: the mean of
        these.
    """
    describe = staticmethod(specs.describer("SimpleReference", shape_of))


class SimpleSpeakerListener(MPE2):
    """A speaker that knows where a listener is to go, and cannot move.

    Observation: float32 (3,) of the speaker: the colour of the goal. float32 (11,) of the listener: velocity;
        landmarks, seen from it; the speaker's message.
    Action: The speaker says one of three words; with `continuous_actions` float32 (3,) in [0, 1]. The listener moves as
        in `Simple`.
    Reward: The listener's squared distance to the goal, negative, for both.
    """
    describe = staticmethod(specs.describer("SimpleSpeakerListener", shape_of))


class SimpleCrypto(MPE2):
    """Alice sends Bob a secret, and both know a key that Eve does not.

    Observation: float32 (4,) of Eve: Alice's message. float32 (8,) of Bob: key and message; of Alice: secret and key.
    Action: One of four words; with `continuous_actions` float32 (4,) in [0, 1].
    Reward: Of Eve how far she is from the secret, squared and negative; of Alice and Bob Eve's distance less Bob's.
    """
    describe = staticmethod(specs.describer("SimpleCrypto", shape_of))


class SimpleWorldComm(MPE2):
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
    describe = staticmethod(specs.describer("SimpleWorldComm", shape_of))


class SimpleFormation(MPE2):
    """Agents that are to be on a circle around a landmark, evenly.

    Observation: float32 (6,): velocity; place; the landmark, seen from the agent.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: The mean of their distances to the places, each at most 2, negative; who goes where makes the least sum.
    """
    describe = staticmethod(specs.describer("SimpleFormation", shape_of))


class SimpleLine(MPE2):
    """Agents that are to be on a line between two landmarks, evenly.

    Observation: float32 (8,): velocity; place; the landmarks, seen from the agent.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how
        much of each.
    Reward: As of `SimpleFormation`.
    """
    describe = staticmethod(specs.describer("SimpleLine", shape_of))


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
    describe = staticmethod(specs.describer("CollectTreasure", shape_of))

    def __init__(self, spec, env_id):
        MPE2.__init__(self, spec, env_id)
        self.draw_from(np.random.PCG64(0))

    cdef int reset(self) except -1 nogil:
        # treasures that come back are drawn from the stream as it is now
        if not copy_stream(self.rules.get().last.second_rng, self.rng):
            with gil:
                self.second_stream.state = self._bit_generator.state
        return MPE2.reset(self)
