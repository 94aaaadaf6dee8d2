"""The tasks in a table: options and roads of each; and their specs."""
from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cypool.envs.highway import networks
from cypool.envs.highway.ids import CROSSING, SLOW
from cypool.envs.highway.observations import (
    ACTIONS,
    FEATURES,
    OBSERVATIONS,
    action_space,
    check_action,
    check_observation,
    features_of,
    grid_shape,
    horizon_of,
    interval,
    numbers,
    observation_bytes,
    observation_space,
    of_one,
    parts_of,
)
from cypool.options import Option, boolean, choice, describes, integer, number, optional
from cypool.spec import Array, EnvSpec, Group
from cypool.util.arguments import check_dict, check_float, shown

DRIVERS = ("IDMVehicle", "LinearVehicle", "AggressiveVehicle", "DefensiveVehicle")
_DRIVER = "highway_env.vehicle.behavior."


class Task(NamedTuple):
    """A task.

    Attributes:
        number: Its number in options.h.
        roads: A function that adds its roads.
        nodes: The names of the nodes that scenes.h and tasks.h use, in their order.
        rewards: The parts of its reward, in the order of tasks.h.
        describe: Returns its spec.
    """

    number: int
    roads: Callable[[networks.Roads, dict[str, Any]], None]
    nodes: tuple[str, ...]
    rewards: tuple[str, ...]
    describe: Callable[..., EnvSpec]


class Parking(NamedTuple):
    """A space in a parking lot.

    Attributes:
        weights: Weights of the differences in position, velocity and heading.
        success: The sum below which the goal is reached.
    """

    weights: tuple[float, ...]
    success: float

    def compute_reward(self, achieved: NDArray[Any], desired: NDArray[Any]) -> Any:
        """Returns the reward of each pair of goals."""
        away = np.abs(achieved - desired)
        return -np.power(np.dot(away, np.array(self.weights)), 0.5)

    def compute_terminated(self, achieved: NDArray[Any], desired: NDArray[Any]) -> Any:
        """Returns whether each pair of goals ends an episode."""
        return self.compute_reward(achieved, desired) > -self.success


_PICTURE = OBSERVATIONS.index("GrayscaleObservation")
TASKS: dict[str, Task] = {}  # by the name of the class


def _weight(default: float, meaning: str) -> Option:
    # an int stays one: Python adds ints in another way than floats
    def check(name: str, value: Any) -> Any:
        checked = check_float(name, value, -1e6, 1e6)
        return value if type(value) is int else checked

    return Option(default, check, meaning, (-1e6, 1e6, float("nan"), "1"))


def _range(default: list[float], meaning: str) -> Option:
    return Option(default, interval, meaning)


def _several(names: str, make: Callable[..., Option], *defaults: Any) -> dict[str, Option]:
    return {name: make(default, f"Weight of `{name}`.") for name, default in zip(names.split(), defaults, strict=True)}


_KINEMATICS = {"type": "Kinematics"}
_META = {"type": "DiscreteMetaAction"}
_SEVEN, _HUNDRED = CROSSING["features"], CROSSING["features_range"]


def _common(observation: dict[str, Any] = _KINEMATICS, action: dict[str, Any] = _META, simulation_frequency: int = 15,
            policy_frequency: int = 1, size: tuple[int, int] = (600, 150), centre: tuple[float, float] = (0.3, 0.5),
            scaling: float = 5.5) -> dict[str, Option]:
    return {
        "observation": Option(observation, check_observation, "The kind of observation: a dict with a `type`."),
        "action": Option(action, check_action, "The kind of action: a dict with a `type`."),
        "simulation_frequency": integer(simulation_frequency, 1, 1000, "Simulated frames per second."),
        "policy_frequency": integer(policy_frequency, 1, 1000, "Steps per second."),
        "neighbour_vehicles_connected_lanes": boolean(
            False, "Whether vehicles also see vehicles on the lane segments before and after their own."),
        "screen_width": integer(size[0], 8, 2000, "Width of rendered images."),
        "screen_height": integer(size[1], 8, 2000, "Height of rendered images."),
        "centering_position": Option(list(centre), lambda name, value: numbers(name, value, 2, 2),
                                     "Position of the first agent in images, as fractions of width and height."),
        "scaling": number(scaling, 0.1, 100, "Pixels per meter."),
        "from_pixels": boolean(False, "Observations are images from `render`, uint8 (height, width, 3)."),
        "config": optional(
            lambda name, value: check_dict(name, value, None, "a dict with highway-env's keys, or None"),
            "These options as a dict with highway-env's keys, such as `normalize_reward`.")}


