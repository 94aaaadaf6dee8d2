"""Models of robots that Gymnasium lacks, from files and templates of the installed gymnasium-robotics."""
from __future__ import annotations

from cypool.util.packages import file_of, require_version

VERSION = "1.4.2"
INSTALL = 'pip install "cypool[mamujoco]"'


def _read(name: str) -> str:
    """Returns a file of gymnasium-robotics without importing it."""
    require_version("MaMuJoCo needs", "gymnasium-robotics", (VERSION,), INSTALL, "gymnasium_robotics")
    path = file_of("MaMuJoCo", "gymnasium_robotics", f"envs/multiagent_mujoco/assets/{name}", INSTALL)
    with open(path, encoding="utf-8") as file:
        return file.read()


def _swimmer(count: int) -> tuple[str, str]:
    bodies = ""
    for s in range(1, count):
        name, axis = (f"mid{s}", (-1) ** (s + 1)) if s < count - 1 else ("back", 1)
        bodies += (f'<body name="{name}" pos="-1 0 0">'
                   '<geom type="capsule" size="0.1" fromto="0 0 0 -1 0 0" density="1000"/>'
                   f'<joint name="rot{s}" type="hinge" axis="0 0 {axis}" limited="true" range="-100 100" pos="0 0 0"/>')
    return bodies, "".join(f'<motor joint="rot{s}" gear="150.0" ctrllimited="true" ctrlrange="-1 1"/>'
                           for s in range(count))


# of each leg: where its end is, names of geometries and bodies, and the axis of the ankle
_LEGS = ((1, 0.2, ("right_leg", "right_ankle"), ("front_right_leg", "aux_2"), "1 1 0"),
         (2, -0.2, ("back_leg", "third_ankle"), ("back_leg", "aux2"), "-1 1 0"))


def _ant(count: int) -> tuple[str, str]:
    bodies = ""
    for s in range(1, count):
        def capsule(name: str, x: float, y: float, s: int = s) -> str:
            return f'<geom name="{name}_geom_{s}" type="capsule" size="0.08" fromto="0 0 0 {x} {y} 0"/>'

        bodies += (f'<body name="torso_{s}" pos="-1 0 0">'
                   '<geom type="capsule" size="0.1" fromto="1 0 0 0 0 0" density="100"/>')
        for leg, y, (inner, outer), names, axis in _LEGS:
            bodies += (
                f'<body name="{names[0]}_{s}" pos="0 0 0">{capsule(f"aux{leg}", 0, y)}'
                f'<body name="{names[1]}_{s}" pos="0 {y} 0">'
                f'<joint name="hip{leg}_{s}" type="hinge" axis="0 0 1" range="-30 30" pos="0 0 0"/>'
                f'{capsule(inner, -0.2, y)}<body pos="-0.2 {y} 0">'
                f'<joint name="ankle{leg}_{s}" type="hinge" axis="{axis}" range="-70 -30" pos="0 0 0"/>'
                f'{capsule(outer, -0.4, 2 * y)}</body></body></body>')
    return bodies, "".join(f'<motor joint="{joint}_{s}" gear="150" ctrllimited="true" ctrlrange="-1.0 1.0"/>'
                           for s in range(count) for joint in ("hip1", "ankle1", "hip2", "ankle2"))


def text_of(scenario: str, count: int) -> bytes:
    """Returns the XML of a robot that Gymnasium lacks, and its number of segments, if it has any."""
    if scenario == "CoupledHalfCheetah":
        return _read("coupled_half_cheetah.xml").encode()
    animal = scenario.removeprefix("ManySegment").lower()
    bodies, motors = (_swimmer if animal == "swimmer" else _ant)(count)
    template = _read(f"many_segment_{animal}.xml.template")
    return template.replace("{{ body }}", bodies + "</body>" * (count - 1)).replace("{{ actuators }}", motors).encode()
