"""Tables of the numbers in an observation by index, for the pages of families.

A family's cases name the parts. Names of joints and bodies are read from the MuJoCo models of robots.
"""
from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

LONG = 30  # rows that are folded up
# a field of MuJoCo's data, or its sine or cosine
FIELD = re.compile(r"(?:(sin|cos)\()?(qpos|qvel|qfrc_\w+|cinert|cvel|cfrc_ext|xpos)\[(\d*):(\d*)\]\)?")
OF_BODY = {"cinert": (10, "inertia (9 numbers) and mass"), "cvel": (6, "angular velocity (3), velocity (3)"),
           "cfrc_ext": (6, "torque (3) and force (3) of contacts"), "xpos": (3, "x, y and z (m)")}


class Row(NamedTuple):
    """A row of a table.

    Attributes:
        meaning: What its numbers mean.
        source: The field of MuJoCo's data, or "".
        numbers: How many numbers it covers.
    """

    meaning: str
    source: str = ""
    numbers: int = 1


def rows_of(id: str, parts: Sequence[str | tuple[str, int]]) -> list[Row]:
    """Returns the numbers in an observation whose parts are fields of MuJoCo's data, names, or names with a count."""
    rows: list[Row] = []
    for part in parts:
        if isinstance(part, tuple):
            rows.append(Row(part[0], numbers=part[1]))
        elif field := FIELD.fullmatch(part):
            rows += rows_of_field(model_of(id), *field.groups(""))
        else:
            rows.append(Row(part))
    return rows


@functools.cache
def model_of(id: str) -> Any:
    """Returns the robot's model from Gymnasium."""
    import gymnasium

    env: Any = gymnasium.make(id).unwrapped
    return env.model


def rows_of_field(model: Any, function: str, field: str, first: str, last: str) -> list[Row]:
    """Returns a row for each number of a joint, or one row for the numbers of a body."""
    if field in OF_BODY:
        count, meaning = OF_BODY[field]
        rows = [Row(f"{body_of(model, k)}: {meaning}", f"{field}[{k}]", count) for k in range(model.nbody)]
    else:
        names = positions_of(model) if field == "qpos" else velocities_of(model, field)
        rows = [Row(each, f"{field}[{k}]") for k, each in enumerate(names)]
    rows = rows[int(first or 0):int(last) if last else None]
    if function:
        name = {"sin": "sine", "cos": "cosine"}[function]
        rows = [Row(f"{name} of the {row.meaning.removesuffix(' (rad)')}", f"{function}({row.source})") for row in rows]
    return rows


def body_of(model: Any, number: int) -> str:
    """Returns the name of a body, or a description by its parent."""
    body = model.body(number)
    return f"`{body.name}`" if body.name else f"body below {body_of(model, body.parentid[0])}"


def joints_of(model: Any) -> list[tuple[str, str]]:
    """Returns "free", "slide" or "hinge" for each joint, and a name: its body's if the joint is free."""
    kinds = {0: "free", 2: "slide", 3: "hinge"}
    joints = [model.joint(k) for k in range(model.njnt)]
    return [(kinds[int(joint.type[0])], body_of(model, joint.bodyid[0]) if joint.type[0] == 0 else f"`{joint.name}`")
            for joint in joints]


def positions_of(model: Any) -> list[str]:
    """Returns the meanings of `qpos`."""
    names = []
    for kind, name in joints_of(model):
        if kind == "free":
            names += [f"{axis} of {name} (m)" for axis in "xyz"]
            names += [f"orientation of {name}: {part} of the quaternion" for part in "wxyz"]
        else:
            names.append(f"angle of {name} (rad)" if kind == "hinge" else f"position of {name} (m)")
    return names


def velocities_of(model: Any, field: str) -> list[str]:
    """Returns the meanings of `qvel` or of forces, which have the same order."""
    force = {"qfrc_actuator": "force of the actuators", "qfrc_constraint": "force of the constraints"}.get(field)
    names = []
    for kind, name in joints_of(model):
        if kind == "free":
            names += [f"{force or 'velocity'} of {name} along {axis}" + (" (m/s)" if not force else "")
                      for axis in "xyz"]
            names += [f"{force or 'angular velocity'} of {name} about {axis}" + (" (rad/s)" if not force else "")
                      for axis in "xyz"]
        elif force:
            names.append(f"{force} on {name}")
        else:
            names.append(f"angular velocity of {name} (rad/s)" if kind == "hinge" else f"velocity of {name} (m/s)")
    return names


def motors_of(model: Any) -> list[tuple[str, str]]:
    """Returns the joint that each number of an action moves, and the range."""
    return [(f"`{model.joint(model.actuator_trnid[k, 0]).name}`",
             "{:g} to {:g}".format(*model.actuator_ctrlrange[k])) for k in range(model.nu)]


def text(id: str, parts: Sequence[str | tuple[str, int]]) -> str:
    """Returns the table of an observation and, for a robot, of an action."""
    rows = rows_of(id, parts)
    has_source = any(row.source for row in rows)
    lines = ["| index | observation |" + " field |" * has_source, "| --: | --- |" + " --- |" * has_source]
    at = 0
    for row in rows:
        index = str(at) if row.numbers == 1 else f"{at} to {at + row.numbers - 1}"
        source = f"`{row.source}`" if row.source else ""
        lines.append(f"| {index} | {row.meaning} |" + f" {source} |" * has_source)
        at += row.numbers
    if has_source:
        lines += ["", "| index | motor at joint | range |", "| --: | --- | --: |"]
        lines += [f"| {k} | {joint} | {limits} |" for k, (joint, limits) in enumerate(motors_of(model_of(id)))]
    table = "\n".join(lines)
    if len(rows) > LONG:
        return f"<details markdown><summary>Observation of {id} by index</summary>\n\n{table}\n\n</details>"
    return f"Observation of `{id}` by index:\n\n{table}"
