"""The specs of MaMuJoCo: options, and how a robot is split into agents."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cypool.envs.mamujoco.segments import text_of
from cypool.envs.mamujoco.tables import ROBOTS, SEGMENTED, Agent, Robot, agents_of, robot_of
from cypool.envs.mujoco import specs as robots
from cypool.envs.shared.mujoco.mujoco_common import load_model, text_makers
from cypool.options import Option, describes
from cypool.spec import Array, EnvSpec, Group
from cypool.util.arguments import check_choice, check_int, check_list, shown

_STEPS = {"Reacher": 50, "Pusher": 100}
_MOST_SEGMENTS = 64
_DEEPEST = 100
# options that are fixed here
_HIDDEN = ("action_dtype", "obs_dtype", "frame_stack", "from_pixels")
_TEXT = """{name}, moved by agents that each control some of its motors.

Follows `gymnasium_robotics.mamujoco_v1` of gymnasium-robotics 1.4.2, operation by operation, with version 5
of the robot.

Observation: float64: the agent's view of its own joints, of nearby ones and of the root, by category.
Action: float32: one value per motor of the agent.
Reward: The robot's, for each agent.
Terminated: When the robot's environment terminates, for all agents at once.
Info: The robot's.
"""
_INFOS_OF_COUPLED = {**dict.fromkeys(("x_position1", "x_position2", "x_velocity1", "x_velocity2", "reward_run"),
                                     "float64"), "reward_ctrl1": "action", "reward_ctrl2": "action"}


@robots.describes_robot("coupled_half_cheetah.xml", 5)
def coupled_half_cheetah(model: Any, options: dict[str, Any]) -> EnvSpec:
    return robots.describe_robot(model, 40, _INFOS_OF_COUPLED, options, {"distance": 4.0})


class Scenario(NamedTuple):
    """A robot moved by agents.

    Attributes:
        name: MaMuJoCo's name for it.
        robot: The class of the robot, in `cypool.envs.mujoco`.
        describe: Its own `describe`.
        default: The default configuration, or None.
    """

    name: str
    robot: str
    describe: Callable[..., EnvSpec]
    default: str | None

    @property
    def text(self) -> str:
        """The docstring of the environment."""
        return _TEXT.format(name=self.name)


SCENARIOS = {each.name: each for each in (
    Scenario("Ant", "Ant", robots.ant, "2x4"),
    Scenario("HalfCheetah", "HalfCheetah", robots.half_cheetah, "2x3"),
    Scenario("Hopper", "Hopper", robots.hopper, "3x1"),
    Scenario("Humanoid", "Humanoid", robots.humanoid, "9|8"),
    Scenario("HumanoidStandup", "HumanoidStandup", robots.humanoid_standup, "9|8"),
    Scenario("Walker2d", "Walker2d", robots.walker2d, "2x3"),
    Scenario("Reacher", "Reacher", robots.reacher, "2x1"),
    Scenario("Swimmer", "Swimmer", robots.swimmer, "2x1"),
    Scenario("Pusher", "Pusher", robots.pusher, "3p"),
    Scenario("InvertedPendulum", "InvertedPendulum", robots.inverted_pendulum, None),
    Scenario("InvertedDoublePendulum", "InvertedDoublePendulum", robots.inverted_double_pendulum, None),
    Scenario("CoupledHalfCheetah", "CoupledHalfCheetahRobot", coupled_half_cheetah, "1p1"),
    Scenario("ManySegmentAnt", "Ant", robots.ant, "2x1"),
    Scenario("ManySegmentSwimmer", "Swimmer", robots.swimmer, "2x1"))}


class Division(NamedTuple):
    """How a robot is split.

    Attributes:
        robot: The spec of the robot.
        agents: In the order of their names; None: a single agent has the robot's observation.
        groups: By name: numbers of agents with the same spaces.
    """

    robot: EnvSpec
    agents: list[Agent] | None
    groups: dict[str, list[int]]


def _text_of(xml_file: str) -> bytes:
    scenario, count = xml_file.split(":")
    return text_of(scenario, int(count))


# of robots whose models Gymnasium has not
text_makers.update(dict.fromkeys((*SEGMENTED, "CoupledHalfCheetah"), _text_of))


def _check_conf(scenario: Scenario, name: str, value: Any) -> str | None:
    if scenario.name in SEGMENTED:
        if not isinstance(value, str):
            raise TypeError(f"{name}: expected a str such as '2x3', got {shown(value)}")
        match = re.fullmatch(r"([1-9]\d{0,2})x([1-9]\d{0,2})", value)
        least = 1 + (scenario.robot == "Swimmer")
        if match is None or not least <= int(match[1]) * int(match[2]) <= _MOST_SEGMENTS:
            raise ValueError(f"{name}: expected the number of agents and the number of segments per agent, such as "
                             f"'2x3', with {least} to {_MOST_SEGMENTS} segments in total, got {shown(value)}")
        return value
    if value is None:
        return None
    if scenario.default is None:
        raise ValueError(f"{name}: expected None for {scenario.name} (which cannot be split), got {shown(value)}")
    return check_choice(name, value, tuple(ROBOTS[scenario.name].parts))


def _check_depth(name: str, value: Any) -> int | None:
    return None if value is None else check_int(name, value, 0, _DEEPEST)


def _check_categories(name: str, value: Any) -> tuple[str, ...] | None:
    return None if value is None else tuple(check_list(name, value, "a list of categories"))


def _check_local(name: str, value: Any) -> tuple[tuple[str, ...], ...] | None:
    if value is None:
        return None
    return tuple(tuple(check_list(f"{name}[{k}]", each, "a list of categories"))
                 for k, each in enumerate(check_list(name, value, "a list of lists of categories")))


def describer(name: str) -> Callable[..., EnvSpec]:
    """Returns the `describe` of a scenario."""
    scenario = SCENARIOS[name]
    of_robot: dict[str, Option] = scenario.describe.declared  # type: ignore[attr-defined]
    hidden = {*_HIDDEN, *(("xml_file",) if scenario.name in text_makers else ())}
    confs = "numbers of agents and of segments per agent, such as \"2x3\"" if scenario.name in SEGMENTED else (
        " or ".join(f'"{conf}"' for conf in ROBOTS[scenario.name].parts) + "; None: a single agent"
        if scenario.default else "None: a single agent")

    @describes(
        agent_conf=Option(scenario.default, lambda name, value: _check_conf(scenario, name, value),
                          f"How to split the robot into agents: {confs}."),
        agent_obsk=Option(1, _check_depth, "How many joints away an agent can see; None: a single agent.",
                          (0, _DEEPEST, -1, _DEEPEST + 1)),
        local_categories=Option(None, _check_local, "Categories observed for an agent's own joints, for those "
                                                    "one joint away, and so on: a list for each depth."),
        global_categories=Option(None, _check_categories, "Categories observed for the root; None: qpos and qvel."),
        **{name: option for name, option in of_robot.items() if name not in hidden})
    def describe(options: dict[str, Any]) -> EnvSpec:
        division = division_of(scenario, options)
        robot, agents = division.robot, division.agents
        action: Any = robot.action
        groups = {}
        for name, members in division.groups.items():
            if agents is None:
                observation, acts = robot.observation, action
            else:
                first = agents[members[0]]
                observation = Array((len(first.entries),), np.float64)
                # the reference gives all motors the limits of the first
                acts = Array((len(first.motors),), np.float32, action.low[0], action.high[0])
            groups[name] = Group(len(members), observation, acts, tuple(f"agent_{k}" for k in members))
        # those that the robot's own checks have changed
        changed = {name: robot.options[name] for name in options if name in robot.options}
        return EnvSpec(agents=groups, state=Array(robot.observation.shape, np.float64), info=robot.info,
                       options={**options, **changed}, render_fps=robot.render_fps,
                       max_episode_steps=_STEPS.get(scenario.name, 1000))

    return describe


def division_of(scenario: Scenario, options: dict[str, Any]) -> Division:
    """Returns how a robot is split.

    Raises:
        ImportError: Its model is missing.
        ValueError: It cannot be split in this way.
    """
    conf, obsk = options["agent_conf"], options["agent_obsk"]
    is_cut = conf is not None and obsk is not None
    own = {name: options[name] for name in scenario.describe.declared if name in options}  # type: ignore[attr-defined]
    if scenario.name in text_makers:
        agents, each = conf.split("x") if scenario.name in SEGMENTED else (1, 1)
        own["xml_file"] = f"{scenario.name}:{int(agents) * int(each)}"
    # agents' numbers are joined as float64, so that costs have double precision
    spec = scenario.describe(**own, action_dtype="float64" if is_cut else "float32")
    if not is_cut:
        return Division(spec, None, {"agent": [0]})
    robot = robot_of(scenario.name, conf)
    local, everywhere = _categories(robot, options, obsk)
    found = agents_of(robot, conf, obsk, local, everywhere, load_model(spec.options["xml_file"]))
    by_size: dict[tuple[int, int], list[int]] = {}
    for k, agent in enumerate(found):
        if not agent.entries:
            raise ValueError("local_categories: expected categories that let each agent observe something, got "
                             f"{shown(options['local_categories'])} and {shown(options['global_categories'])}, which "
                             f"are empty for agent_{k}")
        by_size.setdefault((len(agent.entries), len(agent.motors)), []).append(k)
    return Division(spec, found, {f"agent_{k}" if k > 1 else "agent": members
                                  for k, members in enumerate(by_size.values(), 1)})


def _categories(robot: Robot, options: dict[str, Any], obsk: int) -> tuple[Any, Any]:
    local, everywhere = options["local_categories"], options["global_categories"]
    if local is None:
        local = [robot.categories, *[("qpos",)] * obsk]
    if len(local) <= obsk:
        raise ValueError(f"local_categories: expected {obsk + 1} lists, one for each depth, got {shown(local)}")
    for k, names in enumerate(local):
        for i, name in enumerate(names):
            check_choice(f"local_categories[{k}][{i}]", name, robot.known)
    for i, name in enumerate(everywhere or ()):
        check_choice(f"global_categories[{i}]", name, ("qpos", "qvel"))
    return local, ("qpos", "qvel") if everywhere is None else everywhere