# keys of a config that mean something for a window, or for a person at the wheel: their only values
_OF_WINDOWS: dict[str, tuple[Any, ...]] = {
    "manual_control": (False,), "show_trajectories": (False,), "real_time_rendering": (False, True),
    "render_agent": (False, True), "offscreen_rendering": (None, False, True)}
# keys of highway-env's own configs, and `duration`, that have no effect in tasks without an option of the name
_WITHOUT_EFFECT = ("collision_reward", "duration", "left_lane_constraint", "offroad_terminal", "other_vehicles_type",
                   "speed_limit", "steering_range")


def _with_config(options: dict[str, Any], declared: dict[str, Option]) -> dict[str, Any]:
    """Returns options merged with their `config`, which takes precedence; not recursively, as in highway-env."""
    # its values are now those of the options, checked
    config, options["config"] = options["config"] or {}, None
    known = {_THEIRS.get(name, name): name for name in declared if name not in _OURS}
    for key, value in config.items():
        if key in known:
            options[known[key]] = declared[known[key]].check(f"config[{key!r}]", value)
        elif key in _WITHOUT_EFFECT:
            continue
        elif key not in _OF_WINDOWS:
            raise ValueError(f"config: expected keys from {sorted(known)}, got {shown(key)}")
        elif not isinstance(value, bool | np.bool_ | None) or value not in _OF_WINDOWS[key]:
            raise ValueError(f"config[{key!r}]: expected one of {shown(_OF_WINDOWS[key])}, got {shown(value)}")
    return options


# highway-env's names of options, and options that it does not have
_THEIRS = {"unit_reward": "normalize_reward"}
_OURS = ("others_collide", "from_pixels", "config")


def _duration(default: float) -> dict[str, Option]:
    return {"duration": number(default, 0, 1e9, "Duration in seconds after which episodes are truncated.")}


_AGENTS = {"controlled_vehicles": integer(1, 1, 8, "Number of controlled vehicles; without `MultiAgentAction`, only "
                                                   "the first one acts.")}
_DRIVERS = {"other_vehicles_type": choice(f"{_DRIVER}IDMVehicle", [_DRIVER + name for name in DRIVERS],
                                          "The class of other vehicles.")}
# highway-env's `normalize_reward`, which is an argument of every pool here
_NORMALIZE = {"unit_reward": boolean(True, "Maps rewards to [0, 1]; highway-env calls this `normalize_reward`.")}
_ON_ROAD = {"on_road_reward": _weight(0, "Weight of staying on the road.")}
_OFFROAD = {"offroad_terminal": boolean(False, "Whether leaving the road ends the episode.")}


def _speeds(low: float, high: float) -> dict[str, Option]:
    return {"reward_speed_range": _range([low, high], "The speeds that earn rewards of 0 and 1.")}


def _highway(lanes: int, vehicles: int, collision: float, high_speed: float, right_lane: float, density: float,
             duration: float) -> dict[str, Option]:
    return {
        "lanes_count": integer(lanes, 1, 40, "Number of lanes."),
        "vehicles_count": integer(vehicles, 0, 1000, "Number of other vehicles."),
        **_AGENTS, "initial_lane_id": integer(None, 0, 39, "Initial lane of agents; None: random."),
        **_duration(duration), "ego_spacing": number(2, 0.1, 100, "Spacing in front of agents."),
        "vehicles_density": number(density, 0.01, 100, "Density of other vehicles."),
        **_several("collision_reward right_lane_reward high_speed_reward", _weight, collision, right_lane, high_speed),
        "lane_change_reward": _weight(0, "Has no effect, as in highway-env."), **_speeds(20, 30), **_NORMALIZE,
        **_OFFROAD, **_DRIVERS}


