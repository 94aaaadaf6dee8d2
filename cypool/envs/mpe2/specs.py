"""The scenarios in a table: texts, groups of agents and options of each; and their specs."""
from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cypool.envs.mpe2.ids import CLASSES
from cypool.options import Option, boolean, describes, integer, number
from cypool.spec import Array, Discrete, EnvSpec, Group

compiled: dict[str, Any] = {}  # functions that the compiled module has, by name; it adds them
# the most agents and landmarks whose step takes well below a microsecond
_MOST_BRIEF = 8
# fields of `Options` in scenarios.h, with our names and the values of scenarios that do without; None is -1
_FIELDS = {
    "agents": ("N", 0), "good": ("num_good", 0), "adversaries": ("num_adversaries", 0),
    "obstacles": ("num_obstacles", 0), "food": ("num_food", 0), "forests": ("num_forests", 0),
    "collectors": ("num_collectors", 0), "deposits": ("num_deposits", 0), "treasures": ("num_treasures", 0),
    "agent_neighbors": ("num_agent_neighbors", None), "landmark_neighbors": ("num_landmark_neighbors", None),
    "curriculum_stage": ("curriculum_stage", None), "max_cycles": ("max_cycles", 0), "local_ratio": ("local_ratio", 0),
    "continuous_actions": ("continuous_actions", False), "terminate_on_success": ("terminate_on_success", False)}

_COMMON = {
    "max_cycles": integer(25, 1, 2**30, "Maximum steps of an episode."),
    "continuous_actions": boolean(False, "Actions are numbers instead of choices."),
    "dynamic_rescaling": boolean(True, "Draws circles at the same scale as positions.")}
_NEIGHBORS = {
    "num_agent_neighbors": integer(None, 0, 100, "Number of other agents observed, the nearest first, padded with "
                                                 "zeros; None: all, in the order of their numbers."),
    "num_landmark_neighbors": integer(None, 0, 100, "The same for landmarks.")}
_LOCAL_RATIO = number(0.5, 0, 1, "The weight of the agent's own reward.")
_MOVES = ("None (0), left (1), right (2), down (3) or up (4); with `continuous_actions`, float32 (5,) from 0 to 1, the "
          "strength of each.")


def _success(meaning: str) -> Option:
    return boolean(False, f"Whether an episode ends when {meaning}.")


def _stage(meaning: str) -> Option:
    return integer(None, 0, 2, meaning)


def _counts(meaning: str, least: int = 1, **defaults: int) -> dict[str, Option]:
    return {name: integer(default, least, 50, meaning) for name, default in defaults.items()}


class Scenario(NamedTuple):
    """A scenario.

    Attributes:
        number: Its number in scenarios.h.
        module: mpe2's name of it.
        describe: Returns its spec.
        text: The docstring of its class.
    """

    number: int
    module: str
    describe: Callable[..., EnvSpec]
    text: str


SCENARIOS: dict[str, Scenario] = {}


def _add(name: str, groups: tuple[str, ...], summary: str, observation: str, action: str, reward: str,
         **options: Option) -> None:
    """Adds the next scenario of scenarios.h, whose options are these and those of all."""
    own = len(SCENARIOS)
    items = (textwrap.fill(f"{title}: {text}", 120, subsequent_indent="    ", break_long_words=False,
                           break_on_hyphens=False)
             for title, text in (("Observation", observation), ("Action", action), ("Reward", reward)))

    @describes(**options, **_COMMON)
    def describe(options: dict[str, Any]) -> EnvSpec:
        return _spec(own, groups, options)

    module = next(id for id, cls in CLASSES.items() if cls == name).replace("-", "_")
    SCENARIOS[name] = Scenario(own, module, describe, "\n".join([f"{summary}\n", *items]))


