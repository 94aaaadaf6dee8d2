# distutils: extra_compile_args = -O3
"""The multi-agent particle environments: circles on a plane that cooperate, compete and talk."""
import numpy as np

from cypool.envs.mpe2 import specs
from cypool.envs.mpe2.pictures import draw_world

from libcpp.vector cimport vector

from cypool.envs.shared.numerics cimport numpy_math
from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv, RulesOf, options_of
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
    """Base of the environments, which follow mpe2 1.1.1: the same seed and actions give bit-identical results."""

    def settings(self, options):
        return specs.settings_of(type(self).__name__, options)

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[World](options)

    cdef object draw(self, dict state):
        return draw_world(self.spec.id, self.spec.options, state)


class Simple(MPE2):
    """One agent goes to a landmark.

    Observation: float32 (4,): velocity; the landmark's relative position.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions`, float32 (5,) from 0 to 1, one
        strength per choice.
    Reward: The negative squared distance to the landmark.
    """
    describe = staticmethod(specs.describer("Simple", shape_of))


class SimpleSpread(MPE2):
    """Agents cover all landmarks without touching each other.

    Observation: float32 (18,): velocity; position; relative positions of landmarks, then of other agents; zeros for
        messages.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions`, float32 (5,) from 0 to 1, one
        strength per choice.
    Reward: `local_ratio` times the agent's own reward (-1 for each agent that it touches), plus 1 - `local_ratio` times
        a shared reward: for each landmark, the negative distance to the nearest agent.
    """
    describe = staticmethod(specs.describer("SimpleSpread", shape_of))


class SimpleTag(MPE2):
    """Adversaries chase faster agents among obstacles.

    Observation: float32 (16,) for an adversary, (14,) for an agent: velocity; position; relative positions of
        obstacles, then of others; velocities of the other agents.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions`, float32 (5,) from 0 to 1, one
        strength per choice.
    Reward: An adversary gets 10 whenever any adversary touches an agent. An agent gets -10 for each adversary that
        touches it, and a penalty that grows with its distance outside the screen.
    """
    describe = staticmethod(specs.describer("SimpleTag", shape_of))


class SimpleAdversary(MPE2):
    """Agents go to a landmark that an adversary must infer.

    Observation: float32 (8,) for the adversary: relative positions of landmarks, then of others; (10,) for an agent,
        starting with the goal's.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions`, float32 (5,) from 0 to 1, one
        strength per choice.
    Reward: For the adversary, the negative distance to the goal; for agents, the adversary's distance minus the nearest
        agent's.
    """
    describe = staticmethod(specs.describer("SimpleAdversary", shape_of))


class SimplePush(MPE2):
    """An agent goes to a landmark, and an adversary pushes it away.

    Observation: float32 (8,) for the adversary: velocity; relative positions of the landmarks and the agent. float32
        (19,) for the agent: velocity; the goal's relative position and color; relative positions of landmarks, landmark
        colors, and the relative position of the adversary.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions`, float32 (5,) from 0 to 1, one
        strength per choice.
    Reward: For the agent, the negative distance to the goal; for the adversary, the agent's distance minus its own.
    """
    describe = staticmethod(specs.describer("SimplePush", shape_of))


class SimpleReference(MPE2):
    """Each of two agents knows the other's goal and communicates it.

    Observation: float32 (21,): velocity; relative positions of landmarks; the other agent's goal color and message.
    Action: Ten words times the five moves of `Simple`: move + 5 * word; with `continuous_actions`, float32 (15,) in [0,
        1], five forces and ten numbers for the message.
    Reward: `local_ratio` times the agent's own reward (minus the other agent's distance to its goal), plus 1 -
        `local_ratio` times the mean of both agents' own rewards.
    """
    describe = staticmethod(specs.describer("SimpleReference", shape_of))


class SimpleSpeakerListener(MPE2):
    """A speaker that cannot move knows the goal of a listener.

    Observation: float32 (3,) for the speaker: the color of the goal. float32 (11,) for the listener: velocity;
        relative positions of landmarks; the speaker's message.
    Action: The speaker says one of three words; with `continuous_actions`, float32 (3,) in [0, 1]. The listener moves
        as in `Simple`.
    Reward: The negative squared distance of the listener to the goal, for both.
    """
    describe = staticmethod(specs.describer("SimpleSpeakerListener", shape_of))


class SimpleCrypto(MPE2):
    """Alice sends Bob a secret, and both know a key that Eve does not.

    Observation: float32 (4,) for Eve: Alice's message. float32 (8,) for Bob: key and message; for Alice: secret and
        key.
    Action: One of four words; with `continuous_actions`, float32 (4,) in [0, 1].
    Reward: For Eve, her word's negative squared distance to the secret; for Alice and Bob, Eve's distance minus Bob's.
    """
    describe = staticmethod(specs.describer("SimpleCrypto", shape_of))


class SimpleWorldComm(MPE2):
    """Adversaries, led by one that communicates, chase agents that eat and hide in forests.

    Observation: float32 (34,) for an adversary, (28,) for an agent: velocity; position; relative positions of
        obstacles, food, forests, then of others; for each forest, 1 if inside, else -1; velocities of the other agents.
        For an adversary, the last two parts are swapped, and the leader's message follows. Only the leader sees agents
        in other forests; the others get zeros.
    Action: The moves of `Simple`; for the leader, times four words: move + 5 * word; with `continuous_actions`, float32
        (9,).
    Reward: An adversary gets 5 whenever any adversary touches an agent, minus a tenth of the distance to the nearest
        agent. An agent gets -5 for each adversary that touches it, 2 for food, a penalty that grows with its distance
        outside the screen, and minus a twentieth of the distance to the nearest food.
    """
    describe = staticmethod(specs.describer("SimpleWorldComm", shape_of))


class SimpleFormation(MPE2):
    """Agents spread evenly on a circle around a landmark.

    Observation: float32 (6,): velocity; position; the landmark's relative position.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions`, float32 (5,) from 0 to 1, one
        strength per choice.
    Reward: The negative mean distance to the target positions, each distance capped at 2, for the assignment with the
        lowest sum.
    """
    describe = staticmethod(specs.describer("SimpleFormation", shape_of))


class SimpleLine(MPE2):
    """Agents spread evenly on a line between two landmarks.

    Observation: float32 (8,): velocity; position; relative positions of the landmarks.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions`, float32 (5,) from 0 to 1, one
        strength per choice.
    Reward: As in `SimpleFormation`.
    """
    describe = staticmethod(specs.describer("SimpleLine", shape_of))


cdef class CollectTreasure(MPE2):
    """Collectors carry treasures to the deposits of the same kind.

    Observation: float32 (86,) for a collector, (84,) for a deposit: position; velocity; for a collector, the treasure
        it holds. For each other agent, nearest first: relative position, velocity, a deposit's kind, the treasure held.
        For each treasure, nearest first: relative position, kind. Kinds are one-hot.
    Action: None (0), left (1), right (2), down (3) or up (4); with `continuous_actions`, float32 (5,) from 0 to 1, one
        strength per choice.
    Reward: All get 5 for each treasure picked up or delivered. Collectors get -5 for each other collector that they
        touch. All lose a tenth of a distance: for collectors, the distance to the nearest treasure or its deposit; for
        deposits, the distance to the nearest collector with a treasure for them, or else to the collectors' center.
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
