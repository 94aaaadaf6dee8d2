"""The ids of MaMuJoCo: one for each robot, and those that name a configuration."""
from __future__ import annotations

from cypool.envs.family import Family
from cypool.registration.registry import register, register_pattern

FAMILY = Family(
    name="mamujoco",
    title="MaMuJoCo",
    description="MuJoCo's robots, split into agents",
    licence="MuJoCo: Apache 2.0",
    package="gymnasium_robotics",
    extra="mamujoco",
    reference="gymnasium-robotics 1.4.2",
    fidelity="everything",
    smoke_ids=("MaMuJoCo/HalfCheetah-v1",))

# robots, with configurations for examples
_ROBOTS = {
    "Ant": ("2x4", "2x4d", "4x2"), "HalfCheetah": ("2x3", "6x1"), "Hopper": ("3x1",), "Humanoid": ("9-8",),
    "HumanoidStandup": ("9-8",), "Walker2d": ("2x3",), "Reacher": ("2x1",), "Swimmer": ("2x1",), "Pusher": ("3p",),
    "InvertedPendulum": (), "InvertedDoublePendulum": (), "CoupledHalfCheetah": ("1p1",),
    "ManySegmentAnt": ("2x1", "2x3"), "ManySegmentSwimmer": ("10x2",)}
_REFERENCE = "cypool.envs.mamujoco.reference:make_reference"


def options_of(*, conf: str) -> dict[str, str]:
    """Returns the options that an id encodes."""
    return {"agent_conf": conf.replace("-", "|")}


for _robot, _confs in _ROBOTS.items():
    _class = f"cypool.envs.mamujoco.mamujoco:{_robot}"
    register(f"MaMuJoCo/{_robot}-v1", _class, reference=_REFERENCE)
    register_pattern(rf"MaMuJoCo/{_robot}-(?P<conf>\d{{1,3}}[xp-]\d{{0,3}}d?)-v1", options_of, entry_point=_class,
                     examples=[f"MaMuJoCo/{_robot}-{_conf}-v1" for _conf in _confs], reference=_REFERENCE)