def _spec(number: int, groups: tuple[str, ...], options: dict[str, Any]) -> EnvSpec:
    """Returns the spec of a scenario whose groups have these names."""
    agents, size = compiled["shape_of"](number, options)
    if len(agents) < len(groups):
        # the leader of world_comm is one of the adversaries, and there may be no other
        groups = groups[::2]
    described = {}
    for name, (count, num_obs, num_choices, num_inputs) in zip(groups, agents, strict=True):
        if num_obs == 0:
            raise ValueError("num_landmark_neighbors: expected at least 1 where num_agent_neighbors is 0, as agents "
                             f"of the group {name!r} observe nothing else, got 0")
        described[name] = Group(
            count, Array((num_obs,), np.float32),
            Array((num_inputs,), np.float32, 0, 1) if options["continuous_actions"] else Discrete(num_choices))
    # those that pair agents with places take longer
    is_brief = size <= _MOST_BRIEF and number not in (SCENARIOS["SimpleFormation"].number,
                                                      SCENARIOS["SimpleLine"].number)
    return EnvSpec(agents=described, state="observations", options=options, render_fps=10,
                   max_episode_steps=options["max_cycles"], brief_steps=is_brief)


def fields_of(number: int, options: dict[str, Any]) -> dict[str, Any]:
    """Returns `Options` of scenarios.h."""
    values = {field: options.get(name, default) for field, (name, default) in _FIELDS.items()}
    return {"scenario": number, **{field: -1 if value is None else value for field, value in values.items()}}


_add("Simple", ("agent",), "One agent goes to a landmark.",
     "float32 (4,): velocity; the landmark's relative position.", _MOVES, "The negative squared distance.")
_add("SimpleSpread", ("agent",), "Agents cover all landmarks without touching each other.",
     "float32 (18,): velocity; position; relative positions of landmarks, then of other agents; zeros for messages.",
     _MOVES,
     "`local_ratio` times the agent's own reward, -1 for each agent that it touches, plus the rest times a shared "
     "reward: for each landmark, the negative distance of the nearest agent.",
     N=integer(3, 1, 100, "Number of agents and landmarks."),
     local_ratio=_LOCAL_RATIO,
     curriculum_stage=_stage("0: touching has no cost; None, 1 or 2: it has."),
     terminate_on_success=_success("there is an agent at each landmark"), **_NEIGHBORS)
_add("SimpleTag", ("adversary", "agent"), "Adversaries chase faster agents among obstacles.",
     "float32 (16,) for an adversary, (14,) for an agent: velocity; position; relative positions of obstacles, then of "
     "others; velocities of the other agents.",
     _MOVES,
     "An adversary gets 10 whenever any adversary touches an agent. An agent gets -10 for each adversary that touches "
     "it, and a penalty that grows with its distance outside of the picture.",
     **_counts("Number of agents, adversaries and obstacles.", num_good=1, num_adversaries=3),
     **_counts("Number of agents, adversaries and obstacles.", 0, num_obstacles=2),
     curriculum_stage=_stage("0, 1: agents are slower, by a half or a quarter; None, 2: full speed."),
     terminate_on_success=_success("all agents are caught"), **_NEIGHBORS)
_add("SimpleAdversary", ("adversary", "agent"),
     "Agents go to a landmark, and an adversary does not know which one.",
     "float32 (8,) for the adversary, (10,) for an agent, which also sees the goal first: relative positions of "
     "landmarks, then of others.",
     _MOVES,
     "For the adversary, its negative distance to the goal; for agents, the adversary's distance minus that of the "
     "nearest agent.",
     N=integer(2, 1, 100, "Number of agents, and of landmarks."), **_NEIGHBORS)
_add("SimplePush", ("adversary", "agent"),
     "An agent goes to a landmark, and an adversary pushes it away.",
     "float32 (8,) for the adversary: velocity; relative positions of landmarks and of the agent. float32 (19,) for "
     "the agent: velocity; the goal's relative position and colour; landmarks, their colours, and the adversary.",
     _MOVES, "For the agent, its negative distance to the goal; for the adversary, the agent's distance minus its own.")
