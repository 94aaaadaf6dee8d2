"""Tables of each agent's motors and the data it sees, made from a robot's joints."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

# numbers of a body
BODY_SIZES = {"cinert": 10, "cvel": 6, "cfrc_ext": 6}


class Entry(NamedTuple):
    """A number in an observation.

    Attributes:
        field: A field of MuJoCo's data.
        place: Index in this field; for "xpos", the axis.
        how: "copy"; "clip" to -limit ... limit; "sin" or "cos".
        limit: The limit for "clip".
        body: For "xpos": the name of a body.
        less: For "xpos": another body, whose position is subtracted; "": none.
    """

    field: str
    place: int
    how: str = "copy"
    limit: float = 0.0
    body: str = ""
    less: str = ""


class Joint(NamedTuple):
    """A joint with a motor, or something that all agents see.

    Attributes:
        name: The name in edges and parts.
        place: Index of its position and velocity; negative from the end.
        motor: The motor's number.
        bodies: The bodies whose forces, inertias and velocities belong to it.
        special: By category: entries that replace the usual ones.
        clips: Whether the bodies' numbers are clipped to -1 ... 1.
        label: Joints that are equally far away are seen in the order of their labels; "": the name.
    """

    name: str
    place: int | None = None
    motor: int = -1
    bodies: tuple[int, ...] = ()
    special: Mapping[str, list[Entry]] = {}
    clips: bool = False
    label: str = ""

    def entries(self, category: str, seen: set[tuple[str, int]], sizes: Mapping[str, int]) -> list[Entry]:
        """Returns its entries in an observation; each agent sees a body once, where it comes first."""
        if category in self.special:
            return self.special[category]
        found: list[Entry] = []
        if category in sizes and self.place is not None:
            found.append(Entry(category, self.place % sizes[category] if self.place < 0 else self.place))
        for body in self.bodies if category in BODY_SIZES else ():
            if (category, body) not in seen:
                seen.add((category, body))
                size = BODY_SIZES[category]
                found += [Entry(category, body * size + k, "clip" if self.clips else "copy", 1.0) for k in range(size)]
        return found


class Robot(NamedTuple):
    """A robot that can be split into agents.

    Attributes:
        joints: The joints; those with the same label keep this order.
        edges: Names of joints that are neighbors of each other.
        everywhere: The parts that all agents see.
        parts: By configuration: the names of each agent's joints.
        categories: Default categories of an agent's own joints.
        known: All categories of joints.
    """

    joints: Sequence[Joint]
    edges: Iterable[Sequence[str]]
    everywhere: Sequence[Joint]
    parts: Mapping[str, list[list[str]]]
    categories: tuple[str, ...] = ("qpos", "qvel")
    known: tuple[str, ...] = ("qpos", "qvel")


def _chain(names: Sequence[str]) -> list[tuple[str, str]]:
    return list(itertools.pairwise(names))


def _one_each(names: Iterable[str]) -> list[list[str]]:
    return [[name] for name in names]


def _plane(first: int = 0, order: str = "xzy", limit: float = 0.0) -> list[Joint]:
    """Returns the root of a planar robot, whose x is not observed."""
    joints = []
    for axis in order:
        k = first + "xzy".index(axis)
        special: dict[str, list[Entry]] = {"qpos": []} if axis == "x" else {}
        if limit:
            special["qvel"] = [Entry("qvel", k, "clip", limit)]
        joints.append(Joint(f"root {axis} {first}", k, special=special))
    return joints


_FREE = [Joint("root", 0, special={"qpos": [Entry("qpos", k) for k in range(2, 7)],
                                   "qvel": [Entry("qvel", k) for k in range(6)]})]
_LEGS = ("bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot")
_LEG_EDGES = [("bfoot", "bshin"), ("bshin", "bthigh"), ("bthigh", "fthigh"), ("fthigh", "fshin"), ("fshin", "ffoot")]


def _half_cheetah() -> Robot:
    return Robot([Joint(name, k - 6, k) for k, name in enumerate(_LEGS)], _LEG_EDGES, _plane(),
                 {"2x3": [list(_LEGS[:3]), list(_LEGS[3:])], "6x1": _one_each(_LEGS)})


def _coupled_half_cheetah() -> Robot:
    tendon = {"ten_J": [Entry("ten_J", k) for k in (0, 1, 9, 10)], "ten_length": [Entry("ten_length", 0)],
              "ten_velocity": [Entry("ten_velocity", 0)]}
    # the reference counts the joints of both from the end: those of the second
    joints = [Joint(f"{name}{which}", k - 6, 6 * which + k, special=tendon if k == 0 else {})
              for which in range(2) for k, name in enumerate(_LEGS)]
    edges = [(f"{a}{which}", f"{b}{which}") for which in range(2) for a, b in _LEG_EDGES]
    known = ("qpos", "qvel", "ten_J", "ten_length", "ten_velocity")
    return Robot(joints, edges, [*_plane(0, "xyz"), *_plane(9, "xyz")],
                 {"1p1": [[f"{name}{which}" for name in _LEGS] for which in range(2)]}, known, known)


def _ant() -> Robot:
    joints = []
    for leg, motor in enumerate((2, 4, 6, 0)):
        first = 2 + 3 * leg
        joints += [Joint(f"hip{leg + 1}", 2 * leg - 8, motor, (1, first), clips=True),
                   Joint(f"ankle{leg + 1}", 2 * leg - 7, motor + 1, (first, first + 1, first + 2), clips=True)]

    def legs(*numbers: int) -> list[str]:
        return [name for n in numbers for name in (f"hip{n}", f"ankle{n}")]

    seen = ("qpos", "qvel", "cfrc_ext")
    return Robot(joints, [*((f"ankle{n}", f"hip{n}") for n in range(1, 5)), [f"hip{n}" for n in range(1, 5)]], _FREE,
                 {"2x4": [legs(1, 2), legs(3, 4)], "2x4d": [legs(1, 4), legs(2, 3)],
                  "4x2": [legs(n) for n in range(1, 5)]}, seen, seen)


def _hopper() -> Robot:
    names = ("thigh_joint", "leg_joint", "foot_joint")
    joints = [Joint(name, k - 3, k, special={"qvel": [Entry("qvel", k + 3, "clip", 10.0)]})
              for k, name in enumerate(names)]
    return Robot(joints, _chain(names), _plane(limit=10.0), {"3x1": _one_each(names)})


def _humanoid() -> Robot:
    torso, waist, pelvis = 1, 2, 3
    hips = {"right": (4, 5, 6), "left": (7, 8, 9)}  # thigh, shin, foot
    arms = {"right": (10, 11), "left": (12, 13)}    # upper, lower
    bodies: dict[str, tuple[int, ...]] = {
        "abdomen_y": (torso, waist, pelvis), "abdomen_z": (torso, waist, pelvis),
        "abdomen_x": (pelvis, hips["right"][0], hips["left"][0])}
    for side, (thigh, shin, foot) in hips.items():
        bodies |= {f"{side}_hip_{axis}": (thigh, shin) for axis in "xzy"}
        bodies[f"{side}_knee"] = shin, foot
    for side, (upper, lower) in arms.items():
        bodies |= {f"{side}_shoulder{k}": (torso, upper, lower) for k in (1, 2)}
        bodies[f"{side}_elbow"] = lower,
    abdomen = [f"abdomen_{axis}" for axis in "xyz"]
    edges, above, below = [abdomen], [*abdomen], []
    for side in ("right", "left"):
        hip, shoulders = [f"{side}_hip_{axis}" for axis in "xyz"], [f"{side}_shoulder{k}" for k in (1, 2)]
        edges += [hip, [f"{side}_elbow", *shoulders], [f"{side}_knee", *hip], [*shoulders, *abdomen], [*abdomen, *hip]]
        above += [*shoulders, f"{side}_elbow"]
        below += [*hip, f"{side}_knee"]
    seen = ("qpos", "qvel", "cinert", "cvel", "qfrc_actuator", "cfrc_ext")
    return Robot([Joint(name, k - 17, k, each) for k, (name, each) in enumerate(bodies.items())], edges, _FREE,
                 {"9|8": [above, below]}, seen, seen)


def _reacher() -> Robot:
    def turned(k: int) -> dict[str, list[Entry]]:
        return {"qpos": [Entry("qpos", k, "sin"), Entry("qpos", k, "cos")]}

    way = {"fingertip_dist": [Entry("xpos", axis, body="fingertip", less="target") for axis in range(3)]}
    return Robot([Joint("joint0", -4, 0, (1, 2), turned(0)), Joint("joint1", -3, 1, (2, 3), {**turned(1), **way})],
                 [("joint0", "joint1")], [Joint("target_x", -2, special={"qvel": []}),
                                          Joint("target_y", -1, special={"qvel": []})],
                 {"2x1": [["joint0"], ["joint1"]]}, ("qpos", "qvel", "fingertip_dist"),
                 ("qpos", "qvel", "cinert", "cvel", "qfrc_actuator", "cfrc_ext", "fingertip_dist"))


def _pusher() -> Robot:
    names = ("shoulder_pan", "shoulder_lift", "upper_arm_roll", "elbow_flex", "forearm_roll", "wrist_flex",
             "wrist_roll")
    # the reference gives three of them one label, and then their order depends on addresses: here it is the arm's
    joints = [Joint(name, k, k, label=f"r_{'wrist_roll' if k < 2 else name}_joint") for k, name in enumerate(names)]
    everywhere = [Joint(body, special={"qpos": [Entry("xpos", axis, body=body) for axis in range(3)], "qvel": []})
                  for body in ("tips_arm", "object", "goal")]
    return Robot(joints, _chain(names), everywhere, {"3p": [list(names[:3]), [names[3]], list(names[4:])]},
                 known=("qpos", "qvel", "qfrc_actuator"))


def _swimmer() -> Robot:
    return Robot([Joint("rot2", -2, 0, special={"qvel": [Entry("qvel", 0), Entry("qvel", 3)]}),
                  Joint("rot3", -1, 1, special={"qvel": [Entry("qvel", 1), Entry("qvel", 4)]})],
                 [("rot2", "rot3")], [Joint("front", 2)], {"2x1": [["rot2"], ["rot3"]]})


def _walker() -> Robot:
    legs = [["foot_joint", "leg_joint", "thigh_joint"], ["foot_left_joint", "leg_left_joint", "thigh_left_joint"]]
    names = [*legs[0][::-1], *legs[1][::-1]]
    return Robot([Joint(name, k - 6, k) for k, name in enumerate(names)],
                 [*_chain(legs[0]), *_chain(legs[1]), (legs[0][2], legs[1][2])], _plane(), {"2x3": legs})


def _segments_of(conf: str) -> tuple[int, int]:
    """Returns the number of agents, and of segments per agent, from text such as "2x3"."""
    agents, each = conf.split("x")
    return int(agents), int(each)


def _cut(conf: str, names: Sequence[str]) -> dict[str, list[list[str]]]:
    size = len(names) // _segments_of(conf)[0]
    return {conf: [list(names[k:k + size]) for k in range(0, len(names), size)]}


def _many_segment_swimmer(conf: str) -> Robot:
    agents, each = _segments_of(conf)
    names = [f"rot{k}" for k in range(agents * each)]
    return Robot([Joint(name, k - len(names), k) for k, name in enumerate(names)], _chain(names), [],
                 _cut(conf, names))


def _many_segment_ant(conf: str) -> Robot:
    agents, each = _segments_of(conf)
    count = agents * each
    joints: list[Joint] = []
    copies: list[Joint] = []
    edges: list[Sequence[str]] = []
    for s in range(count):
        # the reference counts from the wrong end
        first, torso = 4 * (count - 1 - s) - 4, 1 + 7 * s
        joints += [Joint(f"hip1_{s}", first, 4 * s + 2, (torso, torso + 1), clips=True),
                   Joint(f"ankle1_{s}", first + 1, 4 * s + 3, (torso + 1, torso + 2, torso + 3), clips=True),
                   Joint(f"hip2_{s}", first + 2, 4 * s, (torso, torso + 4), clips=True),
                   Joint(f"ankle2_{s}", first + 3, 4 * s + 1, (torso + 4, torso + 5, torso + 6), clips=True)]
        edges += [(f"ankle1_{s}", f"hip1_{s}"), (f"ankle2_{s}", f"hip2_{s}"), (f"hip1_{s}", f"hip2_{s}")]
        if s:
            # its neighbours are copies of the hips in front of it, not these
            new = [each._replace(name=f"copy of {each.name}", label=each.name) for each in joints[-8:-4:2]]
            copies += new
            edges.append([*(each.name for each in new), f"hip1_{s}", f"hip2_{s}"])
    seen = ("qpos", "qvel", "cfrc_ext")
    return Robot([*joints, *copies], edges, _FREE, _cut(conf, [joint.name for joint in joints]), seen, seen)


ROBOTS: dict[str, Robot] = {
    "Ant": _ant(), "HalfCheetah": _half_cheetah(), "Hopper": _hopper(), "Humanoid": _humanoid(),
    "HumanoidStandup": _humanoid(), "Walker2d": _walker(), "Reacher": _reacher(), "Swimmer": _swimmer(),
    "Pusher": _pusher(), "CoupledHalfCheetah": _coupled_half_cheetah()}
SEGMENTED: dict[str, Callable[[str], Robot]] = {
    "ManySegmentAnt": _many_segment_ant, "ManySegmentSwimmer": _many_segment_swimmer}


def robot_of(scenario: str, conf: str) -> Robot:
    """Returns a robot that has a configuration."""
    return SEGMENTED[scenario](conf) if scenario in SEGMENTED else ROBOTS[scenario]


class Agent(NamedTuple):
    """An agent: its observation and its motors."""

    entries: list[Entry]
    motors: list[int]


def agents_of(robot: Robot, conf: str, obsk: int, local: Sequence[Sequence[str]], everywhere: Sequence[str],
              model: Any) -> list[Agent]:
    """Returns the agents of a robot.

    Args:
        robot: The robot.
        conf: Its configuration.
        obsk: How many joints away an agent can see.
        local: Categories at each distance.
        everywhere: Categories of the parts that all agents see.
        model: MuJoCo's model.

    Raises:
        ValueError: The model belongs to another robot.
    """
    sizes = {"qpos": model.nq, "qvel": model.nv, "qfrc_actuator": model.nv}
    joints = {joint.name: joint for joint in robot.joints}
    edges = [set(edge) for edge in robot.edges]
    agents = []
    for part in robot.parts[conf]:
        level, known = set(part), set(part)
        seen: set[tuple[str, int]] = set()
        entries: list[Entry] = []
        for depth in range(obsk + 1):
            if depth:
                level = {name for edge in edges if edge & level for name in edge} - known
                known |= level
            # a sort keeps the order of those with one label
            for joint in sorted((joints[name] for name in joints if name in level), key=lambda x: x.label or x.name):
                for category in local[depth]:
                    entries += joint.entries(category, seen, sizes)
        seen = set()
        for category in everywhere:
            for thing in robot.everywhere:
                entries += thing.entries(category, seen, sizes)
        agents.append(Agent(entries, [joints[name].motor for name in part]))
    _check_model(agents, model, sizes)
    return agents


def _check_model(agents: Iterable[Agent], model: Any, sizes: Mapping[str, int]) -> None:
    limits = {**sizes, **{field: model.nbody * size for field, size in BODY_SIZES.items()}, "xpos": 3,
              "ten_J": model.nv, "ten_length": model.ntendon, "ten_velocity": model.ntendon}
    motors = sorted(motor for agent in agents for motor in agent.motors)
    if motors != list(range(model.nu)):
        raise ValueError(f"xml_file: expected a robot with {len(motors)} motors, got {model.nu} in {model.path}")
    for entry in (entry for agent in agents for entry in agent.entries):
        if not 0 <= entry.place < limits[entry.field]:
            raise ValueError(f"xml_file: expected a robot with {entry.field}[{entry.place}], got "
                             f"{limits[entry.field]} numbers in {model.path}")
        for body in filter(None, (entry.body, entry.less)):
            model.body(body)