def _add(name: str, number: int, roads: Callable[..., None], nodes: str, rewards: str,
         **options: Option) -> None:
    """Adds the task of a class with these options."""
    parts = tuple(f"{part}_reward" for part in rewards.split())

    @describes(**options)
    def describe(options: dict[str, Any]) -> EnvSpec:
        options = _with_config(options, describe.declared)  # type: ignore[attr-defined]
        _check(name, options)
        return _spec(name, options)

    TASKS[name] = Task(number, roads, tuple(nodes.split()), parts, describe)


def _check(name: str, options: dict[str, Any]) -> None:
    """Rejects options that highway-env lacks, or does not apply in the same way each time."""
    own, action = of_one(options["observation"]), of_one(options["action"])
    is_group = own is not options["observation"]
    if is_group != (action is not options["action"]):
        raise ValueError("observation: expected both MultiAgentObservation and MultiAgentAction, or neither")
    if is_group and name not in ("Highway", "Exit", "Intersection"):
        raise ValueError(f"observation: expected one agent in {name}, got MultiAgentObservation")
    does, kinds = action["type"], [part["type"] for part in parts_of(options["observation"])]
    if options["from_pixels"] and is_group:
        raise ValueError("from_pixels: expected one agent, got MultiAgentObservation")
    if does != "DiscreteMetaAction" and (name in ("TwoWay", "UTurn") or "TimeToCollision" in kinds):
        raise ValueError(f"action: expected DiscreteMetaAction with {name} and {', '.join(kinds)}, got {does}")
    if name.startswith("Racetrack") and does == "DiscreteMetaAction":
        raise ValueError(f"action: expected ContinuousAction or DiscreteAction with {name}, got {does}")
    if name.startswith(("Merge", "Roundabout")) and does == "ContinuousAction" and (
            action["longitudinal"] and action["lateral"]):
        raise ValueError(f"action: expected one axis with {name}, got longitudinal and lateral")
    if name == "LaneKeeping" and (does != "ContinuousAction" or not action["dynamical"]):
        raise ValueError("action: expected a dynamical ContinuousAction with LaneKeeping, got another action")
    for kind in kinds:
        if (name == "LaneKeeping") != (kind == "AttributesObservation"):
            raise ValueError("observation: expected AttributesObservation for LaneKeeping, and for no other "
                             f"environment, got {kind} with {name}")
        for only, task in (("KinematicsGoal", "Parking"), ("ExitObservation", "Exit")):
            if kind == only and name != task:
                raise ValueError(f"observation: expected {only} only with {task}, got {only} with {name}")
    if options["policy_frequency"] > options["simulation_frequency"]:
        raise ValueError("policy_frequency: expected at most simulation_frequency, got "
                         f"{options['policy_frequency']} and {options['simulation_frequency']}")
    if name == "Intersection" and options["simulation_frequency"] < 2:
        raise ValueError("simulation_frequency: expected at least 2 with Intersection, got 1")
    for part in parts_of(options["observation"]):
        if part["type"] == "TimeToCollision" and horizon_of(part, options["policy_frequency"]) < 1:
            raise ValueError(f"observation['horizon']: expected at least one step, got {part['horizon']}")
    if name == "Exit" and options["lanes_count"] < 2 and options["vehicles_count"] > 0:
        raise ValueError("lanes_count: expected at least 2 with Exit and other vehicles, got 1")
    if name.startswith("Merge"):
        worst = options["collision_reward"] + options["merging_speed_reward"]
        if worst == options["high_speed_reward"] + options["right_lane_reward"]:
            raise ValueError("collision_reward + merging_speed_reward: expected a value other than "
                             f"high_speed_reward + right_lane_reward, got {worst} for both")
    lane = options.get("initial_lane_id")
    if lane is not None and lane >= options["lanes_count"]:
        raise ValueError(f"initial_lane_id: expected at most {options['lanes_count'] - 1}, the last lane, got {lane}")


