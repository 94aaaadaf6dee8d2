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
    "max_cycles": integer(25, 1, 2**30, "Steps of an episode."),
    "continuous_actions": boolean(False, "Whether actions are numbers."),
    "dynamic_rescaling": boolean(True, "Whether pictures show circles in the scale of places.")}
_NEIGHBORS = {
    "num_agent_neighbors": integer(None, 0, 100, "How many of the nearest other agents are observed, the nearest "
                                                 "first, and zeros where there are fewer; None: all, as they are "
                                                 "numbered."),
    "num_landmark_neighbors": integer(None, 0, 100, "The same for landmarks.")}
_LOCAL_RATIO = number(0.5, 0, 1, "How much of a reward is the agent's own.")
_MOVES = ("None (0), left (1), right (2), down (3) or up (4); with `continuous_actions` float32 (5,), from 0 to 1: how "
          "much of each.")


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


_add("Simple", ("agent",), "One agent that is to go to a landmark.",
     "float32 (4,): velocity; the landmark, seen from the agent.", _MOVES, "The squared distance, negative.")
_add("SimpleSpread", ("agent",), "Agents that are to be at all landmarks, without touching each other.",
     "float32 (18,): velocity; place; landmarks and then other agents, seen from the agent; zeros for messages.",
     _MOVES,
     "`local_ratio` times the agent's own, -1 for each agent that it touches; the rest for all: for each landmark the "
     "distance of the nearest agent, negative.",
     N=integer(3, 1, 100, "How many agents and landmarks."),
     local_ratio=_LOCAL_RATIO,
     curriculum_stage=_stage("0: touching costs nothing; None, 1, 2: it does."),
     terminate_on_success=_success("there is an agent at each landmark"), **_NEIGHBORS)
_add("SimpleTag", ("adversary", "agent"), "Adversaries that chase faster agents among obstacles.",
     "float32 (16,) of an adversary, (14,) of an agent: velocity; place; obstacles and then others, seen from it; "
     "velocities of the others that are agents.",
     _MOVES,
     "An adversary gets 10 for each touch of an agent by any of them. An agent gets -10 for each adversary that "
     "touches it, and less the farther it leaves the picture.",
     **_counts("How many agents, adversaries and obstacles.", num_good=1, num_adversaries=3),
     **_counts("How many agents, adversaries and obstacles.", 0, num_obstacles=2),
     curriculum_stage=_stage("0, 1: agents are slower, by a half and by a quarter; None, 2: they are not."),
     terminate_on_success=_success("all agents are caught"), **_NEIGHBORS)
_add("SimpleAdversary", ("adversary", "agent"),
     "Agents that go to a landmark, and an adversary that does not know which one it is.",
     "float32 (8,) of the adversary, (10,) of an agent, where the goal comes first; landmarks and then others, seen "
     "from it.",
     _MOVES,
     "Of the adversary its distance to the goal, negative; of agents that of the nearest of them, negative, and the "
     "adversary's.",
     N=integer(2, 1, 100, "How many agents, and landmarks."), **_NEIGHBORS)
_add("SimplePush", ("adversary", "agent"),
     "An agent that is to go to a landmark, and an adversary that pushes it away.",
     "float32 (8,) of the adversary: velocity; landmarks and the other, seen from it. float32 (19,) of the agent: "
     "velocity; the goal, seen from it; the goal's colour; landmarks, their colours, and the other.",
     _MOVES, "Of the agent its distance to the goal, negative; of the adversary that distance less its own.")
_add("SimpleReference", ("agent",), "Two agents of which each knows where the other is to go, and talks to it.",
     "float32 (21,): velocity; landmarks, seen from the agent; the colour of the other's goal; its message.",
     "Ten words times the five moves of `Simple`: move + 5 * word; with `continuous_actions` float32 (15,) in [0, 1], "
     "five forces and ten numbers for the message.",
     "`local_ratio` times its own, the other's distance to its goal, negative; the rest for both: the mean of these.",
     local_ratio=_LOCAL_RATIO)
_add("SimpleSpeakerListener", ("speaker", "listener"),
     "A speaker that knows where a listener is to go, and cannot move.",
     "float32 (3,) of the speaker: the colour of the goal. float32 (11,) of the listener: velocity; landmarks, seen "
     "from it; the speaker's message.",
     "The speaker says one of three words; with `continuous_actions` float32 (3,) in [0, 1]. The listener moves as in "
     "`Simple`.",
     "The listener's squared distance to the goal, negative, for both.")
_add("SimpleCrypto", ("eve", "bob", "alice"), "Alice sends Bob a secret, and both know a key that Eve does not.",
     "float32 (4,) of Eve: Alice's message. float32 (8,) of Bob: key and message; of Alice: secret and key.",
     "One of four words; with `continuous_actions` float32 (4,) in [0, 1].",
     "Of Eve how far she is from the secret, squared and negative; of Alice and Bob Eve's distance less Bob's.")
_add("SimpleWorldComm", ("leadadversary", "adversary", "agent"),
     "Adversaries, one of them a leader that talks, chase agents that eat and hide in forests.",
     "float32 (34,) of an adversary, (28,) of an agent: velocity; place; obstacles, food, forests and then others, "
     "seen from it; whether it is in each forest, 1 or -1; velocities of the others that are agents. An adversary's "
     "has these two in the other order, and then the leader's message. Who is in another forest is zeros, but to the "
     "leader.",
     "The moves of `Simple`; of the leader times four words: move + 5 * word, with `continuous_actions` float32 (9,).",
     "An adversary gets 5 for each touch of an agent by any of them, less a tenth of the distance to the nearest. An "
     "agent gets -5 for each adversary that touches it, 2 for food, less the farther it leaves the picture, and less a "
     "twentieth of the distance to the nearest food.",
     **_counts("How many agents, and adversaries with their leader.", num_good=2, num_adversaries=4),
     **_counts("How many of each.", 0, num_obstacles=1), **_counts("How many of each.", num_food=2),
     **_counts("How many of each.", 0, num_forests=2))
_add("SimpleFormation", ("agent",), "Agents that are to be on a circle around a landmark, evenly.",
     "float32 (6,): velocity; place; the landmark, seen from the agent.", _MOVES,
     "The mean of their distances to the places, each at most 2, negative; who goes where makes the least sum.",
     N=integer(4, 1, 100, "How many agents."), terminate_on_success=_success("all are at their places"))
_add("SimpleLine", ("agent",), "Agents that are to be on a line between two landmarks, evenly.",
     "float32 (8,): velocity; place; the landmarks, seen from the agent.", _MOVES, "As of `SimpleFormation`.",
     N=integer(4, 1, 100, "How many agents."), terminate_on_success=_success("all are at their places"))
_add("CollectTreasure", ("collector", "deposit"), "Collectors that carry treasures to the deposits of their kinds.",
     "float32 (86,) of a collector, (84,) of a deposit: place; velocity; of a collector what it has. Others, the "
     "nearest first: seen from it, velocity, its kind if it is a deposit, what it has. Treasures, the nearest first: "
     "seen from it, kind. Kinds are one-hot.",
     _MOVES,
     "All get 5 for each treasure that is picked up, and for each that is delivered. Collectors get -5 for each other "
     "one that they touch. Of all, less a tenth of a distance: to the nearest treasure, or where it is to be brought; "
     "of deposits to the nearest collector that has something for it, or to the middle of all.",
     num_collectors=integer(6, 1, 50, "How many of each."), num_deposits=integer(2, 1, 6, "How many of each."),
     num_treasures=integer(6, 1, 100, "How many of each."))