_add("SimpleReference", ("agent",), "Each of two agents knows the goal of the other, and communicates it.",
     "float32 (21,): velocity; relative positions of landmarks; the colour of the other's goal; its message.",
     "Ten words times the five moves of `Simple`: move + 5 * word; with `continuous_actions` float32 (15,) in [0, 1], "
     "five forces and ten numbers for the message.",
     "`local_ratio` times its own reward, the negative distance of the other to its goal, plus the rest times the mean "
     "of both.",
     local_ratio=_LOCAL_RATIO)
_add("SimpleSpeakerListener", ("speaker", "listener"),
     "A speaker that cannot move knows the goal of a listener.",
     "float32 (3,) for the speaker: the colour of the goal. float32 (11,) for the listener: velocity; relative "
     "positions of landmarks; the speaker's message.",
     "The speaker says one of three words; with `continuous_actions` float32 (3,) in [0, 1]. The listener moves as in "
     "`Simple`.",
     "The negative squared distance of the listener to the goal, for both.")
_add("SimpleCrypto", ("eve", "bob", "alice"), "Alice sends Bob a secret, and both know a key that Eve does not.",
     "float32 (4,) for Eve: Alice's message. float32 (8,) for Bob: key and message; for Alice: secret and key.",
     "One of four words; with `continuous_actions` float32 (4,) in [0, 1].",
     "For Eve, her negative squared distance to the secret; for Alice and Bob, Eve's distance minus Bob's.")
_add("SimpleWorldComm", ("leadadversary", "adversary", "agent"),
     "Adversaries, led by one that communicates, chase agents that eat and hide in forests.",
     "float32 (34,) for an adversary, (28,) for an agent: velocity; position; relative positions of obstacles, food, "
     "forests, then of others; for each forest, 1 if inside, else -1; velocities of the other agents. For an "
     "adversary, the last two are swapped, and the leader's message follows. Only the leader sees those in other "
     "forests; otherwise they are zeros.",
     "The moves of `Simple`; for the leader, times four words: move + 5 * word, with `continuous_actions` float32 "
     "(9,).",
     "An adversary gets 5 whenever any adversary touches an agent, minus a tenth of the distance to the nearest agent. "
     "An agent gets -5 for each adversary that touches it, 2 for food, a penalty that grows with its distance outside "
     "of the picture, and minus a twentieth of the distance to the nearest food.",
     **_counts("Number of agents, and of adversaries including their leader.", num_good=2, num_adversaries=4),
     **_counts("Number of each.", 0, num_obstacles=1), **_counts("Number of each.", num_food=2),
     **_counts("Number of each.", 0, num_forests=2))
_add("SimpleFormation", ("agent",), "Agents spread evenly on a circle around a landmark.",
     "float32 (6,): velocity; position; the landmark's relative position.", _MOVES,
     "The negative mean distance to the target places, each at most 2, for the assignment with the lowest sum.",
     N=integer(4, 1, 100, "Number of agents."), terminate_on_success=_success("all are at their places"))
_add("SimpleLine", ("agent",), "Agents spread evenly on a line between two landmarks.",
     "float32 (8,): velocity; position; relative positions of the landmarks.", _MOVES, "As in `SimpleFormation`.",
     N=integer(4, 1, 100, "Number of agents."), terminate_on_success=_success("all are at their places"))
_add("CollectTreasure", ("collector", "deposit"), "Collectors carry treasures to the deposits of their kinds.",
     "float32 (86,) for a collector, (84,) for a deposit: position; velocity; for a collector, what it holds. Others, "
     "the nearest first: relative position, velocity, kind of a deposit, held treasure. Treasures, the nearest first: "
     "relative position, kind. Kinds are one-hot.",
     _MOVES,
     "All get 5 for each treasure picked up or delivered. Collectors get -5 for each other one that they touch. All "
     "lose a tenth of a distance: collectors to the nearest treasure or its deposit, deposits to the nearest collector "
     "with a treasure for them, or to the centre of all.",
     num_collectors=integer(6, 1, 50, "Number of each."), num_deposits=integer(2, 1, 6, "Number of each."),
     num_treasures=integer(6, 1, 100, "Number of each."))