def _spec(name: str, options: dict[str, Any]) -> EnvSpec:
    own, action = of_one(options["observation"]), of_one(options["action"])
    observation, does = observation_space(own, options["policy_frequency"]), action_space(action)
    if options["from_pixels"]:
        observation = Array((options["screen_height"], options["screen_width"], 3), np.uint8)
    truth = Array((), np.bool_)
    info = {"speed": Array((), np.float64), "crashed": truth,
            **{part: Array((), np.float64) for part in TASKS[name].rewards}}
    if name in ("Exit", "Parking"):
        info["is_success"] = truth
    agents = options.get("controlled_vehicles", 1)
    if name == "Intersection":
        info |= {"agents_rewards": Array((agents,), np.float64), "agents_terminated": Array((agents,), np.bool_)}
    common: dict[str, Any] = {"info": info, "options": options, "render_fps": 15}
    if own is not options["observation"]:
        return EnvSpec(agents={"agent": Group(agents, observation, does)}, state="observations", **common)
    goals = None
    has_goals = own["type"] == "KinematicsGoal" and not options["from_pixels"]
    if has_goals and len(own["features"]) == len(options["reward_weights"]):
        goals = Parking(tuple(options["reward_weights"]), options["success_goal_reward"])
    return EnvSpec(observation=observation, action=does, goals=goals, **common)


def config_of(options: dict[str, Any]) -> dict[str, Any]:
    """Returns highway-env's config for options."""
    own = {_THEIRS.get(name, name): value for name, value in options.items()
           if name not in (*_OURS, "max_episode_steps")}
    return own | (options.get("config") or {})


def types_of(options: dict[str, Any]) -> list[str]:
    """Returns the types of the parts of an agent's observation."""
    return [part["type"] for part in parts_of(options["observation"])]


def options_of(config: bytes) -> dict[str, Any]:
    """Returns the options that a state contains as JSON."""
    try:
        options: Any = json.loads(config)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"config: expected JSON, got {shown(config)}") from error
    if not isinstance(options, dict):
        raise ValueError(f"config: expected a dict, got {shown(options)}")
    return options


Numbers: TypeAlias = tuple[dict[str, Any], dict[str, Any]]  # of options, and what follows from them


def numbers_of(name: str, options: dict[str, Any]) -> tuple[
        list[dict[str, Any]], dict[str, int], Numbers, list[Numbers]]:
    """Returns lanes, the numbers of nodes, and `Options` and each `View` of options.h."""
    task = TASKS[name]
    roads = networks.Roads()
    task.roads(roads, options)
    lanes, nodes = roads.numbers()
    own, action = of_one(options["observation"]), of_one(options["action"])
    if options["from_pixels"]:
        width, height = 3 * options["screen_width"], options["screen_height"]
        views: list[Numbers] = [({}, {"kind": _PICTURE, "cells": 1, "width": width, "height": height,
                                      "size": width * height})]
    else:
        views = [_view_numbers(part, options["policy_frequency"]) for part in parts_of(options["observation"])]
    per_axis = action.get("actions_per_axis", 3)
    axis = np.linspace(np.array([-1], np.float32), np.array([1], np.float32), per_axis)
    given = {key: value for key, value in {**options, **action}.items() if not isinstance(value, dict)}
    return lanes, nodes, (given, {**_task_numbers(name, options, nodes), **_driver_numbers(options),
                                  "action": ACTIONS.index(action["type"]), "axis": axis,
                                  "multi_agent": own is not options["observation"]}), views


