"""Ids and options of MaMuJoCo that tests and sweeps compare with gymnasium-robotics."""
CONFIGURATIONS = {
    "Ant": ("2x4", "2x4d", "4x2"), "HalfCheetah": ("2x3", "6x1"), "Hopper": ("3x1",), "Humanoid": ("9|8",),
    "HumanoidStandup": ("9|8",), "Walker2d": ("2x3",), "Reacher": ("2x1",), "Swimmer": ("2x1",), "Pusher": ("3p",),
    "CoupledHalfCheetah": ("1p1",), "ManySegmentSwimmer": ("2x1", "3x2", "10x2", "6x1"),
    "ManySegmentAnt": ("1x1", "2x1", "2x3", "3x1", "6x2")}
# categories that joints have, of robots that have more than positions and velocities
_BODIES = ["qpos", "qvel", "cinert", "cvel", "qfrc_actuator", "cfrc_ext"]
KNOWN = {
    "Ant": ["qpos", "qvel", "cfrc_ext"], "ManySegmentAnt": ["qpos", "qvel", "cfrc_ext"], "Humanoid": _BODIES,
    "HumanoidStandup": _BODIES, "Reacher": [*_BODIES, "fingertip_dist"],
    "Pusher": ["qpos", "qvel", "qfrc_actuator"],
    "CoupledHalfCheetah": ["qpos", "qvel", "ten_J", "ten_length", "ten_velocity"]}
ALONE = ("Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "Walker2d", "Reacher", "Swimmer", "Pusher",
         "InvertedPendulum", "InvertedDoublePendulum", "CoupledHalfCheetah")


def categories_of(robot, obsk):
    """Returns other categories than the usual ones: those at each depth, and those of the root."""
    known = KNOWN.get(robot, ["qpos", "qvel"])
    return {0: [([["qvel", "qpos"]], ["qvel"]), ([known[::-1]], ["qpos"])],
            1: [([["qpos"], ["qvel"]], []), ([known, known], ["qvel", "qpos"])],
            2: [([known[1:], known[-1:], known], ["qpos", "qvel"])]}.get(obsk, [])


def variants(depths=range(4)):
    for robot, configurations in CONFIGURATIONS.items():
        for conf in configurations:
            for obsk in depths:
                for local, everywhere in [(None, None), *categories_of(robot, obsk)]:
                    yield f"MaMuJoCo/{robot}-v1", {"agent_conf": conf, "agent_obsk": obsk, "local_categories": local,
                                                   "global_categories": everywhere}
    for robot in ALONE:
        yield f"MaMuJoCo/{robot}-v1", {"agent_conf": None}
