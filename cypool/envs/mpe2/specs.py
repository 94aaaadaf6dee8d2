"""A table of scenarios, with the groups of agents and the options of each, and their specs."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cypool.options import Option, boolean, describes, integer, number
from cypool.spec import Array, Discrete, EnvSpec, Group

# the most agents and landmarks whose step takes well below a microsecond
_MOST_BRIEF = 8

_COMMON = {
    "max_cycles": integer(25, 1, 2**30, "Maximum number of steps per episode."),
    "continuous_actions": boolean(False, "Uses continuous actions instead of discrete ones."),
    "dynamic_rescaling": boolean(True, "Draws circles at the same scale as positions.")}
_NEIGHBORS = {
    "num_agent_neighbors": integer(None, 0, 100, "Number of other agents observed, the nearest first, padded with "
                                                 "zeros; None: all, in numerical order."),
    "num_landmark_neighbors": integer(None, 0, 100, "Number of landmarks observed, chosen in the same way.")}
_LOCAL_RATIO = number(0.5, 0, 1, "The weight of each agent's own reward.")


def _success(meaning: str) -> Option:
    return boolean(False, f"Whether an episode ends when {meaning}.")


def _stage(meaning: str) -> Option:
    return integer(None, 0, 2, meaning)


def _counts(meaning: str, least: int = 1, **defaults: int) -> dict[str, Option]:
    return {name: integer(default, least, 50, meaning) for name, default in defaults.items()}


# groups of agents and options of each scenario, by the name of its class, in the order of scenarios.h
SCENARIOS: dict[str, tuple[tuple[str, ...], dict[str, Option]]] = {
    "Simple": (("agent",), {}),
    "SimpleSpread": (("agent",), {
        "N": integer(3, 1, 100, "Number of agents and of landmarks."), "local_ratio": _LOCAL_RATIO,
        "curriculum_stage": _stage("0: collisions cost nothing; None, 1 or 2: they reduce the reward."),
        "terminate_on_success": _success("every landmark has an agent"), **_NEIGHBORS}),
    "SimpleTag": (("adversary", "agent"), {
        **_counts("Number of agents.", num_good=1), **_counts("Number of adversaries.", num_adversaries=3),
        **_counts("Number of obstacles.", 0, num_obstacles=2),
        "curriculum_stage": _stage("Speed of the agents. 0: half; 1: three quarters; None or 2: full."),
        "terminate_on_success": _success("all agents are caught"), **_NEIGHBORS}),
    "SimpleAdversary": (("adversary", "agent"), {
        "N": integer(2, 1, 100, "Number of agents and of landmarks."), **_NEIGHBORS}),
    "SimplePush": (("adversary", "agent"), {}),
    "SimpleReference": (("agent",), {"local_ratio": _LOCAL_RATIO}),
    "SimpleSpeakerListener": (("speaker", "listener"), {}),
    "SimpleCrypto": (("eve", "bob", "alice"), {}),
    "SimpleWorldComm": (("leadadversary", "adversary", "agent"), {
        **_counts("Number of agents.", num_good=2),
        **_counts("Number of adversaries, including their leader.", num_adversaries=4),
        **_counts("Number of obstacles.", 0, num_obstacles=1), **_counts("Number of food items.", num_food=2),
        **_counts("Number of forests.", 0, num_forests=2)}),
    "SimpleFormation": (("agent",), {
        "N": integer(4, 1, 100, "Number of agents."),
        "terminate_on_success": _success("all agents are in their places")}),
    "SimpleLine": (("agent",), {
        "N": integer(4, 1, 100, "Number of agents."),
        "terminate_on_success": _success("all agents are in their places")}),
    "CollectTreasure": (("collector", "deposit"), {
        "num_collectors": integer(6, 1, 50, "Number of collectors."),
        "num_deposits": integer(2, 1, 6, "Number of deposits."),
        "num_treasures": integer(6, 1, 100, "Number of treasures.")})}


def describer(name: str, shape_of: Callable[..., Any]) -> Callable[..., EnvSpec]:
    """Returns `describe` of a scenario.

    Args:
        name: The name of its class.
        shape_of: Takes the settings that scenarios.h reads; returns the groups of agents, and the numbers of agents and
            landmarks. A group is (agents, size of an observation, number of choices, size of an action).
    """
    groups, own = SCENARIOS[name]

    @describes(**own, **_COMMON)
    def describe(options: dict[str, Any]) -> EnvSpec:
        return _spec(name, groups, options, shape_of)

    return describe


def settings_of(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings that scenarios.h reads."""
    return {**options, "scenario": list(SCENARIOS).index(name)}


def _spec(name: str, groups: tuple[str, ...], options: dict[str, Any], shape_of: Callable[..., Any]) -> EnvSpec:
    agents, size = shape_of(settings_of(name, options))
    if len(agents) < len(groups):
        # the leader of world_comm is one of the adversaries, and there may be no other
        groups = groups[::2]
    described = {}
    for group, (count, num_obs, num_choices, num_inputs) in zip(groups, agents, strict=True):
        if num_obs == 0:
            raise ValueError("num_landmark_neighbors: expected at least 1 if num_agent_neighbors is 0 (agents in "
                             f"the group {group!r} observe nothing else), got 0")
        described[group] = Group(
            count, Array((num_obs,), np.float32),
            Array((num_inputs,), np.float32, 0, 1) if options["continuous_actions"] else Discrete(num_choices))
    # those that pair agents with places take longer
    is_brief = size <= _MOST_BRIEF and name not in ("SimpleFormation", "SimpleLine")
    return EnvSpec(agents=described, state="observations", options=options, render_fps=10,
                   max_episode_steps=options["max_cycles"], brief_steps=is_brief)