def _task_numbers(name: str, options: dict[str, Any], nodes: dict[str, int]) -> dict[str, Any]:
    get = options.get
    numbers: dict[str, Any] = {
        "task": TASKS[name].number, "frames": options["simulation_frequency"] // options["policy_frequency"],
        "nodes": [nodes[each] for each in TASKS[name].nodes],
        "has_int_collision": type(get("collision_reward")) is int,
        "has_int_arrived": type(get("arrived_reward")) is int,
        "starts": np.linspace(0, 80, get("initial_vehicle_count", 0)),
        "spread": [np.exp(-5 / 40 * k) for k in range(64)]}
    if get("destination") is not None:
        numbers["destination"] = nodes[options["destination"]]
    if name == "MergeGeneric":
        lengths = [options[f"{part}_merge_length"] for part in ("before", "converge", "parallel", "after")]
        numbers |= {"end_position": sum(lengths) - 90, "max_position": sum(lengths[:3]), "ramp_length": lengths[2]}
    places: list[float] = []
    if get("block_lane"):
        places += [c for i in (40.0, 43.0, 46.0, 49.0) for y in (3.75, 6.25) for c in (options["length"] - i, y)]
    if get("force_decision"):
        places += [c for y in (-1.25, 1.25, 8.85, 11.25) for c in (options["length"] - 90.0, y)]
    return {**numbers, "wall_places": places}


def _view_numbers(own: dict[str, Any], policy_frequency: float) -> Numbers:
    kind = own["type"]
    if kind == "GrayscaleObservation":
        (width, height), cells = own["observation_shape"], own["stack_size"]
        return {}, {"kind": _PICTURE, "cells": cells, "width": width, "height": height, "size": cells * width * height}
    known = (*FEATURES, "on_road")
    features = features_of(own) if "features" in own else []
    given = own.get("features_range")
    ranges = given or {"vx": (-80, 80), "vy": (-80, 80), "x": (0, 0) if kind == "OccupancyGrid" else (-200, 200)}
    low, high = zip(*[ranges.get(each, (0, 0)) for each in known], strict=True)
    found = {
        "kind": OBSERVATIONS.index(kind), "size": observation_bytes(own, policy_frequency),
        "features": [known.index(each) for each in features], "shuffled": own.get("order") == "shuffled",
        "sorted": own.get("order") == "sorted", "low": low, "high": high,
        "has_road_range": not given and kind != "OccupancyGrid"}
    if kind == "TimeToCollision":
        found["horizon"] = horizon_of(own, policy_frequency)
    if kind == "OccupancyGrid":
        found["start"] = [low for low, _ in own["grid_size"] or [[-27.5, 27.5], [-27.5, 27.5]]]
        found["width"], found["height"] = grid_shape(own)
    return {key: value for key, value in own.items() if key not in ("features_range", "attributes")}, found


