"""Sets of options, and players, for comparisons with highway-env."""
from __future__ import annotations

import numpy as np
from family_tests import playing

from cypool.envs.highway.ids import IDS
from cypool.envs.highway.observations import FEATURES
from cypool.envs.shared.packages.group_references import GroupReferences

ALL = list(FEATURES)
GRID = {"type": "OccupancyGrid", "features": ["presence", "x", "vx", "vy", "cos_h", "on_road"],
        "features_range": {"x": [-60, 60], "vx": [-20, 20], "vy": [-20, 20]}, "grid_size": [[-27.5, 27.5], [-20, 20]],
        "grid_step": [5, 4]}
KIN = {"type": "Kinematics", "vehicles_count": 9, "features": ALL, "see_behind": True, "observe_intentions": True}
BOX = {"type": "ContinuousAction"}
LIDAR = {"type": "LidarObservation"}
TTC = {"type": "TimeToCollision"}
GRAY = {"type": "GrayscaleObservation", "observation_shape": (128, 64), "stack_size": 3, "scaling": 1.75,
        "weights": [0.2989, 0.5870, 0.1140]}
CONNECTED = {"neighbour_vehicles_connected_lanes": True}
MANY = {"other_vehicles": 8}
DENSE = {"vehicles_density": 2}
LINEAR, AGGRESSIVE, DEFENSIVE = ({"other_vehicles_type": f"highway_env.vehicle.behavior.{name}Vehicle"}
                                 for name in ("Linear", "Aggressive", "Defensive"))


def group(observation, action, count):
    return {"observation": {"type": "MultiAgentObservation", "observation_config": observation},
            "action": {"type": "MultiAgentAction", "action_config": action}, "controlled_vehicles": count}


MORE = {
    "highway-v0": [{"lanes_count": 2, "vehicles_count": 20, "vehicles_density": 2.5, "duration": 12,
                    "simulation_frequency": 8, "policy_frequency": 2}],
    "highway-fast-v0": [
        {"observation": KIN, **DENSE},
        {"observation": {**KIN, "order": "shuffled", "absolute": True, "clip": False}, "lanes_count": 5},
        {"observation": {**TTC, "horizon": 8}, **DENSE}, {"observation": GRID, **DENSE},
        {"observation": LIDAR, "vehicles_density": 3},
        {"observation": {**LIDAR, "cells": 37, "maximum_range": 40, "normalize": False}, "action": BOX,
         "offroad_terminal": True},
        {"action": {**BOX, "speed_range": [0, 25], "acceleration_range": [-3, 6]}, "unit_reward": False,
         "initial_lane_id": 1},
        {"action": {"type": "DiscreteAction", "actions_per_axis": 5, "longitudinal": False},
         "observation": {**KIN, "normalize": False}},
        LINEAR, {**AGGRESSIVE, **DENSE},
        {"action": {"type": "DiscreteMetaAction", "longitudinal": False, "target_speeds": [22, 28]},
         "controlled_vehicles": 2, "lanes_count": 1},
        {"observation": GRAY},
        {"observation": {"type": "TupleObservation", "observation_configs": [
            KIN, {**GRID, "as_image": True}, {**GRAY, "observation_shape": (37, 20), "centering_position": [0.5, 0.5]},
            LIDAR]}},
        {"config": {"lanes_count": 5, "normalize_reward": False, "screen_width": 300, "manual_control": False}},
        {"controlled_vehicles": 3, "vehicles_count": 16}, group(KIN, {"type": "DiscreteMetaAction"}, 3)],
    "exit-v0": [{"lanes_count": 3, "vehicles_count": 12, "unit_reward": False,
                 "observation": {**KIN, "type": "ExitObservation", "order": "shuffled"}},
                group({"type": "Kinematics"}, {"type": "DiscreteMetaAction"}, 2)],
    "merge-v0": [AGGRESSIVE, DEFENSIVE, {"observation": KIN}, {"observation": GRID},
                 {"collision_reward": -1.0, "reward_speed_range": [15, 33]}],
    "merge-generic-v0": [{"lanes_count": 3, "vehicles_count": 12}],
    "two-way-v0": [{"observation": KIN, **CONNECTED}], "u-turn-v0": [{"observation": KIN, "policy_frequency": 3}],
    "roundabout-v0": [DEFENSIVE, {"observation": KIN, "incoming_vehicle_destination": 1},
                      {"observation": {**TTC, "horizon": 6}}],
    "roundabout-generic-v0": [{"roundabout_lanes": 3, "roundabout_radius": 30, "vehicles_count": 9},
                              {"roundabout_lanes": 1}],
    "intersection-v0": [LINEAR, {"destination": None, "initial_vehicle_count": 14, "unit_reward": True,
                                 "observation": KIN}],
    "intersection-multi-agent-v0": [{"controlled_vehicles": 4, "destination": "o2"}, {
        "observation": {"type": "MultiAgentObservation", "observation_config": {**GRAY, "scaling": None}}}],
    "parking-v0": [{"controlled_vehicles": 3}, {"add_walls": False},
                   {"vehicles_count": 27, "observation": {"type": "KinematicsGoal", "features": ALL[1:5],
                                                          "scales": [7, 3, 1, 2]}},
                   {"observation": {"type": "Kinematics", "vehicles_count": 6}, "vehicles_count": 3}],
    "racetrack-v0": [MANY, {"action": BOX, "observation": {**GRID, "align_to_vehicle_axes": True, "as_image": True}},
                     {"terminate_off_road": False, "observation": KIN, **MANY},
                     {"action": {"type": "DiscreteAction", "longitudinal": False, "actions_per_axis": 3}}],
    "racetrack-large-v0": [{**MANY, "speed_limit": 15.0}],
    "racetrack-oval-v0": [{"no_lanes": 5, "block_lane": True, "force_decision": True, "length": 130, **MANY},
                          {"no_lanes": 1}],
    "racetrack-v1": [MANY], "lane-keeping-v0": [{"state_noise": 0.3, "derivative_noise": 0}],
    "merge-v1": [{"observation": KIN}], "intersection-v2": [{"observation": KIN}]}
VARIANTS = {id: [{}, *MORE.get(id, ())] for id in IDS}


def players(seed):
    """Has `check_parity` play with actions that are held for some steps, which gets farther than chance does."""
    rng, held = np.random.default_rng(seed), {}

    def choose(theirs, actions):
        if "last" in held and held["last"].shape == actions.shape and rng.random() < 0.7:
            return held["last"]
        chosen = actions
        if actions.dtype.kind == "f" and rng.random() < 0.5:
            chosen = (actions * 0.2).astype(actions.dtype)
        held["last"] = chosen
        return chosen

    return playing(choose, GroupReferences)
