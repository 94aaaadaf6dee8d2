"""The ids of highway-env, and EnvPool's."""
from __future__ import annotations

from typing import Any

from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="highway",
    title="highway-env",
    description="driving in traffic: highways, intersections, roundabouts, racetracks and parking lots",
    extra="highway",
    reference="highway-env 1.12.1",
    reference_package="highway_env",
    fidelity="everything except the info `action`",
    smoke_ids=("highway-v0", "parking-v0"),
    gymnasium_module="highway_env")

_CONNECTED = {"neighbour_vehicles_connected_lanes": True}
_FAST = {"simulation_frequency": 5, "lanes_count": 3, "vehicles_count": 20, "duration": 30, "ego_spacing": 1.5,
         "others_collide": False}
CROSSING: dict[str, Any] = {
    "type": "Kinematics", "vehicles_count": 15, "features": ["presence", "x", "y", "vx", "vy", "cos_h", "sin_h"],
    "features_range": {"x": [-100, 100], "y": [-100, 100], "vx": [-20, 20], "vy": [-20, 20]}, "absolute": True,
    "observe_intentions": False}
SLOW = {"type": "DiscreteMetaAction", "longitudinal": True, "lateral": False, "target_speeds": [0, 4.5, 9]}
_SIXTY = 1.0471975511965976  # degrees; math would be an import more
_BICYCLE = {
    "observation": {**CROSSING, "vehicles_count": 5,
                    "features": ["presence", "x", "y", "vx", "vy", "long_off", "lat_off", "ang_off"]},
    "action": {"type": "ContinuousAction", "steering_range": [-_SIXTY, _SIXTY], "longitudinal": True,
               "lateral": True, "dynamical": True}}
_TWO = {"observation": {"type": "MultiAgentObservation", "observation_config": CROSSING},
        "action": {"type": "MultiAgentAction", "action_config": SLOW}, "controlled_vehicles": 2}

# class and options; steps at most
IDS: dict[str, tuple[str, dict[str, Any]]] = {
    "highway-v0": ("Highway", {}), "highway-fast-v0": ("Highway", _FAST),
    "two-way-v0": ("TwoWay", {}), "lane-keeping-v0": ("LaneKeeping", {}),
    "intersection-v0": ("Intersection", {}), "intersection-v1": ("Intersection", _BICYCLE),
    "intersection-v2": ("Intersection", _CONNECTED), "intersection-multi-agent-v0": ("Intersection", _TWO),
    "intersection-multi-agent-v1": ("Intersection", _TWO),
    "intersection-multi-agent-v2": ("Intersection", {**_TWO, **_CONNECTED}),
    "parking-v0": ("Parking", {}), "parking-parked-v0": ("Parking", {"vehicles_count": 10}),
    "parking-ActionRepeat-v0": ("Parking", {"policy_frequency": 1, "duration": 20})}
for _name, _class in (("exit", "Exit"), ("merge", "Merge"), ("merge-generic", "MergeGeneric"), ("u-turn", "UTurn"),
                      ("roundabout", "Roundabout"), ("roundabout-generic", "RoundaboutGeneric"),
                      ("racetrack", "Racetrack"), ("racetrack-large", "RacetrackLarge"),
                      ("racetrack-oval", "RacetrackOval")):
    IDS |= {f"{_name}-v0": (_class, {}), f"{_name}-v1": (_class, _CONNECTED)}
_STEPS = {"two-way-v0": 15, "lane-keeping-v0": 200}
# EnvPool's names of those that it has: HighwayFast-v0, ParkingActionRepeat-v0
ENVPOOL = {"".join(part[:1].upper() + part[1:] for part in _id.split("-")[:-1]) + _id[-3:]: _id for _id in IDS
           if (_id[-1] == "0" and "generic" not in _id) or (_id[-1] == "1" and _id.startswith("intersection"))}

for _id in (*IDS, *ENVPOOL):
    _named = ENVPOOL.get(_id, _id)
    _class, _options = IDS[_named]
    register(_id, f"cypool.envs.highway.highway:{_class}", max_episode_steps=_STEPS.get(_named),
             reference="cypool.envs.highway.reference:make_reference", **_options)