def _driver_numbers(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the parameters of other vehicles that differ from those of LinearVehicle."""
    driver = options.get("other_vehicles_type", "IDMVehicle").removeprefix(_DRIVER)
    numbers: dict[str, Any] = {"linear": driver != "IDMVehicle"}
    if driver in ("AggressiveVehicle", "DefensiveVehicle"):
        gain, close = (0.8, 0.5) if driver == "AggressiveVehicle" else (1.2, 2.0)
        numbers |= {"gain": 1.0, "speeds": [gain / ((1 - 0.75) * 30), gain / (0.75 * 30), close]}
    return numbers


_add("Highway", 0, networks.highway, "0 1", "collision right_lane high_speed on_road",
     **_common(), **_highway(4, 50, -1, 0.4, 0.1, 1, 40), **_ON_ROAD,
     others_collide=boolean(True, "Whether other vehicles collide with each other."))
_add("Exit", 1, networks.exit_, "0 1 2 3 exit", "collision goal high_speed right_lane",
     **_common({"type": "ExitObservation", "vehicles_count": 15, "features": _SEVEN, "clip": False},
               {**_META, "target_speeds": [18, 24, 30]}, 5, scaling=5),
     **_highway(6, 20, 0, 0.1, 0, 1.5, 18), goal_reward=_weight(1, "Weight of reaching the exit."))
_MERGE = {
    **_several("collision_reward right_lane_reward high_speed_reward merging_speed_reward lane_change_reward", _weight,
               -1, 0.1, 0.2, -0.5, -0.05), **_speeds(20, 30), **_DRIVERS}
_MERGED = "collision right_lane high_speed lane_change merging_speed"
_add("Merge", 2, networks.merge, "a b c d j k", _MERGED,
     **_common(), **_MERGE)
_add("MergeGeneric", 3, networks.merge_generic, "a b c d j k", _MERGED, **_common(), **_MERGE,
     lanes_count=integer(2, 1, 40, "Number of lanes."),
     vehicles_count=integer(3, 0, 1000, "Number of other vehicles on the highway."),
     before_merge_length=number(150, 31, 1e5, "Length of the ramp in meters."),
     converge_merge_length=number(80, 1, 1e5, "Length of the converging part of the ramp in meters."),
     parallel_merge_length=number(80, 1, 1e5, "Length of the part of the ramp along the highway in meters."),
     after_merge_length=number(150, 90, 1e5, "Length of the highway after the ramp in meters."))
_add("TwoWay", 4, networks.two_way, "a b", "high_speed left_lane", **_common({"type": "TimeToCollision", "horizon": 5}),
     **_several("high_speed_reward left_lane_reward", _weight, 0.8, 0.2), **_DRIVERS)
_add("UTurn", 5, networks.u_turn, "a b c d", "collision left_lane high_speed on_road",
     **_common({"type": "TimeToCollision", "horizon": 16}, {**_META, "target_speeds": [8, 16, 24]}, size=(789, 289)),
     **_duration(10),
     **_several("collision_reward left_lane_reward high_speed_reward", _weight, -1.0, 0.1, 0.4), **_speeds(8, 24),
     **_NORMALIZE, **_ON_ROAD, **_DRIVERS)


def _roundabout(duration: float) -> dict[str, Option]:
    return {
        **_common({"type": "Kinematics", "absolute": True,
                   "features_range": {**_HUNDRED, "vx": [-15, 15], "vy": [-15, 15]}},
                  {**_META, "target_speeds": [0, 8, 16]}, size=(600, 600), centre=(0.5, 0.6)),
        **_several("collision_reward high_speed_reward right_lane_reward lane_change_reward", _weight, -1, 0.2, 0,
                   -0.05), **_duration(duration), **_NORMALIZE, **_ON_ROAD, **_DRIVERS}


_RING = "ser ses we sx eer ees nxs exr sxr nxr wxr se ee nx ne ner nes wer wes"
_RINGS = "collision high_speed lane_change on_road"
_add("Roundabout", 6, networks.roundabout, _RING, _RINGS, **_roundabout(11),
     incoming_vehicle_destination=integer(None, 0, 2, "Exit that the first other vehicle takes; None: random."))
_add("RoundaboutGeneric", 7, networks.roundabout_generic, _RING, _RINGS, **_roundabout(17),
     incoming_vehicle_destination=integer(None, 0, 3, "Exit that other vehicles take; None: random."),
     roundabout_radius=number(20, 10, 1000, "Radius of the inner lane."),
     roundabout_lanes=integer(2, 1, 10, "Number of lanes."),
     vehicles_count=integer(5, 0, 1000, "Number of other vehicles, if there is room for all of them."))
_add("Intersection", 8, networks.intersection, " ".join(f"{kind}{k}" for kind in ("o", "ir", "il") for k in range(4)),
     "collision high_speed arrived on_road",
     **_common(CROSSING, SLOW, size=(600, 600), centre=(0.5, 0.6), scaling=5.5 * 1.3), **_duration(13), **_AGENTS,
     destination=choice(None, [f"o{k}" for k in range(4)], "Agents' exit; None: random.").with_default("o1"),
     initial_vehicle_count=integer(10, 0, 100, "Maximum number of other vehicles at the start."),
     spawn_probability=number(0.6, 0, 1, "Probability of another vehicle appearing in a step."),
     **_several("collision_reward high_speed_reward arrived_reward", _weight, -5, 1, 1), **_speeds(7.0, 9.0),
     unit_reward=_NORMALIZE["unit_reward"].with_default(False), **_OFFROAD, **_ON_ROAD, **_DRIVERS)
_add("Parking", 9, networks.parking, "a b c", "",
     **_common({"type": "KinematicsGoal", "features": ["x", "y", "vx", "vy", "cos_h", "sin_h"],
                "scales": [100, 100, 5, 5, 1, 1], "normalize": False}, {"type": "ContinuousAction"},
               policy_frequency=5, size=(600, 300), centre=(0.5, 0.5), scaling=7), **_duration(100),
     controlled_vehicles=integer(1, 1, 6, "Number of controlled vehicles; only the first vehicle acts."),
     reward_weights=Option([1, 0.3, 0, 0, 0.02, 0.02], lambda name, value: numbers(name, value, 6, 6, 0),
                           "Weight of each feature in the distance to the goal."),
     success_goal_reward=number(0.12, 0, 1e6, "Distance that counts as reaching the goal."),
     collision_reward=_weight(-5, "Weight of a collision."),
     vehicles_count=integer(0, 0, 28, "Number of parked vehicles."),
     add_walls=boolean(True, "Adds walls around the parking lot."))


def _racetrack() -> dict[str, Option]:
    return {
        **_common({"type": "OccupancyGrid", "features": ["presence", "on_road"], "grid_size": [[-18, 18], [-18, 18]],
                   "grid_step": [3, 3], "as_image": False, "align_to_vehicle_axes": True},
                  {"type": "ContinuousAction", "longitudinal": False, "lateral": True, "target_speeds": [0, 5, 10]},
                  policy_frequency=5, size=(600, 600), centre=(0.5, 0.5)), **_duration(300), **_AGENTS,
        "collision_reward": _weight(-1, "Weight of a collision."),
        "lane_centering_cost": number(4, 0, 1e6, "Penalty factor for the distance from the center of the lane."),
        "lane_centering_reward": _weight(1, "Weight of the reward for staying in the middle of the lane."),
        "action_reward": _weight(-0.3, "Weight of the action's norm in the reward."),
        "other_vehicles": integer(1, 0, 1000, "Maximum number of other vehicles."), **_ON_ROAD,
        "terminate_off_road": boolean(True, "Whether leaving the road ends the episode.")}


_TRACK = "lane_centering action collision on_road"
_add("Racetrack", 10, networks.racetrack, "a b c", _TRACK, **_racetrack())
_add("RacetrackLarge", 10, networks.racetrack_large, "a b c", _TRACK, **_racetrack(),
     speed_limit=number(10.0, 0.1, 100, "Speed limit in meters per second."))
_add("RacetrackOval", 10, networks.racetrack_oval, "a b c", _TRACK, **_racetrack(),
     length=number(100, 10, 1e5, "Length of the straight parts of the track in meters."),
     no_lanes=integer(3, 1, 30, "Number of lanes."),
     block_lane=boolean(False, "Adds obstacles in a lane."),
     force_decision=boolean(False, "Adds obstacles that leave only some lanes free."))
_add("LaneKeeping", 11, networks.lane_keeping, "a b c d", "",
     **_common({"type": "AttributesObservation", "attributes": ["state", "derivative", "reference_state"]},
               {"type": "ContinuousAction", "steering_range": [-math.pi / 3, math.pi / 3], "longitudinal": False,
                "lateral": True, "dynamical": True}, 10, 10, (600, 250), (0.4, 0.5), 7),
     state_noise=number(0.05, 0, 1e3, "Amplitude of the noise added to the state."),
     derivative_noise=number(0.05, 0, 1e3, "Amplitude of the noise added to the state's derivative."))
